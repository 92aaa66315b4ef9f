"""A server that speaks the protocol of Malmo. MineDojo's unmodified client can connect to this server.

The command ``python -m voxeldojo.malmo --port 9000`` starts the server.
"""
