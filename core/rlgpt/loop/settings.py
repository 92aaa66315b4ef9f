"""How much a run may spend, and on which seeds."""

from __future__ import annotations

from pydantic import Field

from rlgpt.domain import Value


class LoopSettings(Value):
    """SandboxLimits of the two loops. Steps are primitive steps, all of them since the run began.

    The reported evaluation is on seeds of its own and outside the budget; everything else is inside.
    """

    budget: int = Field(default=60_000, ge=1, description="primitive steps in all")
    iterations: int = Field(default=2, ge=1, description="turns of the outer loop at most")
    repairs: int = Field(default=2, ge=0, description="repairs of one coded action at most, each iteration")
    target_success: float = Field(default=0.95, gt=0, le=1, description="on the selection seeds; ends the run")
    selection_episodes: int = Field(
        default=10, ge=1, description="by which code alone and each policy are judged, and the best is chosen"
    )
    report_episodes: int = Field(default=50, ge=1, description="episodes of the reported figure, sampled and greedy")
    traces: int = Field(default=2, ge=0, description="episodes traced for the critic")
    seed: int = Field(default=0, ge=0, le=1000)


class Seeds:
    """Disjoint sets of episode seeds, derived from a run's seed (runs of different seeds share none either).

    All are below 2**30, where no episode of training has its seed (``rl.policy_env.TRAINING_SEEDS``): what is drawn
    from one, a road say, is held out.
    """

    def __init__(self, seed: int) -> None:
        self._base = seed * 1_000_000

    def rehearsal(self, iteration: int) -> int:
        return self._base + 100_000 + iteration

    def selection(self, n: int) -> tuple[int, ...]:
        return tuple(self._base + 400_000 + i for i in range(n))

    def report(self, n: int) -> tuple[int, ...]:
        return tuple(self._base + 600_000 + i for i in range(n))

    def training(self, iteration: int) -> int:
        return self._base + 800_000 + iteration
