"""How a run uses plans, in words: told to the agents in a measured slot, for it is no part of task or template."""

from __future__ import annotations

from rlgpt.domain import Plain, Value


class Mode(Value):
    """What becomes of a plan in this run.

    It stands in a measured slot, so that the ablations share transcripts; a replay notes where it was recorded in
    another mode.

    :ivar learns: the policy is trained; without, the plan's coded actions are run in order.
    :ivar training_steps: primitive steps of each training, where known.
    :ivar iterations: turns of the outer loop, where known.
    """

    learns: bool = True
    training_steps: int | None = None
    iterations: int | None = None

    def text(self, iteration: int) -> str:
        turn = f"This is iteration {iteration}" + (f" (of 0 to {self.iterations - 1}). " if self.iterations else ". ")
        if not self.learns:
            return (
                f"# How this run uses the plan\n{turn}There is no reinforcement learning in this run: the plan's coded "
                "actions are run in the plan's order, with default parameter values, and from the first again after "
                "the last, until the episode ends. That is all; a sub-action of kind `rl` is skipped. So everything "
                "must be code, in the order that leads to success."
            )
        steps = f" for {self.training_steps} primitive steps" if self.training_steps else ""
        return f"# How this run uses the plan\n{turn}A policy is trained{steps} in this iteration, and evaluated."

    def measured(self) -> dict[str, Plain]:
        return {} if self.learns else {"mode": "code only"}
