"""The settings of the two loops, and the seeds of a run."""

from __future__ import annotations

from pydantic import Field

from rlgpt.agents.base import Evidence
from rlgpt.domain import Mode, Value


class LoopSettings(Value):
    """The settings of the inner and the outer loop. All episodes of a run count towards its budget of primitive steps,
    except the episodes of the report, which have separate seeds.
    """

    budget: int = Field(default=60_000, ge=1, description="primitive steps of the run, without those of the report")
    iterations: int = Field(default=2, ge=1, description="maximal number of iterations of the outer loop")
    repairs: int = Field(default=2, ge=0, description="maximal number of repairs of one coded action in one iteration")
    candidates: int = Field(
        default=1,
        ge=1,
        le=16,
        description="versions of a coded action that are written and rehearsed at each attempt; the best one goes on",
    )
    plans: int = Field(
        default=1,
        ge=1,
        le=16,
        description="plans that the slow agent writes in each iteration; their code plays, and the best plan goes on",
    )
    target_success: float = Field(
        default=0.95, gt=0, le=1, description="success rate on the selection seeds that ends the run"
    )
    target_score: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="mean score on the selection seeds that ends the run, without a success; null: the task's target",
    )
    selection_episodes: int = Field(
        default=10, ge=1, description="number of episodes with which code or policy is evaluated for the selection"
    )
    confirmation_episodes: int = Field(
        default=20,
        ge=0,
        description="maximal number of further selection episodes, if code seems to solve the task or a race is open",
    )
    judging: float = Field(
        default=0.25, gt=0, le=1, description="maximal share of the budget for judging, in a run that learns"
    )
    sharpness: float | None = Field(
        default=None, gt=0, description="power to which the mode sharpened raises probabilities; null: no such mode"
    )
    min_decisions: int = Field(
        default=2000,
        ge=0,
        description="minimal number of decisions of a training; with fewer, the next iteration gets the steps",
    )
    evidence: Evidence = Field(
        default="text", description="evidence for the critic's review of a rehearsal, if its model accepts images"
    )
    rehearsal_episodes: int = Field(
        default=3,
        ge=1,
        le=100,
        description="number of episodes in which a coded action or a function is rehearsed",
    )
    report_episodes: int = Field(
        default=50, ge=1, description="number of episodes of the report, on fresh seeds; not part of the budget"
    )
    traces: int = Field(
        default=2, ge=0, description="number of traced episodes of each evaluation, which the critic reads"
    )
    seed: int = Field(default=0, ge=0, le=1000, description="seed of the run, from which all other seeds are derived")

    def modes(self, *, trained: bool) -> tuple[Mode, ...]:
        """The modes in which a policy may act, the preferred mode first. If several modes have equal results in the
        selection, the first of these modes is kept. Greedy play succeeds a little more often in the measured trainings
        (docs/benchmarks/learning.md, "Selection"). An untrained policy only acts by samples, because its most likely
        choice is arbitrary.
        """
        if not trained:
            return ("sampled",)
        return ("greedy", "sampled") if self.sharpness is None else ("greedy", "sharpened", "sampled")


class Seeds:
    """Disjoint sets of episode seeds, derived from the seed of a run. Runs with different seeds have no common episode
    seed in these sets.

    All seeds in ``Seeds`` are below 2**30, and the episodes of a training have larger seeds, which are drawn at random
    (``rl.policy_env.TRAINING_SEEDS``). No evaluation therefore repeats an episode of a training.
    """

    def __init__(self, seed: int) -> None:
        self._base = seed * 1_000_000

    def rehearsal(self, iteration: int) -> int:
        return self._base + 100_000 + iteration

    def rehearsals(self, iteration: int, n: int) -> tuple[int, ...]:
        """Seeds of the rehearsal episodes of an iteration. The first of the rehearsal seeds is the result of
        :meth:`rehearsal`.
        """
        return tuple(self.rehearsal(iteration) + 1_000 * i for i in range(n))

    def starts(self, iteration: int, n: int) -> tuple[int, ...]:
        """Seeds of the episodes that are played to reach the states in which training episodes begin."""
        return tuple(self._base + 200_000 + 100 * iteration + i for i in range(n))

    def halving(self, iteration: int, n: int) -> tuple[int, ...]:
        """Seeds of the episodes in which the code of several plans is compared."""
        return tuple(self._base + 300_000 + 100 * iteration + i for i in range(n))

    def selection(self, n: int) -> tuple[int, ...]:
        return tuple(self._base + 400_000 + i for i in range(n))

    def report(self, n: int) -> tuple[int, ...]:
        return tuple(self._base + 600_000 + i for i in range(n))

    def training(self, iteration: int) -> int:
        return self._base + 800_000 + iteration
