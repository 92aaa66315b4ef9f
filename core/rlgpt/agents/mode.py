"""How a run uses a plan, and what learning will get, as text for a measured slot of the prompts."""

from __future__ import annotations

from rlgpt.agents.base import Brief, Training
from rlgpt.agents.text import number
from rlgpt.domain import Plain, Task, Value

TITLE = "# This iteration"


class Mode(Value):
    """How this run uses a plan.

    The text fills a measured slot of the prompts, which no fingerprint contains, so ablations can share transcripts. A
    replay reports a transcript that was recorded in another mode.

    :ivar learns: whether a policy is trained. False: the plan's coded actions run in order.
    :ivar iterations: number of iterations of the outer loop, if known.
    """

    learns: bool = True
    iterations: int | None = None

    def text(self, iteration: int, brief: Brief) -> str:
        """The text of the iteration in progress."""
        if not self.learns:
            return (
                f"{TITLE}\n{self._count(iteration)} There is no reinforcement learning in this run: the plan's coded "
                "actions are run in the plan's order, with default parameter values, and from the first again after "
                "the last, until the episode ends. That is all; a sub-action of kind `rl` is skipped. So everything "
                "must be code, in the order that leads to success."
            )
        sentences = [self._count(iteration)]
        if (training := brief.training) is not None:
            sentences += [_target(training, brief.task), *_training(training, last=self._is_last(iteration))]
        return f"{TITLE}\n{' '.join(sentences)}"

    def over(self, iteration: int) -> str:
        """The text of a finished iteration."""
        ended = "was the last planned" if self._is_last(iteration) else "is over"
        return f"{TITLE}\nIteration {iteration} {ended}."

    def measured(self) -> dict[str, Plain]:
        return {} if self.learns else {"mode": "code only"}

    def _count(self, iteration: int) -> str:
        if self.iterations is None:
            return f"This is iteration {iteration}."
        last = ": the last one" if self._is_last(iteration) else ""
        return f"This is iteration {iteration} of 0 to {self.iterations - 1}{last}."

    def _is_last(self, iteration: int) -> bool:
        return self.iterations is not None and iteration + 1 >= self.iterations


def _target(training: Training, task: Task) -> str:
    if training.target is None:
        return "There is no target: the run uses its budget."
    if task.success:
        return f"The run ends where code or policy has a success rate of {training.target:g} or more."
    unit = f" {task.score.unit}" if task.score is not None and task.score.unit else ""
    return f"The run ends where code or policy has a mean score of {number(training.target)}{unit} or better."


def _training(training: Training, *, last: bool) -> list[str]:
    steps, decisions, least = training.steps, training.decisions, training.least
    about = f", about {decisions:,} decisions" if decisions is not None else ""
    sentences = [f"Else the training of a policy would have {steps:,} primitive steps{about}."]
    if least and decisions is not None and decisions < least:
        rest = "" if last else ", and the steps go to the next iteration"
        sentences.append(f"With fewer than {least:,} decisions none is trained{rest}: only better code helps now.")
    elif least:
        sentences.append(f"With fewer than {least:,} decisions none is trained.")
    return sentences
