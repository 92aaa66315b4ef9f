"""Plays episodes once and stores their views. Coded functions are then called on every stored view, so that their
rehearsal needs no further primitive steps.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium

from rlgpt.domain import Plain, Task
from rlgpt.loop.code import Code
from rlgpt.options import ExtendedEnv, OnStep
from rlgpt.options.functions import Taken
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox import Library, Sandbox


@dataclass(frozen=True)
class Episode:
    """One episode whose views are stored.

    :ivar views: the plugin's view at the reset and after each primitive step.
    :ivar success: whether ``info["success"]`` was true after the reset or any primitive step of the episode.
    :ivar by_code: whether the plan's code played the episode. If ``by_code`` is False, the choices in the episode were
        drawn at random.
    """

    seed: int
    views: tuple[Mapping[str, Plain], ...]
    success: bool
    by_code: bool


class Played(NamedTuple):
    """The stored episodes of a rehearsal.

    :ivar steps: number of primitive steps of all stored episodes together.
    :ivar taken: the names that a coded function may not have, because something else has them.
    """

    episodes: tuple[Episode, ...]
    steps: int
    taken: Taken

    def __str__(self) -> str:
        by_code = sum(e.by_code for e in self.episodes)
        parts = [
            f"{count} episode{'s' if count > 1 else ''} {how}"
            for count, how in ((by_code, "of code"), (len(self.episodes) - by_code, "of random choices"))
            if count
        ]
        return f"{' and '.join(parts)}, {self.steps:,} steps, {sum(e.success for e in self.episodes)} successful"


def play(
    plugin: EnvironmentPlugin,
    task: Task,
    code: Code,
    *,
    seeds: Sequence[int],
    limit: int,
    sandbox: Sandbox,
    library: Library,
    on_step: OnStep | None = None,
) -> Played:
    """Play an episode for each seed. Code plays all episodes except the last episode, which random choices play. If
    there is no code, random choices play all episodes.

    :param limit: maximal number of primitive steps of an episode.
    :param library: the plugin's library for this task.
    :param on_step: a function that is called at every primitive step.
    """
    views: list[Mapping[str, Plain]] = []

    def look(inner: gymnasium.Env[Any, Any], step: int) -> None:
        if on_step is not None:
            on_step(inner, step)
        if step < 0:
            return
        views.append(copy.deepcopy(plugin.view(env.context)))

    env = ExtendedEnv(
        plugin.make_env(task, seed=seeds[0]),
        code.actions,
        plugin=plugin,
        task=task,
        gamma=1.0,
        base_actions=None,
        reward_weights=None,
        sandbox=sandbox,
        quarantined=(),
        horizon=limit,
        trace=False,
        library=library,
        on_step=look,
        functions=code.functions,
    )
    episodes: list[Episode] = []
    try:
        for number, seed in enumerate(seeds):
            views.clear()
            by_code = bool(code.actions) and (number + 1 < len(seeds) or len(seeds) == 1)
            success = _play(env, [a.name for a in code.actions] if by_code else [], seed)
            episodes.append(Episode(seed, tuple(views), success, by_code))
        taken = Taken.of(plugin, task, env.env.observation_space, [a.name for a in code.actions])
    finally:
        env.close()
    return Played(tuple(episodes), sum(len(e.views) - 1 for e in episodes), taken)


def _play(env: ExtendedEnv, names: Sequence[str], seed: int) -> bool:
    """Play one episode with the coded actions ``names`` in order, or with random choices if ``names`` is empty.

    :returns: whether the episode succeeded.
    """
    _, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    success, over, turn = bool(info.get("success", False)), False, 0
    while not over:
        action = env.extension.write(names[turn % len(names)]) if names else env.action_space.sample()
        _, _, terminated, truncated, info = env.step(action)
        success, over, turn = success or bool(info.get("success", False)), terminated or truncated, turn + 1
    return success
