"""The live page of ``rlgpt view``. The live page lists runs, shows a run while the run is in progress, and compares
runs. The package ``rlgpt.view`` needs the extra ``rlgpt[view]``.
"""
