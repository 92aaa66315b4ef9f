"""Folder with the plugin's Hydra configuration."""
