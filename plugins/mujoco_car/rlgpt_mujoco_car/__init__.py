"""RL-GPT plugin for a 1:10 car on winding roads, in plain MuJoCo."""
