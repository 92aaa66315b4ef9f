"""Folder with the plugin's experiments of the RL-GPT paper."""
