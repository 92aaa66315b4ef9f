"""Carries out the effects of many lanes. The scheduler builds the views of lanes in batches and runs the sandbox's code
in threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlgpt.domain import Plain
from rlgpt.options.effects import Code, Effects, Look, Reset, Step
from rlgpt.plugin.types import Context
from rlgpt.sandbox.stack import thread_pool

Views = Callable[[Sequence[Context]], Sequence[Mapping[str, Plain]]]
Work = Callable[[], Any]


class Scheduler:
    """Runs the computations of lanes up to their next primitive steps.

    The results do not depend on the number of threads, because the code of one lane runs in order, in one thread at a
    time. No two lanes share anything that code can change. An exception of a lane propagates to the caller. If several
    lanes raise exceptions, one of these exceptions propagates.

    :param views: a function that builds the plugin's views of several contexts.
    :param contexts: the context of each lane.
    :param threads: number of threads for code. With 1 thread, code runs in the caller's thread.
    """

    def __init__(self, views: Views, contexts: Sequence[Context], threads: int) -> None:
        self._views, self._contexts, self._threads = views, contexts, threads
        self._pool = thread_pool(threads, "rlgpt-lanes") if threads > 1 else None

    def run(
        self, going: dict[int, Effects[Any]], results: dict[int, Any]
    ) -> tuple[dict[int, Step | Reset], dict[int, Any]]:
        """Resume the computations of lanes with the results of their last effects.

        :param going: lane -> the computation of this lane.
        :param results: for each lane, the result of the last effect of the lane's computation; None for a computation
            that begins.
        :returns: two mappings. The first returned mapping has, for each lane, the step or reset for which the lane's
            computation waits. The second returned mapping has, for each lane whose computation is over, the value that
            the computation returned.
        """
        waiting: dict[int, Step | Reset] = {}
        over: dict[int, Any] = {}
        while results:
            looks: list[int] = []
            codes: dict[int, Work] = {}
            for lane, result in results.items():
                try:
                    effect = going[lane].send(result)
                except StopIteration as end:
                    over[lane] = end.value
                    continue
                match effect:
                    case Code(work):
                        codes[lane] = work
                    case Look():
                        looks.append(lane)
                    case _:
                        waiting[lane] = effect
            views = self._views([self._contexts[lane] for lane in looks]) if looks else ()
            done = self._work(list(codes.values()))
            results = dict(sorted([*zip(looks, views, strict=True), *zip(codes, done, strict=True)]))
        return waiting, over

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _work(self, works: Sequence[Work]) -> list[Any]:
        if self._pool is None or len(works) < 2:
            return [work() for work in works]
        shares = [works[i :: self._threads] for i in range(min(self._threads, len(works)))]
        done: list[Any] = [None] * len(works)
        for i, results in enumerate(self._pool.map(_in_order, shares)):
            done[i :: self._threads] = results
        return done


def _in_order(works: Sequence[Work]) -> list[Any]:
    return [work() for work in works]
