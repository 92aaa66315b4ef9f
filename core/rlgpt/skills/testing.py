"""Tests a skill by repeating its recorded episodes in the installed version of the plugin."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from typing import Any

from rlgpt.domain import CodedFeatures, Evaluation, RLSetup, Task
from rlgpt.errors import RlgptError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import default_setup_of
from rlgpt.plugin.library import library_of
from rlgpt.plugin.origin import Origin
from rlgpt.rl.acting import by_code, by_policy, code_spec
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluation import Judge
from rlgpt.rl.play import Acting
from rlgpt.sandbox import faults
from rlgpt.skills.library import Skill
from rlgpt.skills.record import LARGEST, MAX_STARTS, Result, SkillTest, Start

EPISODES = 10
"""Default number of recorded episodes that a test repeats."""


def retest(
    skill: Skill,
    plugin: EnvironmentPlugin,
    task: Task,
    factory: str | Callable[[Task], Any],
    origin: Origin,
    *,
    episodes: int = EPISODES,
) -> SkillTest:
    """Repeat the first ``episodes`` recorded episodes of ``skill``, from the recorded start states.

    The test fails if the skill's code cannot work with the plugin's primitives. The test also fails if the result is
    below the recorded result of the same episodes, and so far below the whole recorded result that the two 95 %
    confidence intervals do not overlap.

    :param factory: the value for the field ``factory`` of :class:`~rlgpt.rl.base.EnvSpec`.
    :param origin: the plugin's distribution and the version of the distribution.
    """
    record = skill.record
    played: tuple[Start, ...] = ()
    failure = ""
    try:
        failure = _faults(skill, plugin, task)
        if not failure:
            evaluation = _play(skill, plugin, task, factory, record.starts[:episodes])
            played = starts_of(evaluation, record.predicate, record.starts)
    except RlgptError as fault:
        failure = str(fault)
    result = Result(has_success=record.has_success, score=record.score, starts=played)
    same = Result(has_success=record.has_success, score=record.score, starts=record.starts[:episodes])
    if not failure and result.level < same.level and result.is_worse_than(record):
        now, before = result.success or result.mean_score, record.success or record.mean_score
        failure = f"its result in {len(played)} episodes is {now}, worse than the recorded {before}"
    return SkillTest(
        time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        plugin=origin.distribution,
        version_of_plugin=origin.version,
        has_success=record.has_success,
        score=record.score,
        starts=tuple(s.model_copy(update={"state": None}) for s in played),
        failure=failure[:600],
    )


def starts_of(evaluation: Evaluation, predicate: str = "", began: Iterable[Start] = ()) -> tuple[Start, ...]:
    """Convert the episodes of an evaluation to the form that a skill's record contains.

    :param predicate: name of the coded predicate that decides the success of an episode. If the name of the predicate
        is empty, the task's own success decides.
    :param began: records that contain the states in which the episodes began. The state of an episode comes from the
        record in ``began`` with the same seed.
    """
    states = {start.seed: start.state for start in began}
    return tuple(
        Start(
            seed=e.seed,
            state=states.get(e.seed),
            success=predicate in e.reached if predicate else e.success,
            score=e.score if e.score is not None and abs(e.score) <= LARGEST else None,
            steps=e.reached.get(predicate, e.primitive_steps) if predicate else e.primitive_steps,
        )
        for e in evaluation.episodes[:MAX_STARTS]
    )


def _faults(skill: Skill, plugin: EnvironmentPlugin, task: Task) -> str:
    library = library_of(plugin, task)
    whole = library.with_features(skill.bundle.functions)
    for code in (*skill.bundle.functions, *skill.bundle.actions):
        if found := faults(code, library if isinstance(code, CodedFeatures) else whole):
            return f"{code.name}, line {found[0].line}: {found[0].message}"
    return ""


def _play(
    skill: Skill,
    plugin: EnvironmentPlugin,
    task: Task,
    factory: str | Callable[[Task], Any],
    starts: tuple[Start, ...],
) -> Evaluation:
    record, bundle = skill.record, skill.bundle
    setup: RLSetup = bundle.setup or default_setup_of(plugin, task)
    spec = EnvSpec(task, setup, bundle.actions, factory, {}, record.quarantined, bundle.functions)
    states = {start.seed: start.state for start in starts if start.state is not None}
    if record.mode == "code":
        spec = code_spec(spec, bundle.actions)
    with Judge(spec, begin=states, limit=record.horizon) as judge:
        return judge.play(_acting(skill, spec), [start.seed for start in starts])


def _acting(skill: Skill, spec: EnvSpec) -> Acting:
    """The way in which the skill acts, which is by its policy, or by its coded actions in order."""
    if skill.policy is None:
        return by_code(skill.bundle.actions)
    from rlgpt.rl.trained import trained_policy

    policy = trained_policy(skill.policy, spec)
    return by_policy(policy, skill.record.mode, skill.record.sharpness)
