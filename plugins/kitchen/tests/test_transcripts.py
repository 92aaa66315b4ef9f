"""The tasks of the demonstrations have recordings. The contract tests that these answer the current prompts."""

from __future__ import annotations

import pytest
from rlgpt_kitchen.plugin import KitchenPlugin


@pytest.mark.parametrize("name", ["microwave", "microwave_noisy", "kettle", "hinge_cabinet", "sequence_a"])
def test_a_task_of_the_demonstrations_has_three_recordings(name: str) -> None:
    plugin = KitchenPlugin()
    assert len(plugin.transcripts(plugin.tasks()[f"kitchen/{name}"])) >= 3
