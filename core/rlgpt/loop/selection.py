"""Selects between code, tuned code and policy, and finds the policy's best mode, by a race on the selection seeds. The
episodes of the race are stored in blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rlgpt.domain import Episode, Evaluation, Value
from rlgpt.loop.race import Race
from rlgpt.rl.evaluation import Judge, together
from rlgpt.rl.play import Acting

BLOCK = 5
"""Number of seeds in one stored block. If the process is killed, at most the episodes of one block are lost."""

CODE, TUNED = "code", "tuned"


class Block(Value):
    """The episodes of a range of seeds. A block has one evaluation for each candidate that played any seed of the
    block.
    """

    evaluations: tuple[Evaluation, ...]


class Selection:
    """A race between code, tuned code and the policy in several modes (:data:`rlgpt.domain.events.Mode`).

    On the first seeds, all modes of the policy race. After ``least`` seeds, only the best mode of the policy continues
    against code and tuned code; if there is code, this happens already when the modes have taken half of ``steps``, so
    that the best mode plays more of the seeds that code has played. A candidate that is dropped from the race plays no
    further episode. If the policy is dropped, code and tuned code continue their race.
    :attr:`rlgpt.domain.Iteration.kept` says which candidate is kept, even if several candidates are equal.

    :param players: for each candidate of the race, the judge that plays its episodes and the function that chooses its
        actions. The candidate ``code`` exists if there are coded actions, and the candidate ``tuned`` if a parameter
        search found values.
    :param seeds: all seeds that may be played, in order.
    :param code: the episodes of code that were played before the race; None if there is no code.
    :param steps: maximal number of primitive steps of the race. After the first seed, a seed is played only if
        ``steps`` suffice for an episode of each waiting candidate that is as long as the candidate's longest episode so
        far. The race exceeds ``steps`` only if a later episode is longer.
    """

    def __init__(
        self,
        players: Mapping[str, tuple[Judge, Acting]],
        seeds: Sequence[int],
        *,
        code: Evaluation | None,
        least: int,
        steps: int,
        traces: int,
    ) -> None:
        self._players, self._seeds, self._least = players, seeds, least
        self._steps, self._traces, self._taken = steps, traces, 0
        self._parts: dict[str, list[Evaluation]] = {name: [] for name in players}
        if code is not None:
            self._parts[CODE].append(code)
        self._modes = [name for name in players if name not in (CODE, TUNED)]
        self._race = Race(tuple(players))
        self.cut_short = False

    def run(self, stored: Callable[[int], Block | None], store: Callable[[int, Block], None]) -> None:
        """Play until the race is over.

        :param stored: a function that returns block n if the block was played before the run was resumed. A stored
            block with other modes, for example after a change of settings, is played again.
        :param store: a function that stores a block, and that is called after each block that was played.
        """
        for number in range(-(-len(self._seeds) // BLOCK)):
            indices = range(number * BLOCK, min(len(self._seeds), (number + 1) * BLOCK))
            block = stored(number)
            if block is not None and self._fits(block, indices[0]):
                for part in block.evaluations:
                    self._add(part)
                played = {e.seed for part in block.evaluations for e in part.episodes}
                for index in indices:
                    if self._seeds[index] in played:
                        self._look(index)
            elif parts := self._play(indices):
                store(number, Block(evaluations=parts))

    @property
    def code(self) -> Evaluation | None:
        """The evaluation of code with all its episodes; None if there is no code."""
        return self._of(CODE) if self._parts.get(CODE) else None

    @property
    def tuned(self) -> Evaluation | None:
        """The evaluation of tuned code; None if there is no tuned code."""
        return self._of(TUNED) if self._parts.get(TUNED) else None

    @property
    def policy(self) -> Evaluation:
        """The evaluation of the policy in the best mode that was not dropped from the race, or in the best of all modes
        if all were dropped. If several modes are equal, the first of these modes counts as the best.
        """
        return self._of(self._best_mode())

    @property
    def rivals(self) -> tuple[Evaluation, ...]:
        """The evaluations of the policy's other modes."""
        return tuple(self._of(name) for name in self._modes if name != self._best_mode())

    def _fits(self, block: Block, index: int) -> bool:
        """Whether a stored block can be used. A stored block must have the candidates and modes that would play from
        the seed with the index ``index`` on.
        """
        seed, parts = self._seeds[index], block.evaluations
        if not all(p.mode in self._players and self._players[p.mode][1].sharpness == p.sharpness for p in parts):
            return False
        return {p.mode for p in parts if any(e.seed == seed for e in p.episodes)} == set(self._waiting(index))

    def _waiting(self, index: int) -> list[str]:
        """The candidates in the race that have not played the seed with the index ``index`` yet."""
        return [n for n in self._race.open if self._seeds[index] not in self._results(n)]

    def _play(self, indices: range) -> tuple[Evaluation, ...]:
        """Play the seeds with the indices ``indices``, until the race is over."""
        played: dict[str, list[Evaluation]] = {}
        for index in indices:
            waiting = self._waiting(index)
            if not self._goes_on(index, waiting):
                break
            for name in waiting:
                judge, acting = self._players[name]
                part = judge.play(acting, (self._seeds[index],))
                played.setdefault(name, []).append(part)
                self._add(part)
            self._look(index)
        return tuple(together(parts, self._traces) for parts in played.values())

    def _add(self, part: Evaluation) -> None:
        self._parts[part.mode].append(part)
        self._taken += part.primitive_steps

    def _look(self, index: int) -> None:
        """Compare the candidates in the race on the seeds that all of them have played."""
        each = {name: self._results(name) for name in self._race.open}
        common = [s for s in self._seeds[: index + 1] if all(s in results for results in each.values())]
        self._race.look({name: [results[s] for s in common] for name, results in each.items()})
        modes = {name: self._of(name).on(self._seeds[: index + 1]) for name in self._modes}
        scarce = CODE in self._players and 2 * sum(e.primitive_steps for e in modes.values()) >= self._steps
        if index + 1 >= self._least or scarce:
            best = self._best_mode(modes)
            self._race.withdraw([name for name in self._modes if name != best])

    def _goes_on(self, index: int, waiting: Sequence[str]) -> bool:
        decided = len(self._race.open) == 1 and index >= self._least
        if decided or self._race.open == (CODE,):
            return False
        self.cut_short = index > 0 and self._taken + sum(map(self._longest, waiting)) > self._steps
        return not self.cut_short

    def _best_mode(self, evaluations: Mapping[str, Evaluation] | None = None) -> str:
        of = evaluations or {name: self._of(name) for name in self._modes}
        return max([n for n in self._modes if n in self._race.open] or self._modes, key=lambda name: of[name].rank)

    def _longest(self, name: str) -> int:
        """Number of primitive steps of a candidate's longest episode so far."""
        return max((e.primitive_steps for part in self._parts[name] for e in part.episodes), default=0)

    def _of(self, name: str) -> Evaluation:
        return together(self._parts[name], self._traces)

    def _results(self, name: str) -> dict[int, float]:
        return {e.seed: result(e, part) for part in self._parts[name] for e in part.episodes}


def result(episode: Episode, evaluation: Evaluation) -> float:
    """The result of an episode in a race, which is the success (0 or 1), or the score if the task has no success. A
    higher result is better.
    """
    if evaluation.has_success or evaluation.score is None:
        return float(episode.success)
    if episode.score is None or math.isnan(episode.score):
        return -math.inf
    return episode.score if evaluation.score.maximize else -episode.score
