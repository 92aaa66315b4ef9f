"""The live page: lists runs, shows a run while it runs, and compares runs. It needs the extra ``rlgpt[view]``."""
