"""The tasks of the suite ``falls_short``: those on which code alone succeeds in a part of the episodes.

The list was fixed by the success of recorded code (falls_short_calibration.py), before any method was tuned on it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "design"
sys.path.insert(0, str(EXAMPLES))


@dataclass(frozen=True)
class Case:
    """One task of the suite.

    :ivar task: the id of a plugin's task; ``design/NAME`` is an environment without a plugin.
    :ivar settings: of the task that differ.
    :ivar recorded: the task whose recorded code is played in the calibration; empty: the task's own.
    :ivar adds: what learning could add to code.
    """

    task: str
    adds: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    recorded: str = ""

    def find(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        """Plugin, task with its settings, how a spec finds the plugin, and the transcripts that are replayed."""
        if self.task == "design/lunar_lander":
            return _windy_lander()
        from rlgpt.config.settings import with_settings
        from rlgpt.plugin.manager import PluginManager

        plugin, task = PluginManager().task(self.task)
        task = with_settings(task, self.settings)
        return plugin, task, plugin.name, tuple(plugin.transcripts(task))

    def transcripts(self) -> tuple[Path, ...]:
        """The recordings whose code is played in the calibration."""
        if not self.recorded:
            return self.find()[3]
        from rlgpt.plugin.manager import PluginManager

        plugin, task = PluginManager().task(self.recorded)
        return tuple(plugin.transcripts(task))


def windy_lander(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Gymnasium's lander with its wind and turbulence : 10 and 1 of at most 20 and 2."""
    return gymnasium.make(
        "LunarLander-v3", enable_wind=True, wind_power=10.0, turbulence_power=1.0, render_mode=render_mode
    )


@functools.cache
def _windy_lander() -> tuple[Any, Any, Any, tuple[Path, ...]]:
    from rlgpt.config.prepare import ConstantPluginFactory, prepare
    from worlds import WORLDS

    world = WORLDS["lunar_lander"]
    described = {**world.described, "make_env": windy_lander}
    described["docs"] += (
        "\nWind pushes the lander to the left or right, and turbulence turns it; both change slowly within an episode "
        "and differ from episode to episode. They end when a leg touches the ground.\n"
    )
    plugin, task = prepare(**described)
    recorded = [EXAMPLES / "transcripts" / name for name in ("lunar_lander_windy", "lunar_lander")]
    folder = next(folder for folder in recorded if folder.is_dir())
    return plugin, task, ConstantPluginFactory(plugin), tuple(sorted(folder.glob("*.jsonl")))
