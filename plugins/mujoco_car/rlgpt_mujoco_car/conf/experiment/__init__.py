"""Folder with the plugin's Hydra experiments."""
