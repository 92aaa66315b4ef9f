"""Chooses the skills of a library that a run offers to its agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import Field

from rlgpt.domain import CodedAction, CodedFeatures, CodedFunction, Value
from rlgpt.errors import RlgptError
from rlgpt.skills.library import Skill, SkillLibrary
from rlgpt.skills.measure import Measure
from rlgpt.skills.needs import Wanted, misfit, similarity, words_of
from rlgpt.skills.record import SkillId

SHOWN = 6
"""Maximal number of skills that a run offers."""
SHOWN_ACTIONS = 12
"""Maximal number of coded actions that these skills have together."""
_RECENT = 5
"""Maximal number of versions of each skill that are considered: the newest versions."""


class Offered(Value):
    """A skill as a run offers it to its agents.

    :ivar actions: the coded actions of the skill. No action needs code outside its source.
    :ivar functions: the features that the actions read.
    :ivar success, score: the results in ``task``, the task of the run that made the skill.
    :ivar steps: mean number of primitive steps of an episode.
    :ivar by_policy: whether a policy chose among the actions in these episodes; else they were played in order.
    """

    id: SkillId
    goal: str
    task: str
    actions: tuple[CodedAction, ...]
    functions: tuple[CodedFunction, ...] = ()
    success: Measure | None = None
    score: Measure | None = None
    steps: float = Field(ge=0, allow_inf_nan=False)
    by_policy: bool = False

    def needed_by(self, action: CodedAction) -> tuple[CodedFunction, ...]:
        """The features whose outputs ``action`` names."""
        return _read_by([action], self.functions)


class Choice(Value):
    """The skills that a run offers to its agents.

    :ivar refused: skill -> why the skill is not offered. The keys are the skills that cannot be read, and the skills of
        the same plugin that have failed their test or have not been tested in this version.
    """

    offered: tuple[Offered, ...] = ()
    refused: Mapping[str, str] = {}


def offer(library: SkillLibrary, wanted: Wanted, plugin: str, version: str) -> Choice:
    """The skills of ``library`` that fit the run, the best first. The same arguments always give the same choice.

    A skill fits if the task has everything that its code needs, and if its newest test in this version of the plugin
    passed. Of several versions that fit, the one with the most reliable result is taken (the lower end of the interval
    decides). Skills are ranked by the similarity between the words of their goal and those of the task's goal.

    :param plugin, version: the distribution of the plugin that is installed, and its version.
    """
    candidates: list[Skill] = []
    refused: dict[str, str] = {}
    for name in library.names():
        fit: list[Skill] = []
        for number, skill in enumerate(library.skills(name)):
            if number >= _RECENT:
                break
            if isinstance(skill, RlgptError):
                refused.setdefault(name, str(skill))
            elif skill.record.needs.plugin == wanted.task.plugin and skill.bundle.actions:
                if why := skill.standing(plugin, version):
                    refused.setdefault(str(skill.id), why)
                elif not misfit(skill.record.needs, wanted, skill.bundle.actions, _features(skill)):
                    fit.append(skill)
        if fit:
            candidates.append(max(fit, key=lambda skill: _sureness(skill, wanted)))
    ranked = sorted(candidates, key=lambda skill: _rank(skill, wanted.words))
    return Choice(offered=_distinct(ranked, wanted.taken), refused=refused)


def _sureness(skill: Skill, wanted: Wanted) -> tuple[bool, float, int]:
    """The sort key of a version. Versions with the settings of the task come last, which is best; then the end of the
    95 % interval on the worse side decides, then the version number.
    """
    record = skill.record
    same = dict(record.settings) == dict(wanted.settings)
    measured = record.success or record.mean_score
    if measured is None:
        return same, 0.0, skill.id.version
    minimized = record.success is None and record.score is not None and not record.score.maximize
    return same, -measured.high if minimized else measured.low, skill.id.version


def _rank(skill: Skill, words: Collection[str]) -> tuple[float, float, float, str]:
    record = skill.record
    own = words_of(record.goal, record.task.partition("/")[2], *(a.name for a in skill.bundle.actions))
    sure = 0.0 if record.success is None else record.success.low
    return -round(similarity(own, words), 9), -sure, record.steps, record.id.name


def _features(skill: Skill) -> tuple[CodedFunction, ...]:
    return _read_by(skill.bundle.actions, skill.bundle.functions)


def _distinct(ranked: Sequence[Skill], taken: Iterable[str]) -> tuple[Offered, ...]:
    """The first skills up to the limits. If two skills have an action or function of the same name, only that of the
    better skill is offered.
    """
    names, chosen, count = set(taken), list[Offered](), 0
    for skill in ranked:
        if len(chosen) == SHOWN:
            break
        free = [_whole(a) for a in skill.bundle.actions if a.name not in names]
        functions = _read_by(free, skill.bundle.functions)
        outputs = {o.name for f in functions if isinstance(f, CodedFeatures) for o in f.outputs}
        if not free or count + len(free) > SHOWN_ACTIONS or names & (outputs | {f.name for f in functions}):
            continue
        count += len(free)
        names |= {a.name for a in free} | {f.name for f in functions} | outputs
        record = skill.record
        chosen.append(
            Offered(
                id=skill.id,
                goal=record.goal,
                task=record.task,
                actions=tuple(free),
                functions=functions,
                success=record.success,
                score=record.mean_score,
                steps=record.steps,
                by_policy=record.mode != "code",
            )
        )
    return tuple(chosen)


def _read_by(actions: Sequence[CodedAction], functions: Sequence[CodedFunction]) -> tuple[CodedFunction, ...]:
    text = "\n".join(a.source + a.shared for a in actions)
    return tuple(f for f in functions if isinstance(f, CodedFeatures) and any(o.name in text for o in f.outputs))


def _whole(action: CodedAction) -> CodedAction:
    """The action with its shared code copied into its source, because actions of several skills share no code."""
    if not action.shared:
        return action
    return action.model_copy(update={"source": f"{action.shared.rstrip()}\n\n\n{action.source.lstrip()}", "shared": ""})
