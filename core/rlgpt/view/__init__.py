"""The live page of ``rlgpt view``. The page lists runs, shows a run while the run is in progress, and compares runs.
The package needs the extra ``rlgpt[view]``.
"""
