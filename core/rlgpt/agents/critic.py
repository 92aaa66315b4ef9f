"""The critic with a language model. The critic judges rehearsals and iterations, and writes findings for the other
agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, Critic, Evidence, History, Outcome, Shot
from rlgpt.agents.episodes import render_episodes, render_results
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import render_curve, render_functions, render_plan, render_setup, render_terms
from rlgpt.agents.replies import CritiqueReply, ReviewReply
from rlgpt.agents.text import code_block
from rlgpt.agents.traces import render_rehearsal
from rlgpt.agents.written_text import notes_of, render_written
from rlgpt.domain import Critique, Rehearsal, Review, SubAction
from rlgpt.llm.base import LLM, RequestKey

FRAMES = 8
"""Maximal number of frames of an evaluation episode that a model with vision gets for a critique."""


class LLMCritic(Critic):
    """The critic with a language model. The critic reads traces and figures. A model that accepts images also gets
    frames; in a review, frames may replace the trace.

    :param review_llm: the model for reviews of rehearsals. By default, this is ``llm``.
    :param prompts: the folder with the user's own prompts (see :class:`~rlgpt.agents.prompt.Prompt`); None if the user
        has none.
    """

    def __init__(
        self, llm: LLM, mode: Mode | None = None, *, review_llm: LLM | None = None, prompts: Path | None = None
    ) -> None:
        self.supports_vision, self._mode = llm.supports_vision, mode or Mode()
        self._ask_review = Asker(review_llm or llm, "review", prompts)
        self._ask_critique = Asker(llm, "critic", prompts)

    def review(
        self,
        brief: Brief,
        sub_action: SubAction,
        rehearsal: Rehearsal,
        *,
        iteration: int,
        evidence: Evidence = "text",
        frames: Sequence[Shot] = (),
    ) -> Review:
        trace = rehearsal.trace
        return self._ask_review(
            brief,
            RequestKey(
                task=brief.task.id,
                iteration=iteration,
                role="review",
                sub_action=sub_action.name,
                attempt=rehearsal.attempt,
                plan=brief.plan,
            ),
            ("evidence", "role", "reply"),
            {
                "name": sub_action.name,
                "description": sub_action.description,
                "attempt": _attempt(rehearsal, brief),
                "action": code_block(rehearsal.action),
                "trace": _seen(rehearsal, evidence, frames),
            },
            ReviewReply,
            value=ReviewReply.value,
            faults=_unexplained,
            measured={
                "attempt": rehearsal.attempt,
                **({"task_success": trace.success, "steps": trace.primitive_steps} if trace is not None else {}),
            },
            images=[shot.url for shot in frames],
            pictured="" if evidence == "text" else evidence,
        )

    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        iteration = len(history)
        frames = outcome.frames[:FRAMES] if self.supports_vision else ()
        judged, learned = brief.default_setup.reward_weights, outcome.setup.reward_weights
        return self._ask_critique(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="critic"),
            ("evidence", "role", "reply"),
            {
                "mode": self._mode.over(iteration),
                "plan": render_plan(outcome.plan),
                "actions": render_written(
                    outcome.actions, notes_of(outcome.plan, outcome.actions, outcome.rehearsals, history, brief.skills)
                ),
                "functions": render_functions(brief.functions, brief.remarks),
                "setup": render_setup(outcome.setup),
                "results": render_results(outcome, judged, brief.task.metrics),
                "curve": render_curve(outcome.training, learned, has_success=bool(brief.task.success)),
                "terms": render_terms(outcome.training, outcome.evaluation, brief.functions, learned),
                "episodes": render_episodes(outcome, brief.task.horizon, judged),
                "frames": _frames(len(frames)),
                "history": history_text.for_critic(history),
            },
            CritiqueReply,
            value=CritiqueReply.value,
            faults=lambda critique: [],
            measured={**history_text.figures(outcome.evaluation, outcome.code_evaluation), **self._mode.measured()},
            images=frames,
        )


def _seen(rehearsal: Rehearsal, evidence: Evidence, frames: Sequence[Shot]) -> str:
    """The evidence about a rehearsal as text. The evidence for the critic contains the trace, unless frames replace the
    trace, and says what the frames show.
    """
    text = render_rehearsal(rehearsal)
    if not frames:
        return text
    moments = "; ".join(f"{i} {shot.moment}" for i, shot in enumerate(frames, 1))
    attached = f"{len(frames)} frames of the call are attached, in order of time: {moments}."
    return attached if evidence == "frames" else f"{text}\n{attached}"


def _attempt(rehearsal: Rehearsal, brief: Brief) -> str:
    """The number of the attempt that the critic judges, and the number of repairs that remain, as text."""
    left = brief.repairs
    if left is None:
        return f"attempt {rehearsal.attempt + 1}"
    kept = "no repair is left, so findings are for the next iteration" if not left else f"repairs left: {left}"
    return f"attempt {rehearsal.attempt + 1}; {kept}"


def _unexplained(review: Review) -> list[str]:
    if review.works or review.findings:
        return []
    return ["works is false, but there is no finding: say what is wrong and what to do about it"]


def _frames(count: int) -> str:
    if not count:
        return "No frames are attached: judge by the numbers."
    return f"# Frames\n{count} frames of one evaluation episode are attached, in order of time."
