"""The guest, which is the program inside the sandbox. CPython in WebAssembly runs :mod:`~rlgpt.sandbox.guest.app`.

The modules ``modules`` and ``vec`` are plain Python. The guest imports them as top-level modules, and the host imports
them for prompts and lint. The module ``app`` runs only in the guest.
"""
