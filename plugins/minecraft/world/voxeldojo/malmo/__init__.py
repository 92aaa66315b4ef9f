"""A server that speaks the Malmo protocol. MineDojo's unmodified client can connect to the Malmo server.

The command ``python -m voxeldojo.malmo --port 9000`` starts the Malmo server.
"""
