"""The embedded world behind the Malmo protocol, for clients that know nothing of it: MineDojo's own, unmodified.

``python -m voxeldojo.malmo --port 9000`` serves it.
"""
