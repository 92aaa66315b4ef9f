"""Makes the brief, which tells the agents about a task. A run makes its brief from the plugin, and later completes it
with the results of the iteration in progress."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgpt.agents.base import Brief
from rlgpt.agents.text import bullets, fields, number, shorten
from rlgpt.domain import Plain, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import SUCCESS, default_setup_of, reward_terms_of
from rlgpt.plugin.library import library_of
from rlgpt.plugin.parts import flattenable, shown
from rlgpt.plugin.types import Context, RewardTerm, ViewKey
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.stub import render

if TYPE_CHECKING:
    import gymnasium

KNOWLEDGE_LIMIT = 10_000
START_LIMIT = 5_000


def make_brief(
    plugin: EnvironmentPlugin,
    task: Task,
    start_view: Mapping[str, Plain] | None = None,
    limits: SandboxLimits = DEFAULT,
    library: Library | None = None,
) -> Brief:
    """Make the brief of ``task``. The function makes one environment of the task, reads its spaces and closes the
    environment.

    :param start_view: the view at the start of an episode. If ``start_view`` is None, the brief shows the view after a
        reset with seed 0.
    :param limits: limits of the run's sandbox, which the brief states.
    :param library: the library of the task (the primitives and the view that code may use). If ``library`` is None, the
        function makes the task's library of primitives and view.
    """
    env = plugin.make_env(task, seed=0)
    try:
        view = dict(start_view) if start_view is not None else _first_view(plugin, task, env)
        observations = tuple(_observations(env.observation_space, plugin.view_keys(task), default=_is_default(plugin)))
        base_space = _space(env.action_space)
    finally:
        env.close()
    library = library or library_of(plugin, task)
    return Brief(
        task=task,
        stub=render(library, limits),
        knowledge=shorten(plugin.knowledge(task).strip(), KNOWLEDGE_LIMIT, "what is known"),
        primitives=tuple(s.name for s in library.primitives),
        base_space=base_space,
        base_actions=plugin.labels(task).actions,
        observations=observations,
        reward_terms=tuple(
            (t.name, _term(t)) for t in reward_terms_of(plugin, task) if task.success or t is not SUCCESS
        ),
        reset_options=tuple((o.name, o.doc) for o in plugin.reset_options(task)),
        default_setup=default_setup_of(plugin, task),
        restores=plugin.states(task) is not None,
        trainer_bounds=dict(plugin.trainer_bounds(task)),
        option_steps=plugin.limits(task).option_steps,
        start=_start(plugin, view),
    )


def brief_slots(brief: Brief) -> dict[str, str]:
    """The texts of ``brief`` for the fixed slots of a prompt, as a dict from slot name to text."""
    own = [(name, meaning) for name, meaning in brief.observations if meaning]
    of_view = "each key of the view that has numbers"
    return {
        "task": brief.task.id,
        "goal": brief.task.goal,
        "measures": "\n".join(_measures(brief.task)),
        "horizon": str(brief.task.horizon),
        "stub": brief.stub.strip(),
        "knowledge": brief.knowledge or "Nothing beyond what the library says.",
        "base_space": brief.base_space,
        "base_actions": ", ".join(f"`{label}`" for label in brief.base_actions),
        "observations": f"{of_view}, and\n{bullets(tuple(own))}" if own else f"{of_view}.",
        "reward_terms": bullets(brief.reward_terms),
        "reset_options": bullets(brief.reset_options, "(none but the task's own)"),
        "default_setup": brief.default_setup.model_dump_json(
            exclude={"reason", "coded_actions"}, exclude_defaults=True
        ),
        "start_advice": _start_advice(brief),
        "trainer_advice": _trainer_advice(brief),
    }


def not_offered(brief: Brief) -> tuple[str, ...]:
    """The names of the fields of an RLSetup that are of no use in the task."""
    starts = () if brief.restores or brief.reset_options else ("reset_option", "reset_share")
    residual = () if brief.base_space.startswith("Box") else ("residual",)
    return (*starts, *residual, *(() if brief.trainer_bounds else ("trainer",)))


def _measures(task: Task) -> list[str]:
    """Lines of text about the success, the score and the metrics of ``task``."""
    lines = [f"- success: {task.success or 'not defined in this task; only the score counts'}"]
    described = {m.name: f"{m.doc or m.name}, the {_REDUCED[m.reduce]} of the episode" for m in task.metrics}
    if (score := task.score) is not None:
        unit = score.unit or next((m.unit for m in task.metrics if m.name == score.metric), "")
        meaning = described.get(score.metric, "the environment's own reward, summed over the episode")
        second = " (of two results with the same success the one with the better score is kept)" if task.success else ""
        better = "more" if score.maximize else "less"
        lines.append(f"- score: {meaning}{f', in {unit}' if unit else ''}; {better} is better{second}")
    lines += [
        f"- metric `{m.name}`: {described[m.name]}{f', in {m.unit}' if m.unit else ''}"
        for m in task.metrics
        if task.score is None or m.name != task.score.metric
    ]
    return lines


_REDUCED = {"last": "last value", "sum": "sum", "max": "largest value", "min": "smallest value", "mean": "mean"}


def _start_advice(brief: Brief) -> str:
    if not (brief.restores or brief.reset_options):
        return ""
    after = "`after:ACTION`, where the plan's coded actions up to ACTION led" if brief.restores else ""
    listed = "a start state listed above" if brief.reset_options else ""
    where = " or at ".join(filter(None, (listed, after)))
    return (
        f"- **reset_option** and **reset_share**: the share `reset_share` of the training episodes begins at {where}; "
        "the others, and all with `null`, at the task's own start. It helps where the hard part comes late and is "
        "seldom reached."
    )


def _trainer_advice(brief: Brief) -> str:
    if not brief.trainer_bounds:
        return ""
    ranges = ", ".join(f"{name} {number(low)} to {number(high)}" for name, (low, high) in brief.trainer_bounds.items())
    return f"- **trainer**: hyperparameters of PPO, each within its range; leave out what may stay: {ranges}."


def _start(plugin: EnvironmentPlugin, view: Mapping[str, Plain]) -> str:
    """The view as text. If the text of the view is too long, the text is shortened, and the plugin's summary of the
    view precedes it.
    """
    whole = fields(view, START_LIMIT)
    if len(whole) <= START_LIMIT:
        return whole
    return shorten(f"{plugin.summarize(view)}\nIn short: {fields(view, 200)}", START_LIMIT, "the view")


def _is_default(plugin: EnvironmentPlugin) -> bool:
    """Whether the plugin has the default view, whose keys are the parts of the observation."""
    return not plugin.overrides("view_keys")


def _first_view(plugin: EnvironmentPlugin, task: Task, env: gymnasium.Env[Any, Any]) -> dict[str, Plain]:
    observation, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    return plugin.view(Context(task, observation, {**info, "env_reward": 0.0}, 0, rng, plugin.model(env)))


def _observations(space: gymnasium.Space[Any], keys: Sequence[ViewKey], *, default: bool) -> Iterator[tuple[str, str]]:
    """Name and meaning of each observation key that a policy may observe. A policy may observe the parts of the
    observation, and the keys of the view that contain numbers.

    The meaning is empty if the stub already states it. The stub describes the keys of the view, and with them the parts
    of the observation that the view contains.
    """
    observable = {k.name: k for k in keys if k.size > 0}
    for name, part in shown(space, keys).items():
        if name not in observable and flattenable(part.space):
            known = default and not part.alone
            yield name, "" if known else f"the environment's own observation: {_shape(part.space)}"
    for name, key in observable.items():
        yield name, _alone(key) if key.alone else ""


def _alone(key: ViewKey) -> str:
    unit = f", {key.unit}" if key.unit else ""
    hidden = "; privileged: known in simulation only" if key.source == "privileged" else ""
    return f"{key.doc} ({key.size} number{'s' if key.size > 1 else ''}{unit}{hidden}; code does not see it)"


def _shape(space: gymnasium.Space[Any]) -> str:
    shape = "x".join(map(str, space.shape)) if space.shape else "1"
    return f"{type(space).__name__} of shape {shape}"


def _space(space: gymnasium.Space[Any]) -> str:
    """A description of the action space."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return f"Discrete({space.n}): one of {space.n} choices"
    if isinstance(space, spaces.Box):
        ends = zip(space.low.flat, space.high.flat, strict=True)
        bounds = [f"{number(float(low))} to {number(float(high))}" for low, high in ends]
        within = f"each within {bounds[0]}" if len({*bounds}) == 1 else f"within {', '.join(bounds)}"
        return f"Box({len(bounds)}): that many continuous numbers at once, {within}"
    if isinstance(space, spaces.MultiDiscrete):
        return f"MultiDiscrete({space.nvec.tolist()}): one choice of each head at once"
    if isinstance(space, spaces.Tuple):
        return f"Tuple({len(space.spaces)}): one value of each head at once"
    return type(space).__name__


def _term(term: RewardTerm) -> str:
    bounded = math.isfinite(term.low) and math.isfinite(term.high)
    return f"{term.doc} ({term.kind}, {f'{number(term.low)} to {number(term.high)}' if bounded else 'unbounded'})"
