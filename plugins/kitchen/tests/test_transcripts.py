"""The shipped transcripts answer the prompts as they ship: at least three recordings each, none of an older prompt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.brief import make_brief
from rlgpt.agents.critic import LLMCritic
from rlgpt.agents.fast import LLMFast
from rlgpt.agents.slow import LLMSlow
from rlgpt.domain import ActionPlan, CodedAction, Evaluation, Rehearsal, SubAction, Verdict
from rlgpt.errors import TranscriptEnded
from rlgpt.llm.base import LLM, Reply, Request
from rlgpt.llm.transcript import Transcript
from rlgpt.plugin.library import library
from rlgpt_kitchen.plugin import KitchenPlugin

PLUGIN = KitchenPlugin()
SHIPPED = [task for task in PLUGIN.tasks().values() if PLUGIN.transcripts(task)]

PUSH = SubAction(name="push", description="push it", kind="code", reason="simple")
PLAN = ActionPlan(sub_actions=(PUSH,))
ACTION = CodedAction(name="push", doc="", source="def run():\n    yield observe()\n")
FAILED = Rehearsal(attempt=0, action=ACTION, verdict=Verdict(kind="error", action="push", message="it broke"))


class Prints(LLM):
    """Keeps the fingerprint of what it is asked, by role and whether it is a repair, and answers nothing."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, bool], str] = {}

    def complete(self, request: Request) -> Reply:
        self.seen[request.key.role, request.key.attempt > 0 and request.key.role == "fast"] = request.fingerprint
        raise TranscriptEnded("no replies here")


def fingerprints(brief: Brief) -> dict[tuple[str, bool], str]:
    """Of every request of the whole method: they do not depend on what a run measured."""
    llm = Prints()
    slow, fast, critic = LLMSlow(llm), LLMFast(llm, library(PLUGIN, brief.task)), LLMCritic(llm)
    setup = brief.default_setup
    evaluation = Evaluation(mode="sampled", episodes=())
    outcome = Outcome(
        plan=PLAN, actions=(ACTION,), setup=setup, code_evaluation=None, training=None, evaluation=evaluation
    )
    requests: tuple[Callable[[], object], ...] = (
        lambda: slow.plan(brief, ()),
        lambda: fast.write(brief, PLAN, PUSH, written=(), attempts=(), history=()),
        lambda: fast.write(brief, PLAN, PUSH, written=(), attempts=(FAILED,), history=()),
        lambda: fast.setup(brief, PLAN, actions=(ACTION,), history=()),
        lambda: critic.review(brief, PUSH, FAILED, iteration=0),
        lambda: critic.critique(brief, outcome, ()),
    )
    for request in requests:
        with suppress(TranscriptEnded):
            request()
    assert len(llm.seen) == len(requests)
    return llm.seen


def test_every_task_of_the_demonstrations_has_three_recordings() -> None:
    counts = {task.id: len(PLUGIN.transcripts(task)) for task in SHIPPED}
    for name in ("microwave", "kettle", "hinge_cabinet", "sequence_a"):
        assert counts[f"kitchen/{name}"] >= 3


@pytest.mark.parametrize("task", SHIPPED, ids=lambda task: task.id)
def test_recordings_answer_the_prompts_as_they_ship(task) -> None:  # type: ignore[no-untyped-def]
    now = fingerprints(make_brief(PLUGIN, task))
    texts = []
    for path in PLUGIN.transcripts(task):
        transcript = Transcript.read(path)
        assert transcript.header.task == task.id
        stale = [
            e.key
            for e in transcript.entries
            if now[e.key.role, e.key.attempt > 0 and e.key.role == "fast"] != e.fingerprint
        ]
        assert not stale, f"{path.name} was recorded with another prompt or stub"
        texts.append(tuple(e.reply.text for e in transcript.entries))
    assert len(set(texts)) == len(texts), "two recordings are the same"
