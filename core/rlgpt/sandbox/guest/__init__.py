"""The program inside the sandbox: CPython in WebAssembly runs :mod:`~rlgpt.sandbox.guest.app`.

``modules`` and ``vec`` are plain Python and are imported on both sides: by the guest as top-level modules, by the host
for prompts and lint. ``app`` runs in the guest alone.
"""
