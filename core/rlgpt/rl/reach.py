"""Plays coded actions to find start states for training episodes, which are the states in which an action returned."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CodedAction
from rlgpt.options import OnStep
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.acting import code_spec
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import build
from rlgpt.rl.starts import MAX_STARTS_BYTES, Reached


def reach(
    spec: EnvSpec,
    actions: Sequence[CodedAction],
    *,
    seeds: Sequence[int],
    most_steps: int,
    on_step: OnStep | None = None,
) -> Reached:
    """In each episode, play every coded action once, in order and with default parameters, and save the state in which
    the last action returned.

    An episode gives no start state if it ends or succeeds before the last action returns, or if this action does not
    return.

    :param seeds: seeds of the episodes. Each episode gives at most one start state.
    :param most_steps: number of primitive steps of all episodes after which no further episode begins.
    :returns: the start states that were found. When the total size of the start states reaches
        :data:`~rlgpt.rl.starts.MAX_STARTS_BYTES`, no further episode begins.
    :raises StateError: the plugin cannot save the state of this task.
    """
    names = tuple(action.name for action in actions)
    env = build(code_spec(spec, actions), seed=0, evaluation=True, on_step=on_step)
    states: list[EpisodeState] = []
    steps = size = 0
    try:
        for seed in seeds:
            env.reset(seed=seed)
            success = False
            for name in names:
                _, _, terminated, truncated, info = env.step(env.form.coded(name))
                success = success or bool(info.get("success", False))
                if terminated or truncated or success:
                    break
            steps += int(info["primitive_steps"])
            if not (terminated or truncated or success) and info["ended"] == "returned":
                states.append(env.extended.save_episode())
                size += len(states[-1].data) + len(states[-1].seen)
            if steps >= most_steps or size >= MAX_STARTS_BYTES:
                break
    finally:
        env.close()
    return Reached(steps=steps, states=tuple(states))
