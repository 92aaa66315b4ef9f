"""A server with the Malmo protocol. The unmodified client of MineDojo can use it.

``python -m voxeldojo.malmo --port 9000`` starts it.
"""
