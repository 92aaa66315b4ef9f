"""The brief: what agents know about a task, rendered from the plugin once for a whole run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgpt.agents.base import Brief
from rlgpt.agents.text import bullets, fields, number, shorten
from rlgpt.domain import Plain, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.library import library_of
from rlgpt.plugin.parts import shown
from rlgpt.plugin.types import Context, RewardTerm, ViewKey
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.stub import render

if TYPE_CHECKING:
    import gymnasium

KNOWLEDGE_LIMIT = 6_000
START_LIMIT = 5_000


def make_brief(
    plugin: EnvironmentPlugin,
    task: Task,
    start_view: Mapping[str, Plain] | None = None,
    limits: SandboxLimits = DEFAULT,
    library: Library | None = None,
) -> Brief:
    """The brief of ``task``. Makes one environment, for its spaces, and closes it.

    :param start_view: the view that an episode starts with. None: the one of seed 0 (a reset without a step).
    :param limits: of the run's sandbox; the stub states them.
    :param library: of the task, where it has been made already.
    """
    env = plugin.make_env(task, seed=0)
    try:
        view = dict(start_view) if start_view is not None else _first_view(plugin, task, env)
        observations = tuple(_observations(env.observation_space, plugin.view_keys(task)))
        base_space = _space(env.action_space)
    finally:
        env.close()
    library = library or library_of(plugin, task)
    return Brief(
        task=task,
        stub=render(library, limits),
        knowledge=shorten(plugin.knowledge(task).strip(), KNOWLEDGE_LIMIT),
        primitives=tuple(s.name for s in library.primitives),
        base_space=base_space,
        base_actions=plugin.labels(task).actions,
        observations=observations,
        reward_terms=tuple((t.name, _term(t)) for t in plugin.reward_terms(task)),
        reset_options=tuple((o.name, o.doc) for o in plugin.reset_options(task)),
        default_setup=plugin.default_setup(task),
        restores=plugin.states(task) is not None,
        trainer_bounds=dict(plugin.trainer_bounds(task)),
        start=shorten(f"{plugin.summarize(view)}\nview: {fields(view, 400)}", START_LIMIT),
    )


def brief_slots(brief: Brief) -> dict[str, str]:
    """The fixed slots of a prompt that a brief fills: name -> text."""
    return {
        "task": brief.task.id,
        "goal": brief.task.goal,
        "success": brief.task.success or _score(brief.task),
        "horizon": str(brief.task.horizon),
        "stub": brief.stub.strip(),
        "knowledge": brief.knowledge or "Nothing beyond what the library says.",
        "base_space": brief.base_space,
        "base_actions": "\n".join(f"- {label}" for label in brief.base_actions),
        "observations": bullets(brief.observations),
        "reward_terms": bullets(brief.reward_terms),
        "reset_options": bullets(brief.reset_options, "(none but the task's own: `reset_option` must be null)"),
        "default_setup": brief.default_setup.model_dump_json(),
    }


def _score(task: Task) -> str:
    """The score of a task without a success, in words."""
    assert task.score is not None
    measured = next((m for m in task.metrics if m.name == task.score.metric), None)
    name = "the total reward of the episode" if measured is None else measured.doc or measured.name
    unit = task.score.unit if measured is None else measured.unit
    better = "more" if task.score.maximize else "less"
    return f"there is no success, a score counts: {name}{f', in {unit}' if unit else ''}; {better} is better"


def _first_view(plugin: EnvironmentPlugin, task: Task, env: gymnasium.Env[Any, Any]) -> dict[str, Plain]:
    observation, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    return plugin.view(Context(task, observation, {**info, "env_reward": 0.0}, 0, rng, plugin.model(env)))


def _observations(space: gymnasium.Space[Any], keys: Sequence[ViewKey]) -> Iterator[tuple[str, str]]:
    """Name and meaning of what a policy may observe: parts of its observation, and view keys with numbers."""
    observable = {k.name: k for k in keys if k.size > 0}
    for name, part in shown(space, keys).items():
        if name not in observable and part.space.is_np_flattenable:
            yield name, f"the environment's own observation: {_shape(part.space)}"
    for name, key in observable.items():
        numbers = f"{key.size} number{'s' if key.size > 1 else ''}"
        unit = f", {key.unit}" if key.unit else ""
        hidden = "; privileged: known in simulation only" if key.source == "privileged" else ""
        yield name, f"{key.doc} ({numbers}{unit}{hidden})"


def _shape(space: gymnasium.Space[Any]) -> str:
    shape = "x".join(map(str, space.shape)) if space.shape else "1"
    return f"{type(space).__name__} of shape {shape}"


def _space(space: gymnasium.Space[Any]) -> str:
    """The action space in words."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return f"Discrete({space.n}): one of {space.n} choices"
    if isinstance(space, spaces.Box):
        low, high = (number(float(v)) for v in (space.low.min(), space.high.max()))
        return f"Box({int(np.prod(space.shape))}): that many continuous numbers at once, each within {low} to {high}"
    if isinstance(space, spaces.MultiDiscrete):
        return f"MultiDiscrete({space.nvec.tolist()}): one choice of each head at once"
    if isinstance(space, spaces.Tuple):
        return f"Tuple({len(space.spaces)}): one value of each head at once"
    return type(space).__name__


def _term(term: RewardTerm) -> str:
    bounded = math.isfinite(term.low) and math.isfinite(term.high)
    return f"{term.doc} ({term.kind}, {f'{number(term.low)} to {number(term.high)}' if bounded else 'unbounded'})"
