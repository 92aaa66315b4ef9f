"""The critic as a language model: it judges rehearsals and iterations, and writes findings for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, Critic, History, Outcome
from rlgpt.agents.fast import render_written
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import render_curve, render_plan, render_setup, render_usage, render_verdicts
from rlgpt.agents.replies import CritiqueReply, ReviewReply
from rlgpt.agents.text import bullets, code_block, number
from rlgpt.agents.traces import render_rehearsal, render_trace
from rlgpt.domain import Critique, Evaluation, Rehearsal, Review, SubAction, Trace
from rlgpt.llm.base import LLM, RequestKey

TRACES = 4
"""Episodes that the critic reads: half of them successes, where there are any."""

TRACES_LIMIT = 12_000
"""Characters of all traces together."""

FRAMES = 8
"""Most frames that a model with vision receives."""


class LLMCritic(Critic):
    """Reads traces and figures, and frames where the model supports vision.

    :param review_llm: the model for reviews of rehearsals; default: ``llm``.
    :param prompts: the user's own prompts, or None (see :class:`~rlgpt.agents.prompt.Prompt`).
    """

    def __init__(
        self, llm: LLM, mode: Mode | None = None, *, review_llm: LLM | None = None, prompts: Path | None = None
    ) -> None:
        self.supports_vision, self._mode = llm.supports_vision, mode or Mode()
        self._ask_review = Asker(review_llm or llm, "review", prompts)
        self._ask_critique = Asker(llm, "critic", prompts)

    def review(self, brief: Brief, sub_action: SubAction, rehearsal: Rehearsal, *, iteration: int) -> Review:
        trace = rehearsal.trace
        return self._ask_review(
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
        iteration = len(history)
        frames = outcome.frames[:FRAMES] if self.supports_vision else ()
        return self._ask_critique(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="critic"),
            ("system", "user", "reply"),
            {
                "mode": self._mode.text(iteration, brief.training_steps),
                "plan": render_plan(outcome.plan),
                "actions": render_written(outcome.actions),
                "setup": render_setup(outcome.setup),
                "results": render_results(outcome),
                "curve": render_curve(outcome.training),
                "traces": render_traces(outcome.evaluation.traces),
                "frames": _frames(len(frames)),
                "history": history_text.for_solo(history),
            },
            CritiqueReply,
            value=CritiqueReply.value,
            faults=lambda critique: [],
            measured={**history_text.figures(outcome.evaluation, outcome.code_evaluation), **self._mode.measured()},
            images=frames,
        )


def render_results(outcome: Outcome) -> str:
    """Success rate, episode return, reward terms, use of each action and errors, of the policy and of code alone."""
    code_only = outcome.evaluation.mode == "code"
    lines = [] if code_only else [_evaluated("The policy", outcome.evaluation)]
    code = outcome.code_evaluation or (outcome.evaluation if code_only else None)
    if code is not None:
        lines.append(_evaluated("Pure code (the coded actions in the plan's order, over and over)", code))
    if (training := outcome.training) is not None:
        lines.append(f"Training took {training.primitive_steps} primitive steps, {training.decisions} decisions.")
        if training.quarantined:
            lines.append(f"Taken out of the policy's hands after three errors: {', '.join(training.quarantined)}.")
        if training.verdicts:
            lines.append(f"Errors while training:\n{render_verdicts(training.verdicts)}")
    return "\n\n".join(lines)


def render_traces(traces: Sequence[Trace], limit: int = TRACES_LIMIT) -> str:
    """At most :data:`TRACES` episodes, failures first."""
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
        lines.append(f"Used: {render_usage(evaluation)}.")
    if terms:
        lines.append(f"Mean sum of each reward term over an episode:\n{bullets(terms)}")
    if evaluation.verdicts:
        lines.append(f"Errors:\n{render_verdicts(evaluation.verdicts)}")
    return "\n".join(lines)


def _unexplained(review: Review) -> list[str]:
    if review.works or review.findings:
        return []
    return ["works is false, but there is no finding: say what is wrong and what to do about it"]


def _frames(count: int) -> str:
    if not count:
        return "No frames are attached: judge by the numbers."
    return f"# Frames\n{count} frames of one evaluation episode are attached, in order of time."
