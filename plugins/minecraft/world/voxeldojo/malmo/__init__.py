"""A server that speaks the Malmo protocol. MineDojo's unmodified client can connect to it.

``python -m voxeldojo.malmo --port 9000`` starts it.
"""
