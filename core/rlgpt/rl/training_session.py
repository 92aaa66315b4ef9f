"""One session of a training by PPO or soft actor-critic, from its start or its last checkpoint to its end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from rlgpt.domain import CurvePoint, TrainingRecord
from rlgpt.rl.actor_learner import ActorLearner
from rlgpt.rl.base import EnvSpec, Progress
from rlgpt.rl.base_only import BaseOnly, Masks, can_compare
from rlgpt.rl.best import is_best, recent_performance
from rlgpt.rl.checkpoint import Returns, TrainingState
from rlgpt.rl.collecting import RolloutSource
from rlgpt.rl.network import PolicyNetwork
from rlgpt.rl.parameter_search import ParameterSearch
from rlgpt.rl.resume import save
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.training_stats import TrainingStats
from rlgpt.rl.vector import with_quarantined


class TrainingSession:
    """The state of one call of :meth:`rlgpt.rl.ppo.PPO.train`.

    :param base_only: the setting ``base_only`` of the trainer.
    """

    def __init__(
        self,
        spec: EnvSpec,
        state: TrainingState,
        actor_learner: ActorLearner,
        generator: torch.Generator,
        folder: Path,
        base_only: float,
    ) -> None:
        self.stats = TrainingStats(state.tally)
        self.spec = with_quarantined(spec, self.stats.quarantined)
        self._actor_learner, self.learner = actor_learner, actor_learner.learner
        self.generator, self.folder = generator, folder
        self.decisions, self._before, self._start = state.decisions, state.seconds, time.monotonic()
        self._given, self._best = tuple(n for n in spec.quarantined if n in spec.maskable), state.best
        self._search = state.search
        setup, layout = spec.setup, actor_learner.learner.network.layout
        self._base_only = BaseOnly(setup.coded_actions, base_only, spec.task.score, state.base_only)
        self._compares = base_only > 0 and can_compare(setup.coded_actions, layout)
        self._collects = self._compares and actor_learner.learner.learns_primitive_steps

    @property
    def actor(self) -> PolicyNetwork:
        """The network that acts in the environments."""
        return self._actor_learner.actor

    def segments(
        self,
        source: RolloutSource,
        step_counter: StepCounter,
        budget: int,
        every: int,
        progress: Progress | None,
        *,
        search_end: int,
    ) -> bool:
        """Train until ``budget`` primitive steps are counted, until ``progress`` requests a stop, or until the recipe
        :attr:`stage_spec` of the environments changes.

        :param search_end: number of primitive steps of the training at which the parameter search ends.
        :returns: whether the training is over. If the training is not over, it goes on with new environments of the
            changed recipe.
        """
        before, actor_learner = self.stage_spec, self._actor_learner
        length, end = self.learner.rollout_length, step_counter.total + every
        searching = self._searching()
        masks = self._masks(step_counter.total, budget)
        source.mask(masks)

        while True:
            limit = budget if searching is None else min(end, search_end, budget)
            rollout = source.collect(length, limit, searching)
            self.decisions += rollout.decisions
            spent = step_counter.total
            if searching is None:
                actor_learner.update(rollout)
            else:
                self.learner.remember(rollout)
                searching.add(rollout)
                self._search = searching.state
            searched = searching is not None and (spent >= search_end or searching.is_over(search_end))
            if spent < min(end, limit) and not searched:
                continue
            actor_learner.wait()
            end = spent + every
            point = self.stats.close_point(primitive_steps=spent, decisions=self.decisions)
            self.stats.close_segment()
            performance = recent_performance(self._learnt(), self.spec.task.score)
            best = point is not None and is_best(performance, self._best)
            self._best = performance if best else self._best
            if searching is not None and searched:
                searching.finish(self.generator)
                actor_learner.wait()
                self._search, searching = searching.state.model_copy(update={"ended": spent}), None
            if self._is_comparing and self._base_only.decide(spent, self._progress(spent, budget)):
                self._best, best = None, True
            if masks != (masks := self._masks(spent, budget)):
                source.mask(masks)
            # As long as too few episodes have ended for a comparison, the newest policy is the best one.
            best = best or self._best is None
            comparing = self._is_comparing and self._base_only.since is None
            save(self.folder, self._state(), self.learner, self.generator, best=best, comparing=comparing)
            stop = progress is not None and point is not None and progress(point)
            if stop or spent >= budget:
                return True
            if self.stage_spec.setup != before.setup:
                return False

    @property
    def stage_spec(self) -> EnvSpec:
        """The recipe of the environments in the present stage of the training. During a parameter search, every episode
        begins at the task's own start. An episode that begins after some of the coded actions would not depend on the
        parameters of these actions.
        """
        if not self._is_searching:
            return self.spec
        return replace(self.spec, setup=self.spec.setup.model_copy(update={"reset_option": None}), starts=())

    def _masks(self, spent: int, budget: int) -> Masks:
        """The masks of the next episodes, after ``spent`` of the training's ``budget`` primitive steps."""
        names = (*self._given, *self._quarantined)
        self.stats.base_only = self._base_only if self._is_comparing else None
        if self._is_comparing:
            masks = self._base_only.masks(names, self._progress(spent, budget))
            leads = self._collects and self.spec.setup.interrupt_every is not None
            return replace(masks, collects=self._collects and masks.share > 0, longest=masks.longest if leads else 0)
        return Masks(names, self.spec.setup.coded_actions if self._compares else (), collects=self._collects)

    @property
    def _quarantined(self) -> tuple[str, ...]:
        """The coded actions and functions with too many violations, without the predicate of a sub-task."""
        return tuple(name for name in self.stats.quarantined if name in self.spec.maskable)

    @property
    def _is_comparing(self) -> bool:
        """Whether some episodes are base-only episodes. A parameter search has none."""
        return self._compares and not self._is_searching

    def _progress(self, spent: int, budget: int) -> float:
        """Share of the primitive steps after a parameter search that are spent."""
        begun = 0 if self._search is None else self._search.ended or 0
        return (spent - begun) / max(1, budget - begun)

    @property
    def _is_searching(self) -> bool:
        return self._search is not None and self._search.ended is None

    def _searching(self) -> ParameterSearch | None:
        """The parameter search in progress; None if the training has no search, or if the search has ended."""
        if self._search is None or not self._is_searching:
            return None
        learner = self.learner
        return ParameterSearch(learner.network, learner.hyperparameters.initial_std, self._search)

    def _learnt(self) -> Sequence[CurvePoint]:
        """The points of the learning curve in which the policy acted as it does now, so after a parameter search, and
        after coded actions were masked.
        """
        if self._is_searching:
            return ()
        begun = (self._base_only.since, None if self._search is None else self._search.ended)
        return [p for p in self.stats.curve if p.primitive_steps > max((n for n in begun if n is not None), default=0)]

    def record(self, name: str, spent: int) -> TrainingRecord:
        stats = self.stats.state()
        return TrainingRecord(
            trainer=name,
            primitive_steps=spent,
            decisions=self.decisions,
            seconds=self._seconds,
            curve=stats.curve,
            verdicts=stats.verdicts,
            quarantined=self._quarantined,
            base_only=self.spec.setup.coded_actions if self._base_only.since is not None else (),
            compared=self._is_comparing and not self._base_only.is_worse,
            search=None if self._search is None else self._search.record(self.learner.network.layout),
        )

    @property
    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._start

    def _state(self) -> TrainingState:
        return TrainingState(
            hyperparameters=self.learner.hyperparameters,
            axis_names=self.learner.network.axis_names(),
            decisions=self.decisions,
            seconds=self._seconds,
            tally=self.stats.state(),
            best=self._best,
            returns=Returns.of(self.spec.setup, self.spec.functions, self.learner.hyperparameters),
            search=self._search,
            base_only=self._base_only.state,
        )
