"""What a language model reads about an environment without a plugin if the user gives no docs."""

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.plugin.docstrings import LIMIT, described, readable


class Walled(gymnasium.Env[object, object]):
    """A maze.

    ## Action Space
    Force along x and y.
    """

    observation_space, action_space = spaces.Box(0, 1, (2,)), spaces.Discrete(2)

    def __init__(self, walls: list[list[int]], password: str) -> None:
        self.config = {"duration": np.float64(40.0), "api_key": password}


def test_description_of_an_environment_names_its_class_and_settings_without_secrets() -> None:
    gymnasium.register("Walled-v0", entry_point=Walled, kwargs={"walls": [[1, 0], [0, 1]], "password": "hush"})
    try:
        told = described(gymnasium.make("Walled-v0", disable_env_checker=True))
    finally:
        del gymnasium.registry["Walled-v0"]
    assert told.startswith("A maze.\n\n## Action Space\nForce along x and y.")
    assert f"Class: {__name__}.Walled" in told
    assert 'Settings: {"walls": [[1, 0], [0, 1]], "duration": 40.0}' in told
    assert "hush" not in told


def test_shortened_description_keeps_every_section_and_cuts_the_longest_ones() -> None:
    table = "\n".join(f"| {i} | number {i} of a long table |" for i in range(900))
    doc = f"A maze.\n\n## Mazes\n{table}\n\n## Action Space\nForce along x.\n\n## Rewards\n1 at the goal."
    text = readable(doc)
    assert LIMIT * 0.9 < len(text) <= LIMIT
    assert text.startswith("A maze.")
    assert text.endswith("## Action Space\nForce along x.\n\n## Rewards\n1 at the goal.")
    assert "|0|number 0 of a long table|" in text
    assert "characters of this section are left out]" in text
    assert len(readable("x" * 3 * LIMIT)) <= LIMIT


def test_description_leaves_out_code_that_makes_the_environment() -> None:
    doc = "A maze:\n```python\nMAP = [1, 0]\n```\nMake it:\n\n```python\nenv = gym.make('Maze-v0')\n```\nThe end."
    assert readable(doc) == "A maze:\n```python\nMAP = [1, 0]\n```\nMake it:\n\nThe end."
