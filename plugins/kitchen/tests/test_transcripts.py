"""The tasks of the demonstrations have recordings. The contract tests check that the recordings match the current
prompts.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from rlgpt.config.settings import with_settings
from rlgpt_kitchen.plugin import KitchenPlugin

NOISE = {"robot_noise_ratio": 0.45, "object_noise_ratio": 0.3}


@pytest.mark.parametrize(("name", "settings", "count"), [("kettle", {}, 1), ("hinge_cabinet_noisy", NOISE, 1)])
def test_tasks_of_the_demonstrations_have_recordings(name: str, settings: Mapping[str, float], count: int) -> None:
    plugin = KitchenPlugin()
    task = with_settings(plugin.tasks()[f"kitchen/{name}"], settings)
    assert len(plugin.transcripts(task)) >= count
