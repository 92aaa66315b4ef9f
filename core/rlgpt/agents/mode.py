"""How a run uses a plan, as text for a measured slot of the prompts."""

from __future__ import annotations

from rlgpt.domain import Plain, Value


class Mode(Value):
    """How this run uses a plan.

    The text fills a measured slot, so that the ablations share transcripts. A replay reports where a transcript was
    recorded in another mode.

    :ivar learns: the policy is trained. False: the plan's coded actions run in order.
    :ivar iterations: iterations of the outer loop, where known.
    """

    learns: bool = True
    iterations: int | None = None

    def text(self, iteration: int, training_steps: int | None = None) -> str:
        """The text of an iteration.

        :param training_steps: primitive steps of its training, where known.
        """
        turn = f"This is iteration {iteration}" + (f" (of 0 to {self.iterations - 1}). " if self.iterations else ". ")
        if not self.learns:
            return (
                f"# How this run uses the plan\n{turn}There is no reinforcement learning in this run: the plan's coded "
                "actions are run in the plan's order, with default parameter values, and from the first again after "
                "the last, until the episode ends. That is all; a sub-action of kind `rl` is skipped. So everything "
                "must be code, in the order that leads to success."
            )
        steps = f" for {training_steps} primitive steps" if training_steps else ""
        return f"# How this run uses the plan\n{turn}A policy is trained{steps} in this iteration, and evaluated."

    def measured(self) -> dict[str, Plain]:
        return {} if self.learns else {"mode": "code only"}
