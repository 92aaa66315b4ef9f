"""RL-GPT plugin for FrankaKitchen-v1."""
