"""Renders the text of a measured slot: how a run uses its plans, and how many steps the training will have."""

from __future__ import annotations

from rlgpt.agents.base import Brief, Training
from rlgpt.agents.text import number
from rlgpt.domain import Plain, Task, Value

TITLE = "# This iteration"


class Mode(Value):
    """How this run uses a plan.

    The text about a ``Mode`` fills a measured slot, so fingerprints of prompts do not depend on it, and ablations can
    replay the recordings of the full method. A replay prints a message if its recording was made with another ``Mode``.

    :ivar learns: whether a policy is trained. If ``learns`` is False, the run plays the plan's coded actions in order.
    :ivar iterations: maximal number of iterations of the outer loop; None if this number is unknown.
    """

    learns: bool = True
    iterations: int | None = None

    def text(self, iteration: int, brief: Brief) -> str:
        """The text about the mode of the run and about the iteration in progress."""
        if not self.learns:
            return (
                f"{TITLE}\n{self._count(iteration)} There is no reinforcement learning in this run: the plan's coded "
                "actions run in the plan's order, with default parameter values, and from the first again after the "
                "last, until the episode ends. A sub-action of kind `rl` is skipped, so everything must be code."
            )
        sentences = [self._count(iteration)]
        if (training := brief.training) is not None:
            sentences += [_target(training, brief.task), *_training(training, last=self._is_last(iteration))]
        return f"{TITLE}\n{' '.join(sentences)}"

    def over(self, iteration: int) -> str:
        """The text about a finished iteration."""
        ended = "was the last planned" if self._is_last(iteration) else "is over"
        return f"{TITLE}\nIteration {iteration + 1} {ended}."

    def measured(self) -> dict[str, Plain]:
        return {} if self.learns else {"mode": "code only"}

    def _count(self, iteration: int) -> str:
        """A sentence with the number of the iteration in progress. Prompts count iterations from 1."""
        if self.iterations is None:
            return f"This is iteration {iteration + 1}."
        last = ", the last one" if self._is_last(iteration) else ""
        return f"This is iteration {iteration + 1} of at most {self.iterations}{last}."

    def _is_last(self, iteration: int) -> bool:
        return self.iterations is not None and iteration + 1 >= self.iterations


def _target(training: Training, task: Task) -> str:
    if training.target is None:
        return "The score has no target: the run goes on until its budget or its iterations are used."
    where = f" in at least {training.episodes} episodes" if training.episodes else ""
    if task.success:
        return f"The run ends when code or policy has a success rate of {training.target:g} or more{where}."
    unit = f" {task.score.unit}" if task.score is not None and task.score.unit else ""
    return f"The run ends when code or policy has a mean score of {number(training.target)}{unit} or better{where}."


def _training(training: Training, *, last: bool) -> list[str]:
    steps, decisions, least = training.steps, training.decisions, training.least
    about = f", about {decisions:,} decisions" if decisions is not None else ""
    who = "A policy" if training.target is None else "Unless code alone reaches this, a policy"
    sentences = [f"{who} may be trained for {steps:,} primitive steps{about}."]
    if not least:
        return sentences
    rate = f"{least:,} decisions, one in {number(steps / least)} primitive steps on average"
    if last:
        rule = "fewer than in other iterations, because nothing else can use the steps"
        sentences.append(f"This needs at least {rate} ({rule}); with fewer, no policy is trained.")
    else:
        at_last = f" ({training.least_at_last:,} in the last iteration, where nothing else can use the steps)"
        sentences.append(
            f"This needs at least {rate}{at_last * bool(training.least_at_last)}; with fewer, no policy is trained, "
            "and the next iteration gets the steps."
        )
    if decisions is not None and decisions < least:
        sentences.append("So only better code helps now.")
    return sentences
