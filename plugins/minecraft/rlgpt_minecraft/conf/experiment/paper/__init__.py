"""Configuration groups that the plugin ships."""
