"""Chooses the skills of a skill library that a run offers to its agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from pydantic import Field

from rlgpt.domain import Bundle, CodedAction, CodedFeatures, CodedFunction, Value
from rlgpt.errors import RlgptError
from rlgpt.skills.library import Skill, SkillLibrary
from rlgpt.skills.measure import Measure
from rlgpt.skills.needs import Wanted, misfit, part_of, similarity, task_words, words_of
from rlgpt.skills.record import SkillId
from rlgpt.skills.renaming import renamed

SHOWN = 6
"""Maximal number of skills that a run offers."""
SHOWN_ACTIONS = 12
"""Maximal number of coded actions of all offered skills together."""
RENAMED = 2
"""Maximal number of offered skills in whose code names are replaced."""
LEAST = 0.55
"""Least similarity between the words of a run's task and of a skill's task, if names are replaced.

Among the kitchen's tasks, those about the two burners have similarities of 0.60 and more: code for one burner solved 10
of 10 episodes with the names of the other, in both directions. The tasks about the two doors on hinges have 0.52: code
for the microwave solved 0 of 10 episodes with the names of the hinge cabinet, and 7 of 10 the other way round.
"""
_RECENT = 5
"""Number of the newest versions of each skill that are considered."""


class Offered(Value):
    """A skill in the form in which a run offers it to its agents.

    :ivar goal: the goal of the skill's task. If names were replaced in the code, ``goal`` begins with a clause that
        says what was replaced by what, and that the changed code is not tested. If actions are left out because they do
        not fit, ``goal`` begins with a clause that says how many.
    :ivar actions: the coded actions of the skill. No action needs code outside its source.
    :ivar functions: the features that the actions read.
    :ivar task: the task of the run that made the skill.
    :ivar success: the success rate in ``task``.
    :ivar score: the mean score in ``task``.
    :ivar steps: mean number of primitive steps of an episode in the task ``task``.
    :ivar changed: what was replaced by what in the code; empty if nothing was. ``success`` and ``score`` are those of
        the code before the change.
    :ivar by_policy: whether, in the episodes in ``task``, a policy chose among the actions. If ``by_policy`` is False,
        the coded actions of the skill were played in order.
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
    changed: str = ""

    def needed_by(self, action: CodedAction) -> tuple[CodedFunction, ...]:
        """The features whose outputs occur in the source of the coded action ``action``."""
        return _read_by([action], self.functions)


class Choice(Value):
    """The skills that a run offers to its agents, and the skills that it does not offer.

    :ivar refused: a dict from a skill to the reason why the skill is not offered. The keys of ``refused`` are the
        skills that cannot be read, and the skills of this plugin that failed their test or were not tested in its
        installed version.
    """

    offered: tuple[Offered, ...] = ()
    refused: Mapping[str, str] = {}


def offer(library: SkillLibrary, wanted: Wanted, plugin: str, version: str) -> Choice:
    """The skills of the skill library ``library`` that fit the run, the best skill first. The same arguments always
    give the same choice of skills.

    A skill fits if the task has all primitives and keys of the view that the skill's code needs. If some of a skill's
    coded actions do not fit, the skill is offered without these actions. The skill must also have passed its newest
    test in the installed version of the plugin. If several versions of a skill fit, the version with the most reliable
    result is chosen (the worse end of its confidence interval decides). Skills are sorted by the similarity between
    their words (goal, task and names of actions) and the words of the run's task.

    If no whole skill fits whose task is at least ``LEAST`` similar to the run's task, the run also offers at most
    ``RENAMED`` skills of such tasks that fit after names of things are replaced in their code
    (:mod:`rlgpt.skills.renaming`). They come last.

    :param plugin: the name of the distribution that contains the plugin.
    :param version: the installed version of the plugin's distribution.
    """
    candidates: list[Skill] = []
    others: list[list[Skill]] = []
    parts: list[Skill] = []
    refused: dict[str, str] = {}
    for name in library.names():
        fit, near, part = list[Skill](), list[Skill](), list[Skill]()
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
                else:
                    near += [skill] if _closeness(skill, wanted) >= LEAST else []
                    part += _fitting(skill, wanted)
        if fit:
            candidates.append(max(fit, key=lambda skill: _sureness(skill, wanted)))
            continue
        if near:
            others.append(sorted(near, key=lambda skill: _sureness(skill, wanted), reverse=True))
        if part:
            parts.append(max(part, key=lambda skill: (-skill.left_out, _sureness(skill, wanted))))
    close = any(_closeness(skill, wanted) >= LEAST for skill in candidates)
    copies = [] if close else list(_copies(others, wanted))
    copied = {skill.id.name for skill in copies}
    candidates += [skill for skill in parts if skill.id.name not in copied]
    ranked = sorted(candidates, key=lambda skill: _rank(skill, wanted.words))
    return Choice(offered=_distinct([*ranked, *copies], wanted.taken), refused=refused)


def _fitting(skill: Skill, wanted: Wanted) -> list[Skill]:
    """A copy of ``skill`` with only those coded actions that fit the run; empty if no action fits. If each action fits,
    the skill needs more than its code shows, and the result is empty, too.
    """
    needs, fitting = skill.record.needs, []
    for action in skill.bundle.actions:
        features = _read_by([action], skill.bundle.functions)
        if not misfit(part_of(needs, (action, *features)), wanted, [action], features):
            fitting.append(action)
    if len(fitting) in (0, len(skill.bundle.actions)):
        return []
    bundle = Bundle(actions=tuple(fitting), functions=_read_by(fitting, skill.bundle.functions))
    return [replace(skill, bundle=bundle, left_out=len(skill.bundle.actions) - len(fitting))]


def _copies(skills: Iterable[Sequence[Skill]], wanted: Wanted) -> Iterator[Skill]:
    """At most ``RENAMED`` copies of skills in which names are replaced, the best skill first.

    :param skills: versions of each skill, the best version first.
    """
    ranked = sorted(skills, key=lambda versions: _rank(versions[0], wanted.words))
    found = (filter(None, (renamed(s, _features(s), wanted) for s in versions)) for versions in ranked)
    return islice((copy for copies in found for copy in islice(copies, 1)), RENAMED)


def _closeness(skill: Skill, wanted: Wanted) -> float:
    """The similarity between the words of the skill's task and the words of the run's task, from 0 to 1."""
    return similarity(task_words(skill.record.goal, skill.record.task), wanted.words)


def _sureness(skill: Skill, wanted: Wanted) -> tuple[bool, float, int]:
    """The sort key of a skill's version; the version with the largest key is the best version. A version that was
    tested with the settings of the task comes before all others. The second criterion is the worse end of the 95 %
    confidence interval of the result. Last, the number of the version decides.
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
    own = task_words(record.goal, record.task) | words_of(*(a.name for a in skill.bundle.actions))
    sure = 0.0 if record.success is None else record.success.low
    return -round(similarity(own, words), 9), -sure, record.steps, record.id.name


def _features(skill: Skill) -> tuple[CodedFunction, ...]:
    return _read_by(skill.bundle.actions, skill.bundle.functions)


def _distinct(ranked: Sequence[Skill], taken: Iterable[str]) -> tuple[Offered, ...]:
    """The best skills, up to the maximal numbers of skills and coded actions. An action whose name is already taken,
    for example by a better skill, is left out. A skill is left out if the name of one of its features or outputs is
    already taken, or if its actions would be too many.
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
                goal=f"{_clause(skill)}{record.goal}",
                changed=skill.changed,
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


def _clause(skill: Skill) -> str:
    """What differs between the offered code and the skill that was tested, before the goal of its task."""
    if skill.changed:
        return f"(here its code has {skill.changed}, untested) "
    return f"(here without {skill.left_out} of its actions) " if skill.left_out else ""


def _read_by(actions: Sequence[CodedAction], functions: Sequence[CodedFunction]) -> tuple[CodedFunction, ...]:
    text = "\n".join(a.source + a.shared for a in actions)
    return tuple(f for f in functions if isinstance(f, CodedFeatures) and any(o.name in text for o in f.outputs))


def _whole(action: CodedAction) -> CodedAction:
    """A copy of the coded action ``action`` whose source contains its shared code, because actions of several skills
    share no code.
    """
    if not action.shared:
        return action
    return action.model_copy(update={"source": f"{action.shared.rstrip()}\n\n\n{action.source.lstrip()}", "shared": ""})
