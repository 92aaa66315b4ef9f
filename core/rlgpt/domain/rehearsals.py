"""Rehearsals of coded actions and functions, and what the critic says about them and about whole iterations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import Field

from rlgpt.domain.events import Ending, Trace, Verdict
from rlgpt.domain.functions import CodedFunction
from rlgpt.domain.values import CodedAction, Name, Plain, Value


class Finding(Value):
    """A problem that the critic found, with a suggestion. ``action`` is the name of a sub-action; if it is empty, the
    critic's finding is about the whole plan.
    """

    action: str = ""
    problem: str
    suggestion: str


class Critique(Value):
    """The critic's findings on an iteration. The slow agent gets the findings on the plan, and the fast agent gets the
    findings on code and setup.
    """

    summary: str
    for_slow: tuple[Finding, ...] = ()
    for_fast: tuple[Finding, ...] = ()


class Review(Value):
    """The critic's judgement of one rehearsal. A review has at least one finding if ``works`` is False."""

    works: bool
    findings: tuple[Finding, ...] = ()


class OtherStart(Value):
    """The result of a rehearsal of a coded action in an episode whose trace is not kept.

    :ivar ended: how the coded action ended; ``masked`` if the action was not allowed to start.
    :ivar verdict: the verdict that stopped the coded action; None if no verdict stopped it.
    :ivar steps: number of primitive steps of the action.
    :ivar score: the score of the episode; None if the task has no score.
    :ivar before: the view before the action.
    :ivar after: the view after the action.
    """

    seed: int
    ended: Ending
    success: bool
    verdict: Verdict | None = None
    steps: int = Field(default=0, ge=0)
    score: float | None = None
    before: dict[str, Plain] = Field(default_factory=dict)
    after: dict[str, Plain] = Field(default_factory=dict)


class Rehearsal(Value):
    """One attempt at a coded action, with the action, the trace of its rehearsal in the environment, and the critic's
    review.

    :ivar attempt: number of the version of the coded action, 0 for the first version and 1 for the first repair.
    :ivar trace: the trace of the episode whose last decision is the rehearsed action; None if lint refused the source
        of the action.
    :ivar verdict: the verdict that stopped the rehearsed action in the traced episode; None if no verdict stopped it.
    :ivar others: the results of the rehearsal in the episodes whose trace is not kept.
    :ivar review: the critic's review of the rehearsal; None if the critic was not asked.
    """

    attempt: int
    action: CodedAction
    steps: int = Field(
        default=0, ge=0, description="primitive steps of the rehearsal, including steps outside the trace"
    )
    trace: Trace | None = None
    verdict: Verdict | None = None
    others: tuple[OtherStart, ...] = ()
    review: Review | None = None

    @property
    def stopped_by(self) -> Verdict | None:
        """The verdict that stopped the action in the traced episode, else the first verdict in another episode of the
        rehearsal.
        """
        return self.verdict or next((o.verdict for o in self.others if o.verdict is not None), None)

    @property
    def failed(self) -> bool:
        """Whether a verdict stopped the rehearsed action in any episode, or the critic's review says that the action
        does not work.

        A rehearsed action that never ran has not failed, but does not count as working either.
        """
        if self.stopped_by is not None:
            return True
        return self.review is not None and not self.review.works and (self.trace is None or self.exercised)

    @property
    def exercised(self) -> bool:
        """Whether the rehearsed action was allowed to start in the traced episode. The rehearsed action is the last
        decision of the trace.
        """
        return self.trace is not None and not (self.trace.decisions and self.trace.decisions[-1].ended == "masked")

    @property
    def ran_to_the_end(self) -> bool:
        """Whether the rehearsed action was still running when each episode of the rehearsal ended."""
        decisions = () if self.trace is None else self.trace.decisions
        endings = [*(d.ended for d in decisions[-1:]), *(other.ended for other in self.others)]
        return bool(decisions) and all(ended == "episode" for ended in endings)

    @property
    def succeeded(self) -> bool:
        """Whether the rehearsed action works and the task succeeded in every episode of the rehearsal."""
        return self.works and self.trace is not None and self.trace.success and all(o.success for o in self.others)

    @property
    def works(self) -> bool:
        """Whether the rehearsed action ran in some episode and did not fail."""
        return self.exercised and not self.failed

    @property
    def why_not(self) -> str:
        """The reason why the rehearsed action does not work; empty if it works, or if nobody gave a reason."""
        if self.works:
            return ""
        if (stopped := self.stopped_by) is not None:
            return stopped.message if stopped.line is None else f"line {stopped.line}: {stopped.message}"
        return next((finding.problem for finding in self.review.findings), "") if self.review is not None else ""


def kept_attempt(rehearsals: Sequence[Rehearsal], actions: Iterable[CodedAction]) -> Rehearsal:
    """The newest attempt whose coded action is one of ``actions``; the last attempt if there is none.

    :param rehearsals: the attempts at one coded action, in order, at least one.
    """
    kept = [action for action in actions if action.name == rehearsals[-1].action.name]
    return next((r for r in reversed(rehearsals) if r.action in kept), rehearsals[-1])


class AnswerSummary(Value):
    """Figures about the answers of a coded function during a rehearsal, before the answers are clipped into their
    bounds.

    :ivar name: name of the output that the answers belong to, or of the coded function if it is not a feature.
    :ivar low: the least answer. The answers of a predicate are 0 for False and 1 for True.
    :ivar high: the greatest answer.
    :ivar changes: number of moments at which the answer of the function differs from its previous answer in the same
        episode.
    :ivar outside: number of moments at which the answer of the function is outside its declared bounds.
    :ivar samples: a few answers of the function from the first episode, at evenly spaced moments, in order of time.
    """

    name: Name
    low: float
    high: float
    mean: float
    changes: int = Field(ge=0)
    outside: int = Field(default=0, ge=0)
    samples: tuple[float, ...] = ()


class FunctionRehearsal(Value):
    """One attempt at a coded function, with the function and its answers at the primitive steps of a few episodes.

    :ivar attempt: number of the version of the coded function, 0 for the first version and 1 for the first repair.
    :ivar played: a description, in words, of the episodes in which the coded function was rehearsed.
    :ivar moments: number of views (after resets and primitive steps) with which the coded function was called. The
        coded function is not called any more after its first verdict.
    :ivar fuel: the largest number of units of fuel that one call of the coded function used.
    :ivar answers: figures about the answers, one for each output of a feature, or one for a function of another kind;
        empty if the function gave no answer.
    :ivar verdict: the verdict that stopped the coded function in its rehearsal; None if no verdict stopped it.
    :ivar fault: a description of a fault of the function that no verdict covers, such as bounds that exclude every
        answer; empty without such a fault.
    :ivar remarks: descriptions of properties of the function that may or may not be faults, such as answers that never
        change.
    """

    attempt: int
    function: CodedFunction
    steps: int = Field(
        default=0, ge=0, description="primitive steps of the episodes that were played for the rehearsal"
    )
    played: str = ""
    moments: int = Field(default=0, ge=0)
    fuel: int = Field(default=0, ge=0)
    answers: tuple[AnswerSummary, ...] = ()
    verdict: Verdict | None = None
    fault: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the function must be repaired."""
        return self.verdict is not None or bool(self.fault)
