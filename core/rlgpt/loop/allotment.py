"""Divides a run's budget of primitive steps between evaluations and trainings.

*Judging* is the evaluation of code and policy on the selection seeds. Judging decides whether an iteration keeps the
code or the policy.
"""

from __future__ import annotations

import math

from rlgpt.agents.base import History
from rlgpt.agents.build import Agents
from rlgpt.domain import Evaluation, RLSetup, Steps, Task
from rlgpt.loop.halving import episodes
from rlgpt.loop.settings import LoopSettings

LAST_SHARE = 0.1
"""Share of ``min_decisions`` that suffices for a training in the last iteration, because no later iteration can use the
steps.
"""


def max_iterations(settings: LoopSettings, agents: Agents) -> int:
    """Maximal number of iterations of the outer loop. The maximal number of iterations is 1 if no agent can revise plan
    or code.
    """
    return settings.iterations if agents.revise else 1


class Allotment:
    """Divides the primitive steps of one run among their purposes. Every number of steps that ``Allotment`` returns
    depends only on the settings of the run and on the steps that the run has spent so far.
    """

    def __init__(self, settings: LoopSettings, task: Task, agents: Agents) -> None:
        self._settings, self._task, self._agents = settings, task, agents
        self._iterations = max_iterations(settings, agents)
        self._judging = int((settings.judging if agents.train else 1.0) * settings.budget)

    @property
    def _parts(self) -> int:
        """Number of equal parts of all steps for judging. In each iteration, code and policy have one part each, and
        the halving between several plans has two parts.
        """
        return (4 if self._settings.plans > 1 else 2) * self._iterations

    @property
    def _share(self) -> int:
        return self._judging // self._parts

    @property
    def limit(self) -> int:
        """Maximal length, in primitive steps, of an episode that is played for judging. With this limit, each iteration
        has enough steps for one episode of code and one episode of the policy.
        """
        return min(self._task.horizon, max(1, self._share))

    def judging(self, history: History, here: Steps, *, last: bool = False) -> int:
        """Number of primitive steps that judging may still take in the iteration after ``history``.

        Judging steps that earlier iterations did not use are divided equally among this iteration and the later
        iterations. A training ends with a whole decision, so it may take a few steps more than it was given; judging
        then gets as many steps less. Steps that a kill lost do not shorten the judging, so that a resumed run has the
        same result.

        :param here: primitive steps of the finished stages of the current iteration.
        :param last: whether the current iteration is the last iteration, which gets all remaining steps.
        """
        before = sum((i.steps for i in history), Steps())
        share = (self._judging - before.code - before.selection) // self._left(history, last=last)
        used = (before + here).model_copy(update={"lost": 0}).total
        return max(0, min(share - here.code - here.selection, self._settings.budget - used))

    def confirmation(self, history: History, here: Steps, episodes: int) -> int:
        """Maximal number of primitive steps for the confirmation episodes of code that has reached the target so far.

        The confirmation episodes may take the steps that are left for judging. If ``episodes`` episodes of the maximal
        length need more steps than that, they may take up to half of the remaining steps of the run. (If code solves
        the task, learning needs no steps.)

        :param episodes: number of selection episodes that the code has not played yet.
        """
        spent = sum((i.steps for i in history), here).total
        unspent = max(0, self._settings.budget - spent)
        return max(self.judging(history, here), min(max(0, episodes) * self.limit, unspent // 2))

    def halving(self, history: History) -> int:
        """Maximal number of primitive steps for the halving between the plans of an iteration, which is half of the
        steps for judging.
        """
        return self.judging(history, Steps()) // 2

    def code_first(self, history: History, halving: int = 0) -> int:
        """Maximal number of primitive steps for the first evaluation of code in an iteration. If the run trains
        policies, the first evaluation of code may take half of the steps for judging; else it may take all of them.

        :param halving: primitive steps of the halving between the plans of the iteration.
        """
        judging = self.judging(history, Steps(code=halving))
        return judging // 2 if self._agents.train else judging

    def training(
        self, history: History, here: Steps, *, with_code: bool, modes: int, tuned: bool = False, last: bool = False
    ) -> int:
        """Number of primitive steps of a training that would begin now. The primitive steps that are not reserved for
        judging are divided equally among the trainings of this iteration and the later iterations. Steps for the first
        seed of the race after the training are always reserved, even if code has used all steps for judging.

        :param here: primitive steps of the current iteration so far, including steps whose results were lost in a kill.
        :param with_code: whether the policy competes with code in the race after the training.
        :param modes: number of modes in which the policy is judged (:data:`rlgpt.domain.events.Mode`).
        :param tuned: whether tuned code may be a further candidate of the race after the training.
        :param last: whether the current iteration is the last iteration, which gets all remaining steps.
        """
        settings, left = self._settings, self._left(history, last=last)
        finalists = (2 if with_code else 0) + tuned
        race = settings.selection_episodes * (modes + tuned) + finalists * settings.confirmation_episodes
        judged = min(self.judging(history, here, last=last), race * self.limit)
        reserved = max(judged, (modes + tuned) * self.limit)
        halving = episodes(settings.plans, settings.selection_episodes)
        later = min(self._judging // self._iterations, (settings.selection_episodes + race + halving) * self.limit)
        spent = sum((i.steps for i in history), here).total
        return max(1, (settings.budget - spent - reserved - (left - 1) * later) // left)

    def is_last(self, history: History) -> bool:
        """Whether the iteration that follows ``history`` is the last iteration of the run."""
        return len(history) + 1 >= self._iterations

    def _left(self, history: History, *, last: bool) -> int:
        """Number of iterations that may still run after ``history``, at least 1."""
        return 1 if last else max(1, self._iterations - len(history))

    def enough(self, steps: int, code: Evaluation, setup: RLSetup, history: History, *, last: bool) -> tuple[bool, int]:
        """Estimate the number of decisions in a training of ``steps`` primitive steps. Returns whether the training has
        enough decisions, and the estimated number of decisions.
        """
        decisions = self.decisions(steps, history, setup, code) or 0
        return decisions >= self.least(last=last), decisions

    def least(self, *, last: bool) -> int:
        """Minimal number of decisions with which a training is worth its steps. In the last iteration, a training needs
        fewer decisions, because nothing else can use the steps.
        """
        return math.ceil(self._settings.min_decisions * (LAST_SHARE if last else 1))

    def decisions(self, steps: int, history: History, setup: RLSetup, code: Evaluation | None = None) -> int | None:
        """Estimated number of decisions in a training of ``steps`` primitive steps; None without a result to estimate
        from.

        The estimate uses the steps per decision of the newest training, if that training had the same
        ``interrupt_every`` as ``setup``. If there was no training yet, or the newest training had another
        ``interrupt_every``, the estimate uses the newest evaluation of code. In both cases, the estimate is at least
        one decision in every ``setup.interrupt_every`` steps.

        :param code: evaluation of the code of the current iteration; None if the code was not played.
        """
        every = setup.interrupt_every
        trained = [i for i in history if i.training is not None and i.training.decisions]
        alike = [i.training for i in trained if i.setup.interrupt_every == every and i.training is not None]
        codes = [c for c in (*(i.code_evaluation for i in history), code) if c is not None and c.episodes]
        if alike and trained[-1].training is alike[-1]:
            taken, made = alike[-1].primitive_steps, alike[-1].decisions
        elif codes:
            taken, made = codes[-1].primitive_steps, sum(e.decisions for e in codes[-1].episodes)
        else:
            return None
        return round(steps * max(made / max(1, taken), 1 / every if every else 0.0))

    def note(self) -> str:
        """A message to the user if the budget is too small for all judging episodes at full length; else empty."""
        settings, task = self._settings, self._task
        wanted, share = settings.selection_episodes, self._share
        if share >= wanted * task.horizon:
            return ""
        fewer = max(1, share // self.limit)
        length = f"{self.limit:,} of {task.horizon:,} steps" if self.limit < task.horizon else f"{task.horizon:,} steps"
        return (
            f"note: budget={settings.budget:,} allows judging code and the policy in {fewer} "
            f"episode{'s' if fewer > 1 else ''} each, of {length}, instead of {wanted} episodes in each iteration. If "
            "episodes end earlier, more of them are played. All episodes need "
            f"budget={self._enough():_}, or a shorter horizon if episodes are shorter."
        )

    def _enough(self) -> int:
        share = self._settings.judging if self._agents.train else 1.0
        return int(self._parts * self._settings.selection_episodes * self._task.horizon / share) + 1
