"""The dead-loop rate: the share of repairs that fail in the same way as before. Numbers in messages are ignored."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.agents.deadloop import DeadLoops, of_attempts, of_iteration, of_run, same_failure
from rlgpt.domain import CodedAction, Finding, Iteration, Rehearsal, Review, Verdict, VerdictKind


def attempt(number: int, **parts: object) -> Rehearsal:
    action = CodedAction(name="a", doc="d", source=f"def run():\n    yield go()  # {number}\n")
    return Rehearsal.model_validate({"attempt": number, "action": action, **parts})


def stopped(number: int, message: str, kind: VerdictKind = "error", line: int | None = None) -> Rehearsal:
    return attempt(number, verdict=Verdict(kind=kind, action="a", message=message, line=line))


def faulted(number: int, problem: str) -> Rehearsal:
    return attempt(number, review=Review(works=False, findings=(Finding(problem=problem, suggestion="s"),)))


def worked(number: int) -> Rehearsal:
    return attempt(number, review=Review(works=True))


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (stopped(0, "IndexError: 3 is out", line=4), stopped(1, "IndexError: 12 is out", line=9), True),
        (stopped(0, "IndexError: 3 is out of range"), stopped(1, "KeyError: no key 'x'"), False),
        (stopped(0, "too long", "fuel"), stopped(1, "too long", "wall"), False),
        (faulted(0, "the hand stops 0.21 m short of it"), faulted(1, "The hand stops 0.19 m short of it."), True),
        (faulted(0, "the hand stops 0.21 m short of it"), faulted(1, "the door slipped out of the gripper"), False),
        (faulted(0, "it failed"), stopped(1, "it failed"), False),
        (faulted(0, "it failed"), worked(1), False),
    ],
)  # fmt: skip
def test_same_failure_compares_the_verdicts_and_reviews_of_two_attempts(
    before: Rehearsal, after: Rehearsal, same: bool
) -> None:
    assert same_failure(before, after) is same
    assert same_failure(after, before) is same


def test_same_failure_is_true_for_two_attempts_with_the_same_source() -> None:
    again = faulted(0, "something else altogether").model_copy(update={"attempt": 1})
    assert same_failure(faulted(0, "it falls over"), again)


def test_dead_loop_rate_is_the_share_of_repairs_that_repeat_the_failure_before() -> None:
    tried = [stopped(0, "a b c"), stopped(1, "a b c"), stopped(2, "d e f"), worked(3)]
    assert of_attempts(tried) == DeadLoops(repairs=3, repeated=1)
    assert of_attempts(tried).rate == pytest.approx(1 / 3)
    assert of_attempts(tried[:1]).rate is None


@given(st.lists(st.lists(st.sampled_from(["x", "y z", "ok"]), max_size=5), max_size=5))
def test_dead_loops_of_a_run_are_the_sum_over_its_actions_and_iterations(kinds: list[list[str]]) -> None:
    tried = {
        f"a{i}": tuple(worked(j) if k == "ok" else stopped(j, k) for j, k in enumerate(chain))
        for i, chain in enumerate(kinds)
    }
    iteration = Iteration.model_construct(rehearsals=tried)
    total = of_iteration(iteration)
    assert total.repairs == sum(max(0, len(chain) - 1) for chain in kinds)
    assert total.repeated == sum(a == b != "ok" for chain in kinds for a, b in pairwise(chain))
    assert of_run([iteration, iteration]) == total + total
