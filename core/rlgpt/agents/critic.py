"""The critic: a language model reads what happened and writes findings for each agent."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.agents import history as told
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, Critic, History, Outcome
from rlgpt.agents.fast import render_written
from rlgpt.agents.mode import Mode
from rlgpt.agents.replies import CritiqueReply, ReviewReply
from rlgpt.agents.text import bullets, code_block, number
from rlgpt.agents.traces import render_rehearsal, render_trace
from rlgpt.domain import Critique, Evaluation, Rehearsal, Review, SubAction, Trace
from rlgpt.llm.base import LLM, RequestKey

TRACES = 4
"""Episodes shown to the critic: half of them successes where there are any."""

TRACES_LIMIT = 12_000
"""Characters of all of them together."""

FRAMES = 8
"""Frames shown to a model with eyes."""


class LLMCritic(Critic):
    """Judges rehearsals for the fast agent, and iterations for both. Looks at frames where the model has eyes."""

    def __init__(self, llm: LLM, mode: Mode | None = None, *, review_llm: LLM | None = None) -> None:
        self.supports_vision, self._mode = llm.supports_vision, mode or Mode()
        self._review, self._critique = Asker(review_llm or llm, "review"), Asker(llm, "critic")

    def review(self, brief: Brief, sub_action: SubAction, rehearsal: Rehearsal, *, iteration: int) -> Review:
        """:raises rlgpt.errors.LLMError: no usable review after every retry."""
        trace = rehearsal.trace
        return self._review(
            brief,
            RequestKey(
                task=brief.task.id,
                iteration=iteration,
                role="review",
                sub_action=sub_action.name,
                attempt=rehearsal.attempt,
            ),
            ("system", "user", "reply"),
            {
                "name": sub_action.name,
                "description": sub_action.description,
                "attempt": str(rehearsal.attempt),
                "action": code_block(rehearsal.action),
                "trace": render_rehearsal(rehearsal, 10_000),
            },
            ReviewReply,
            value=ReviewReply.value,
            faults=_unexplained,
            measured={
                "attempt": rehearsal.attempt,
                **({"task_success": trace.success, "steps": trace.primitive_steps} if trace is not None else {}),
            },
        )

    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        """:raises rlgpt.errors.LLMError: no usable critique after every retry."""
        iteration = len(history)
        frames = outcome.frames[:FRAMES] if self.supports_vision else ()
        return self._critique(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="critic"),
            ("system", "user", "reply"),
            {
                "mode": self._mode.text(iteration),
                "plan": told.render_plan(outcome.plan),
                "actions": render_written(outcome.actions),
                "setup": told.render_setup(outcome.setup),
                "results": render_results(outcome),
                "curve": told.render_curve(outcome.training),
                "traces": render_traces(outcome.evaluation.traces),
                "frames": _frames(len(frames)),
                "history": told.for_solo(history),
            },
            CritiqueReply,
            value=CritiqueReply.value,
            faults=lambda critique: [],
            measured={**told.figures(outcome.evaluation, outcome.code_evaluation), **self._mode.measured()},
            images=frames,
        )


def render_results(outcome: Outcome) -> str:
    """Success, reward, reward terms, use of each action and errors, of the policy and of pure code."""
    pure = outcome.evaluation.mode == "code"
    lines = [] if pure else [_evaluated("The policy", outcome.evaluation)]
    code = outcome.code_evaluation or (outcome.evaluation if pure else None)
    if code is not None:
        lines.append(_evaluated("Pure code (the coded actions in the plan's order, over and over)", code))
    if (training := outcome.training) is not None:
        lines.append(f"Training took {training.primitive_steps} primitive steps, {training.decisions} decisions.")
        if training.quarantined:
            lines.append(f"Taken out of the policy's hands after three errors: {', '.join(training.quarantined)}.")
        if training.verdicts:
            lines.append(f"Errors while training:\n{told.count_verdicts(training.verdicts)}")
    return "\n\n".join(lines)


def render_traces(traces: Sequence[Trace], limit: int = TRACES_LIMIT) -> str:
    """A few episodes, failures and successes side by side."""
    won, lost = ([t for t in traces if t.success is good] for good in (True, False))
    few = min(TRACES // 2, len(won))
    shown = [*lost[: TRACES - few], *won[: max(few, TRACES - len(lost))]]
    return "\n\n".join(render_trace(t, limit // max(1, len(shown))) for t in shown) or "(no episode was traced)"


def _evaluated(who: str, evaluation: Evaluation) -> str:
    episodes = evaluation.episodes
    names = dict.fromkeys(name for e in episodes for name in e.reward_terms)
    terms = {n: number(sum(e.reward_terms.get(n, 0.0) for e in episodes) / len(episodes)) for n in names}
    steps = evaluation.primitive_steps / max(1, len(episodes))
    lines = [
        f"{who}: success {evaluation.success_rate:.2f} in {len(episodes)} episodes ({evaluation.mode}), mean reward "
        f"{number(evaluation.mean_reward)}, {steps:.0f} primitive steps an episode.",
    ]
    if evaluation.usage:
        lines.append(f"Used: {told.render_usage(evaluation)}.")
    if terms:
        lines.append(f"Mean sum of each reward term over an episode:\n{bullets(terms)}")
    if evaluation.verdicts:
        lines.append(f"Errors:\n{told.count_verdicts(evaluation.verdicts)}")
    return "\n".join(lines)


def _unexplained(review: Review) -> list[str]:
    if review.works or review.findings:
        return []
    return ["works is false, but there is no finding: say what is wrong and what to do about it"]


def _frames(count: int) -> str:
    if not count:
        return "No frames are attached: judge by the numbers."
    return f"# Frames\n{count} frames of one evaluation episode are attached, in order of time."
