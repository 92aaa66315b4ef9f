"""Chooses the skills that a run offers to its agents, and adds the result of the run to the skill library."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlgpt.agents.base import Brief
from rlgpt.domain import Bundle, Evaluation, Iteration, Steps
from rlgpt.errors import RlgptError, UnknownNameError
from rlgpt.llm.exchange import Exchange, read_exchanges
from rlgpt.loop.context import LoopContext
from rlgpt.plugin.origin import origin
from rlgpt.runs import Report
from rlgpt.skills import Offered, Served, Skill, SkillId, SkillLibrary, SkillRecord, Wanted, needs_of, offer
from rlgpt.skills.library import weights_of
from rlgpt.skills.offering import Choice
from rlgpt.skills.record import Result
from rlgpt.skills.testing import starts_of

NAME_LENGTH = 40
"""The greatest length of a skill's name."""
PROVED = 0.5
"""Value that the lower end of the 95 % interval of a success rate must reach, before a run adds its result as a
skill.
"""
_RECENT = 5
"""Number of newest versions of a skill with which new code is compared."""


def with_skills(ctx: LoopContext, brief: Brief) -> Brief:
    """Add the chosen skills to ``brief``. The run stores its choice of skills, so a resumed run offers the same skills.

    :raises SkillError: the skill library cannot be read.
    """
    there = ctx.run.stage("skills", Choice)
    if there is None and ctx.skills is None:
        return brief
    choice: Choice = there or ctx.run.once("skills", Choice, lambda: _choice(ctx, brief))
    return brief.model_copy(update={"skills": choice.offered})


def _choice(ctx: LoopContext, brief: Brief) -> Choice:
    assert ctx.skills is not None, "the caller has checked it"
    choice = offer(ctx.skills, _wanted(ctx, brief), *origin(ctx.plugin))
    for name, why in choice.refused.items():
        ctx.observer.message(f"the skill {name} is not offered: {why}")
    if untested := [name for name, why in choice.refused.items() if "has not been tested" in why]:
        ctx.observer.message(f"to test {len(untested)} of these skills, run: rlgpt skills test {ctx.skills.folder}")
    if choice.offered:
        ctx.observer.message(f"skills offered: {', '.join(str(skill.id) for skill in choice.offered)}")
    return choice


def _wanted(ctx: LoopContext, brief: Brief) -> Wanted:
    keys = [name for name, _ in (*brief.observations, *brief.reward_terms)]
    taken = frozenset((*brief.primitives, *brief.base_actions, *keys, "base", "observe"))
    return Wanted(ctx.task, ctx.library, brief.base_space, taken, _settings(ctx))


@dataclass(frozen=True)
class Proved:
    """Code, or a policy over code, with the result that proves it.

    :ivar name: the name of the skill that it becomes.
    :ivar goal: what it achieves, in words.
    :ivar best: the iteration that made it.
    :ivar kept: the evaluation of this iteration that the run keeps.
    :ivar result: the result in the recorded episodes of the skill.
    :ivar predicate: the name of the coded predicate in ``bundle`` that decides its success; empty for the success of
        the task.
    :ivar horizon: maximal number of primitive steps of its episodes; None for the horizon of the task.
    :ivar steps: number of primitive steps that it has taken.
    :ivar exchanges: the requests to language models that it has taken, with their replies.
    """

    name: str
    goal: str
    best: Iteration
    kept: Evaluation
    bundle: Bundle
    result: Result
    steps: Steps
    exchanges: Sequence[Exchange]
    predicate: str = ""
    horizon: int | None = None


def add_skill(ctx: LoopContext, brief: Brief, best: Iteration, report: Report, bundle: Bundle, steps: Steps) -> None:
    """Add the result of a run to the skill library, if the result in the report is good enough. The episodes of the
    report become the recorded episodes of the skill.
    """
    if ctx.skills is None:
        return
    kept = report.evaluation
    result = Result(has_success=kept.has_success, score=kept.score, starts=starts_of(kept))
    if not _is_proved(ctx, kept, result):
        ctx.observer.message("no skill is added, because the result of the run is not good enough")
        return
    exchanges = read_exchanges(ctx.run.folder / "llm.jsonl")
    name = skill_name(ctx.task.id)
    add_proved(ctx, brief, Proved(name, ctx.task.goal, best, kept, bundle, result, steps, exchanges))


def add_proved(ctx: LoopContext, brief: Brief, proved: Proved) -> None:
    """Add proved code or a proved policy to the skill library.

    Code that the skill library contains already is not added again. An error while the skill library is changed is
    reported as a message and does not end the run.

    :param brief: the brief with the skills that were offered.
    """
    assert ctx.skills is not None, "the caller has checked it"
    if not proved.best.keeps_code:
        ctx.observer.message("no skill is added, because the kept policy uses no coded action")
        return
    try:
        id = _added(ctx, ctx.skills, brief, proved)
        for skill in _used(proved.best, brief.skills):
            _note(ctx, ctx.skills, skill.id, id, proved.result)
    except RlgptError as fault:
        ctx.observer.message(f"the library of skills cannot be changed: {fault}")


def _is_proved(ctx: LoopContext, kept: Evaluation, result: Result) -> bool:
    if result.success is not None:
        return result.success.low >= PROVED
    if result.mean_score is None:
        return False
    return ctx.target is None or ctx.is_solved(kept, episodes=1)


def _added(ctx: LoopContext, library: SkillLibrary, brief: Brief, proved: Proved) -> SkillId | None:
    """Add proved code or a proved policy to the skill library.

    :returns: the new version of the skill, or an existing version with the same code; None if the code cannot be added.
    """
    kept, best, bundle = proved.kept, proved.best, proved.bundle
    policy = None
    if not kept.is_code:
        policy = weights_of(ctx.train_folder(best.index)) if best.training is not None else None
        if policy is None:
            ctx.observer.message("no skill is added, because the trainer stores its policy in another format")
            return None
    settings, environment = _settings(ctx), _environment(ctx)
    if kept.is_code and (same := _same(library, proved.name, bundle, settings)) is not None:
        ctx.observer.message(f"no skill is added, because the skill {same.id} has the same code")
        return same.id
    found = origin(ctx.plugin)
    record = SkillRecord(
        **dict(proved.result),
        id=SkillId(name=proved.name, version=1),
        goal=proved.goal[:2_000],
        task=ctx.task.id,
        settings=settings,
        environment=environment,
        predicate=proved.predicate,
        horizon=proved.horizon,
        mode="code" if kept.is_code else kept.mode,  # The bundle of tuned code has the found values as defaults.
        sharpness=kept.sharpness,
        quarantined=() if kept.is_code else best.masked,
        plugin=found.distribution,
        version_of_plugin=found.version,
        needs=needs_of(ctx.task.plugin, brief.base_space, ctx.library, bundle.actions, bundle.functions),
        made_from=tuple(skill.id for skill in _used(best, brief.skills)),
        created=_now(),
        model=", ".join(sorted({e.reply.model for e in proved.exchanges}))[:400],
        spent_steps=proved.steps.total,
        spent_tokens=sum(e.reply.usage.tokens for e in proved.exchanges),
    )
    id = library.add(bundle, record, policy=policy)
    result = proved.result
    ctx.observer.message(f"added the skill {id}: success {result.success}" if result.success else f"added {id}")
    return id


def skill_name(task: str) -> str:
    """The name of the skill that solves a task, which is the id of the task with underscores. A name that would be too
    long ends with a fingerprint of the id, so that no two tasks share a name.
    """
    name = re.sub(r"[^a-z0-9]+", "_", task.lower()).strip("_")
    name = name if name[:1].isalpha() else f"s_{name}"
    if len(name) <= NAME_LENGTH:
        return name
    mark = hashlib.sha256(task.encode()).hexdigest()[:6]
    return f"{name[: NAME_LENGTH - len(mark) - 1].rstrip('_')}_{mark}"


def _same(library: SkillLibrary, name: str, bundle: Bundle, settings: Mapping[str, Any]) -> Skill | None:
    try:
        versions = list(zip(range(_RECENT), library.skills(name), strict=False))
    except UnknownNameError:
        return None
    skills = [skill for _, skill in versions if isinstance(skill, Skill)]
    return next(
        (
            skill
            for skill in skills
            if (skill.bundle.actions, skill.bundle.functions) == (bundle.actions, bundle.functions)
            and skill.record.mode == "code"
            and dict(skill.record.settings) == dict(settings)
        ),
        None,
    )


def _used(best: Iteration, offered: tuple[Offered, ...]) -> list[Offered]:
    """The offered skills whose actions the iteration has, unchanged or as new versions."""
    names = {action.name for action in best.actions}
    return [skill for skill in offered if names & {action.name for action in skill.actions}]


def _note(ctx: LoopContext, library: SkillLibrary, id: SkillId, made: SkillId | None, result: Result) -> None:
    run = f"{ctx.run.record.created} seed {ctx.run.record.seed}"
    if any(served.run == run for served in library.load(id).served):
        return  # An earlier part of this run has added the note already.
    rate = None if result.success is None else result.success.point
    library.note(id, Served(time=_now(), run=run, task=ctx.task.id, success=rate, made=made))


def _settings(ctx: LoopContext) -> dict[str, Any]:
    """The task's settings that differ from the plugin's defaults."""
    if ctx.world is not None:
        return {}
    own = ctx.plugin.tasks().get(ctx.task.id) or ctx.plugin.unlisted_tasks().get(ctx.task.id)
    default = {} if own is None else own.settings
    return {name: value for name, value in ctx.task.settings.items() if default.get(name) != value}


def _environment(ctx: LoopContext) -> dict[str, Any] | None:
    environment = ctx.run.record.config.get("environment")
    if not isinstance(environment, Mapping):
        return None
    prepared = environment.get("prepared")
    without = {**prepared, "trial": None} if isinstance(prepared, Mapping) else None
    return {**environment, "prepared": without}


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
