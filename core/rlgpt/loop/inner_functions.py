"""The inner loop for coded functions. Each coded function is written, rehearsed and repaired until it works or no
repairs are left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlgpt.agents.base import Brief, History
from rlgpt.agents.history_text import kept_function
from rlgpt.domain import ActionPlan, CodedFunction, FunctionPlan, FunctionRehearsal, best_of
from rlgpt.errors import SandboxError, TranscriptEnded, UnusableReplyError
from rlgpt.loop.code import Code
from rlgpt.loop.context import LoopContext
from rlgpt.loop.played import Played, play
from rlgpt.loop.rehearse_function import rehearse_function

SHARE = 0.02
"""Maximal share of a run's budget for one set of episodes with which functions are rehearsed. An iteration plays at
most two sets, one for features and predicates and one for reward terms.
"""

BEFORE_ACTIONS = ("feature", "predicate")
"""Kinds of functions that are written before the coded actions, because coded actions may read the outputs of these
functions.
"""

AFTER_ACTIONS = ("reward",)
"""Kinds of functions that are written after the coded actions, because episodes with these actions show what a reward
term rewards.
"""


class FunctionLoop:
    """Writes the functions of one iteration.

    :param folder: the part of the run's folder that has the stages of the plan.
    :ivar kept: the coded functions that work, as far as they have been written.
    :ivar tried: for each function of the plan, the attempts at its code, in order.
    """

    def __init__(self, ctx: LoopContext, brief: Brief, plan: ActionPlan, history: History, folder: str) -> None:
        self._ctx, self._brief, self._plan, self._history, self._folder = ctx, brief, plan, history, folder
        self._played: Played | None = None
        self.kept: tuple[CodedFunction, ...] = ()
        self.tried: dict[str, tuple[FunctionRehearsal, ...]] = {}

    def write(self, kinds: Collection[str], code: Code | None = None) -> None:
        """Write those functions of the plan that have one of the given kinds. A function that does not work after its
        last repair is left out.

        :param kinds: the kinds of functions to write.
        :param code: the code that plays the episodes in which the functions are rehearsed. If ``code`` is None, the
            code of the best iteration so far plays these episodes.
        """
        if code is None:
            best = best_of(self._history) if self._history else None
            code = Code(best.actions, best.functions) if best is not None else Code()
        wanted = [function for function in self._plan.functions if function.kind in kinds]
        self._played = None
        for function in sorted(wanted, key=lambda f: not f.keep):  # Kept functions come first: their names are fixed.
            written = self._earlier(function) or self._until_it_works(function, code)
            if written is not None:
                self.kept = (*self.kept, written)

    def _earlier(self, function: FunctionPlan) -> CodedFunction | None:
        """The function of an earlier iteration, if the plan keeps it. The result is None if no earlier iteration has
        the function, or if the function does not fit the other functions any more.
        """
        earlier = kept_function(self._history, function.name, self._brief.skills) if function.keep else None
        if earlier is None:
            return None
        try:
            self._ctx.sandbox.open_functions(self._ctx.library, (*self.kept, earlier), seed=0)
        except SandboxError as fault:
            self._ctx.observer.message(f"{function.name} is not kept: {fault}")
            return None
        return earlier

    def _until_it_works(self, function: FunctionPlan, code: Code) -> CodedFunction | None:
        ctx, name = self._ctx, function.name
        repairs = ctx.settings.repairs if ctx.agents.rehearse else 0
        tried: tuple[FunctionRehearsal, ...] = ()
        why = ""
        for attempt in range(1 + repairs):
            ctx.observer.stage("write", sub_action=name, attempt=attempt)
            stage = f"{self._folder}/functions/{name}/{attempt}"
            try:
                rehearsal: FunctionRehearsal | None = ctx.run.once(
                    stage,
                    FunctionRehearsal | None,
                    lambda: self._attempt(function, tried, code),  # noqa: B023
                )
            except TranscriptEnded:
                if not tried:
                    raise
                ctx.observer.message(f"the recording has no further repair of {name}")
                break
            except UnusableReplyError as fault:  # The iteration can continue without the function.
                why = str(fault)
                break
            if rehearsal is None:
                why = f"{type(ctx.agents.fast).__name__} writes no functions"
                break
            tried = self.tried[name] = (*tried, rehearsal)
            ctx.observer.finished("write", sub_action=name, attempt=attempt, works=not rehearsal.failed)
            if not rehearsal.failed:
                return rehearsal.function
        why = why or (tried[-1].verdict.message if tried[-1].verdict is not None else tried[-1].fault)
        ctx.observer.message(f"the {function.kind} {name} is left out: {why}")
        return None

    def _attempt(
        self, function: FunctionPlan, tried: Sequence[FunctionRehearsal], code: Code
    ) -> FunctionRehearsal | None:
        ctx = self._ctx
        left = ctx.settings.repairs - len(tried) if ctx.agents.rehearse else 0
        brief = self._brief.model_copy(update={"functions": self.kept, "repairs": left})
        written = ctx.agents.fast.write_function(brief, self._plan, function, attempts=tried, history=self._history)
        if written is None:
            return None
        ctx.observer.stage("rehearse", sub_action=function.name)
        steps = 0
        if self._played is None:
            self._played = self._play(code)
            steps = self._played.steps
        rehearsal = rehearse_function(
            written, self.kept, self._played, attempt=len(tried), sandbox=ctx.sandbox, library=ctx.library
        )
        ctx.book.tell()
        return rehearsal.model_copy(update={"steps": steps})

    def _play(self, code: Code) -> Played:
        ctx, count = self._ctx, self._ctx.settings.rehearsal_episodes
        share = max(1, int(SHARE * ctx.settings.budget / count))
        return play(
            ctx.plugin,
            ctx.task,
            code,
            seeds=ctx.seeds.rehearsals(len(self._history), count),
            limit=min(ctx.task.horizon, share),
            sandbox=ctx.sandbox,
            library=ctx.library,
            on_step=ctx.book.counting("rehearsal"),
        )
