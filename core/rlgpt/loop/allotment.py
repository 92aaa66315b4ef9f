"""How a run divides its budget of primitive steps between evaluations and trainings.

*Judging* is the evaluation of code and policy on the selection seeds, which decides what an iteration keeps.
"""

from __future__ import annotations

from rlgpt.agents.base import History
from rlgpt.agents.build import Agents
from rlgpt.domain import Evaluation, Steps, Task
from rlgpt.loop.settings import LoopSettings

LAST_SHARE = 0.1
"""The last iteration trains with this share of ``min_decisions``, because no later iteration could use its steps."""


def max_iterations(settings: LoopSettings, agents: Agents) -> int:
    """Most iterations of the outer loop: one if no agent revises anything."""
    return settings.iterations if agents.revise else 1


class Allotment:
    """Divides the primitive steps of one run by purpose. Its methods depend only on the steps spent so far."""

    def __init__(self, settings: LoopSettings, task: Task, agents: Agents) -> None:
        self._settings, self._task, self._agents = settings, task, agents
        self._iterations = max_iterations(settings, agents)
        self._judging = int((settings.judging if agents.train else 1.0) * settings.budget)

    @property
    def limit(self) -> int:
        """Most primitive steps of a judged episode: each iteration can pay for one of code and one of the policy."""
        return min(self._task.horizon, max(1, self._judging // (2 * self._iterations)))

    def judging(self, history: History, here: Steps) -> int:
        """Primitive steps that judging may still take in the iteration after ``history``.

        What earlier iterations left unused is divided equally among this iteration and the later ones.

        :param here: steps of the finished stages of this iteration.
        """
        spent = sum(i.steps.code + i.steps.selection for i in history)
        share = (self._judging - spent) // max(1, self._iterations - len(history))
        return max(0, share - here.code - here.selection)

    def code_first(self, history: History) -> int:
        """Most steps for the code's first episodes: half of those for judging if a policy is trained, else all."""
        judging = self.judging(history, Steps())
        return judging // 2 if self._agents.train else judging

    def training(self, history: History, here: Steps, *, with_code: bool, modes: int, last: bool = False) -> int:
        """Primitive steps of a training that begins now: an equal share of the steps not reserved for judging.

        :param here: steps of this iteration so far, lost ones included.
        :param with_code: the policy is raced against code.
        :param modes: ways in which the policy may act.
        :param last: no iteration comes after this one, so it gets all remaining steps.
        """
        settings, left = self._settings, 1 if last else max(1, self._iterations - len(history))
        race = settings.selection_episodes * modes + (2 * settings.confirmation_episodes if with_code else 0)
        reserved = min(self.judging(history, here), race * self.limit)
        later = min(self._judging // self._iterations, (settings.selection_episodes + race) * self.limit)
        spent = sum((i.steps for i in history), here).total
        return max(1, (settings.budget - spent - reserved - (left - 1) * later) // left)

    def is_last(self, history: History) -> bool:
        """Whether no iteration can come after the one that follows ``history``."""
        return len(history) + 1 >= self._iterations

    def enough(self, steps: int, code: Evaluation, history: History, *, last: bool) -> tuple[bool, float]:
        """Whether a training of ``steps`` primitive steps is worth it, and how many decisions it has.

        The number of decisions is estimated from the steps per decision of the newest training, or of the code's
        episodes if there was no training yet. A training is worth it with at least ``min_decisions`` decisions, or a
        tenth of them in the last iteration.
        """
        trainings = [i.training for i in history if i.training is not None and i.training.decisions]
        taken = trainings[-1].primitive_steps if trainings else code.primitive_steps
        made = trainings[-1].decisions if trainings else sum(e.decisions for e in code.episodes)
        decisions = steps * made / max(1, taken)
        return decisions >= self._settings.min_decisions * (LAST_SHARE if last else 1), decisions

    def note(self) -> str:
        """The note to the user if the budget does not pay for all full-length episodes of judging; else ""."""
        settings, task = self._settings, self._task
        wanted, share = settings.selection_episodes, self._judging // (2 * self._iterations)
        if share >= wanted * task.horizon:
            return ""
        fewer = max(1, share // self.limit)
        length = f"{self.limit:,} of {task.horizon:,} steps" if self.limit < task.horizon else f"{task.horizon:,} steps"
        return (
            f"note: in an iteration, budget={settings.budget:,} pays for judging code and the policy in {fewer} "
            f"episode{'s' if fewer > 1 else ''} each, of {length}, instead of {wanted}: more if they end earlier. "
            f"budget={self._enough()} or more is enough for all."
        )

    def _enough(self) -> int:
        share = self._settings.judging if self._agents.train else 1.0
        return int(2 * self._iterations * self._settings.selection_episodes * self._task.horizon / share) + 1
