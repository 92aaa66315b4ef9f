"""Chooses the few skills that fit a task, for the agents of a run."""

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
"""Maximal number of skills that agents see."""
SHOWN_ACTIONS = 12
"""Maximal number of coded actions of these skills."""
_RECENT = 5
"""Number of the newest versions of a skill that are compared."""


class Offered(Value):
    """A skill as agents see it.

    :ivar actions: its coded actions, each complete in itself.
    :ivar functions: the features that the actions read.
    :ivar success, score: in the task in which it was proved.
    :ivar by_policy: whether a policy chose among the actions; else they were played in order.
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
    """What is offered to a run.

    :ivar refused: skill -> why it is not offered, for those of the same plugin whose tests do not allow it.
    """

    offered: tuple[Offered, ...] = ()
    refused: Mapping[str, str] = {}


def offer(library: SkillLibrary, wanted: Wanted, plugin: str, version: str) -> Choice:
    """The skills of ``library`` that fit, the best first. The same library gives the same choice.

    A skill fits if its code needs nothing that the task lacks, and its tests pass in this version of the plugin. Of
    several versions, that with the surest success is taken. The rank is the similarity of words with the goal.

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
    """First the settings of the task, then the lower end of the interval of success or score, then the version."""
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
    """The first skills. Of two actions or functions of one name, that of the better skill is offered."""
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
    """The action with its shared code in its own source: actions of several skills have no shared code in common."""
    if not action.shared:
        return action
    return action.model_copy(update={"source": f"{action.shared.rstrip()}\n\n\n{action.source.lstrip()}", "shared": ""})
