"""Writes, rehearses and repairs one coded action, until it works or no repairs are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlgpt.agents.base import Brief, History
from rlgpt.domain import ActionPlan, CodedAction, Finding, Rehearsal, Review, SubAction
from rlgpt.errors import TranscriptEnded
from rlgpt.loop.candidates import CandidateJob, best_candidate
from rlgpt.loop.context import LoopContext
from rlgpt.loop.frames import shots
from rlgpt.loop.observer import reason
from rlgpt.loop.rehearse import rehearse
from rlgpt.options import OnStep
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.rl.base import EnvSpec

if TYPE_CHECKING:
    import gymnasium

NOT_EXERCISED = Review(
    works=False,
    findings=(
        Finding(
            problem="it never ran: its can_start was False at every moment that its rehearsals reached",
            suggestion="leave it, or loosen can_start if it should have run there",
        ),
    ),
)
"""The review of an action that could not start in any rehearsal. The critic is not asked, and no repair follows."""


@dataclass(frozen=True)
class ActionLoop:
    """The attempts at the code of one coded sub-action of ``plan``, in the iteration after ``history``.

    :ivar kept: the working coded actions before this one in the plan. Rehearsals play them before this action.
    :ivar folder: the part of the run's folder that has the stages of the plan.
    """

    ctx: LoopContext
    brief: Brief
    plan: ActionPlan
    sub_action: SubAction
    kept: tuple[CodedAction, ...]
    history: History
    folder: str

    def write(self) -> tuple[Rehearsal, ...]:
        """Write the coded action, and repair it until it works. Finished attempts are read from the run folder.

        :returns: the rehearsals of all attempts, at least one.
        :raises LLMError: the language model gave no usable code.
        """
        ctx, name = self.ctx, self.sub_action.name
        tried: tuple[Rehearsal, ...] = ()
        for attempt in range(1 + ctx.settings.repairs):
            ctx.observer.stage("write", sub_action=name, attempt=attempt)
            stage = f"{self.folder}/actions/{name}/{attempt}"
            try:
                rehearsal = ctx.run.once(stage, Rehearsal, lambda: self._attempt(tried))  # noqa: B023
            except TranscriptEnded:
                if not tried:
                    raise
                ctx.observer.message(f"the recording has no further repair of {name}: there are no more attempts")
                break
            tried = (*tried, rehearsal)
            why = reason(rehearsal.why_not)
            ctx.observer.finished("write", sub_action=name, attempt=attempt, works=rehearsal.works, **why)
            if not rehearsal.failed:
                break
        return tried

    def _attempt(self, tried: tuple[Rehearsal, ...]) -> Rehearsal:
        """Write the coded action once more, after the attempts ``tried``, rehearse it, and let the critic review it."""
        ctx, name = self.ctx, self.sub_action.name
        brief = self.brief.model_copy(update={"repairs": ctx.settings.repairs - len(tried)})
        written = self._one if ctx.settings.candidates == 1 else self._best_of_several
        rehearsal = written(brief, tried)
        ctx.book.tell()
        if rehearsal.failed:
            return rehearsal
        if not rehearsal.exercised:
            ctx.observer.message(f"{name} could not start in its rehearsal, so its code has not run")
            return rehearsal.model_copy(update={"review": NOT_EXERCISED})
        if rehearsal.succeeded:
            return rehearsal  # Every episode of the rehearsal was a success, so no review is needed.
        ctx.observer.stage("review", sub_action=name)
        try:
            before = ctx.book.total
            review = self._review(brief, rehearsal)
            steps = rehearsal.steps + ctx.book.total - before
        except TranscriptEnded:  # The recorded run ended before the review of this attempt.
            ctx.observer.message(
                f"the recording has no review of {name}: the action is accepted, because it ran without an error"
            )
            return rehearsal
        return rehearsal.model_copy(update={"review": review, "steps": steps})

    def _one(self, brief: Brief, tried: tuple[Rehearsal, ...]) -> Rehearsal:
        """Write one version of the coded action, and rehearse it."""
        ctx = self.ctx
        action = self._written(brief, tried)
        ctx.observer.stage("rehearse", sub_action=self.sub_action.name)
        trace, steps, verdict, others = rehearse(
            ctx.plugin,
            ctx.task,
            self.kept,
            action,
            seeds=self._seeds,
            sandbox=ctx.sandbox,
            library=ctx.library,
            functions=brief.functions,
            reward_weights=self._weights(),
            on_step=ctx.book.counting("rehearsal"),
        )
        return Rehearsal(attempt=len(tried), action=action, steps=steps, trace=trace, verdict=verdict, others=others)

    def _best_of_several(self, brief: Brief, tried: tuple[Rehearsal, ...]) -> Rehearsal:
        """Write and rehearse several versions of the coded action, and return the best version with its rehearsal."""
        ctx, name = self.ctx, self.sub_action.name
        limits, weights = ctx.sandbox_limits.model_dump(), self._weights()

        def write(number: int) -> CodedAction:
            return self._written(brief.model_copy(update={"candidate": number}), tried)

        def job(number: int, action: CodedAction) -> CandidateJob:
            actions = (*self.kept, action)
            spec = EnvSpec(ctx.task, brief.default_setup, actions, ctx.factory, limits, functions=brief.functions)
            return CandidateJob(
                number, f"candidate {number} of {name}", spec=spec, seeds=self._seeds, reward_weights=weights
            )

        stage = f"{self.folder}/candidates/{name}/{len(tried)}-"
        return best_candidate(ctx, stage, len(tried), write, job)

    def _written(self, brief: Brief, tried: tuple[Rehearsal, ...]) -> CodedAction:
        """Ask the fast agent for the coded action."""
        fast = self.ctx.agents.fast
        return fast.write(brief, self.plan, self.sub_action, written=self.kept, attempts=tried, history=self.history)

    def _review(self, brief: Brief, rehearsal: Rehearsal) -> Review:
        """Ask the critic for a review of ``rehearsal``. If the critic needs frames, the rehearsal is played again, and
        its primitive steps are counted again.
        """
        ctx, index = self.ctx, len(self.history)
        critic, evidence = ctx.agents.critic, ctx.settings.evidence
        if evidence == "text" or not critic.supports_vision or rehearsal.trace is None:
            return critic.review(brief, self.sub_action, rehearsal, iteration=index)
        trace, count = rehearsal.trace, ctx.book.counting("rehearsal")

        def play(on_step: OnStep) -> None:
            def step(env: gymnasium.Env[Any, Any], number: int) -> None:
                count(env, number)
                on_step(env, number)

            rehearse(
                ctx.plugin,
                ctx.task,
                self.kept,
                rehearsal.action,
                seeds=(trace.seed,),
                sandbox=ctx.sandbox,
                library=ctx.library,
                functions=brief.functions,
                on_step=step,
                render_mode="rgb_array",
            )

        frames, why_none = shots(play, trace)
        if why_none:
            ctx.observer.message(why_none)
        return critic.review(brief, self.sub_action, rehearsal, iteration=index, evidence=evidence, frames=frames)

    @property
    def _seeds(self) -> tuple[int, ...]:
        """The seeds of a rehearsal's episodes."""
        return self.ctx.seeds.rehearsals(len(self.history), self.ctx.settings.rehearsal_episodes)

    def _weights(self) -> dict[str, float]:
        """The weights of the plugin's reward terms in a rehearsal, from the newest setup, or from the default setup in
        the first iteration.
        """
        setup = self.history[-1].setup if self.history else self.brief.default_setup
        known = [term.name for term in reward_terms_of(self.ctx.plugin, self.ctx.task)]
        return {name: weight for name, weight in setup.reward_weights.items() if name in known}
