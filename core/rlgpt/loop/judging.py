"""The stages of an iteration that evaluate on the selection seeds, which are the evaluation of code alone, and the race
of code, tuned code and policy.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rlgpt.agents.base import History
from rlgpt.domain import CodedAction, Evaluation, Mode, Steps, TrainingRecord
from rlgpt.loop.code import Tried
from rlgpt.loop.context import LoopContext
from rlgpt.loop.observer import outcome
from rlgpt.loop.selection import CODE, TUNED, Block, Selection
from rlgpt.loop.spending import Purpose, steps_of
from rlgpt.rl.acting import by_code, by_policy, code_spec
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluation import Judge, together
from rlgpt.rl.play import Acting

JUDGES = 4
"""Maximal number of judges of a race: of the policy, of the policy without code, of code and of tuned code."""

SCARCE = 5
"""If the steps of a race with code allow fewer episodes of each mode of the policy, its only mode is ``sampled``, in
which it has acted in its training. The number of episodes is estimated by the mean length of code's episodes; the
candidates ``tuned`` and ``base_only`` do not count, and take part in the race in any case.
"""

REMAINING = "remaining"
"""Folder of the stages with the episodes of code that the first evaluation left out."""


class Selected(NamedTuple):
    """The result of a selection.

    :ivar code: the evaluation of code with all its episodes; None if code was not played.
    :ivar policy: the evaluation of the policy in its best mode.
    :ivar rivals: the evaluations of the policy in its other modes.
    :ivar tuned: the evaluation of tuned code; None if there was no tuned code.
    """

    code: Evaluation | None
    policy: Evaluation
    rivals: tuple[Evaluation, ...]
    tuned: Evaluation | None = None


@dataclass(frozen=True)
class Judging:
    """Judges the code and the policy of the iteration after ``history``. Each finished part of the judging is stored,
    so a resumed run does not play its episodes again.

    :ivar last: whether this iteration is the last iteration, which may take all steps that are left for judging.
    """

    ctx: LoopContext
    history: History
    last: bool

    @property
    def _folder(self) -> str:
        return f"iterations/{len(self.history)}"

    def evaluate_code(self, spec: EnvSpec, tried: Tried) -> Evaluation | None:
        """Evaluate the coded actions alone, in the plan's order, on the selection seeds.

        If the coded actions reach the target on the selection seeds, they play the confirmation episodes as well.
        Returns None if there are no coded actions, if no agent repairs actions, or if the policy stays untrained. The
        ablation with an untrained policy measures the value of the extended action space without learning.
        """
        ctx = self.ctx
        untrained = ctx.agents.evaluate == "policy" and not ctx.agents.train
        if not spec.actions or not ctx.agents.rehearse or untrained:
            return None
        ctx.observer.stage("code", iteration=len(self.history))
        wanted, more = ctx.settings.selection_episodes, ctx.settings.confirmation_episodes
        steps = ctx.allotment.code_first(self.history, tried.others.code)
        code = self._code("code", spec, range(wanted), steps=steps)
        if ctx.is_solved(code, episodes=1):
            allowed = math.floor((1 - ctx.settings.target_success) * (wanted + more) + 1e-9)
            failed = sum(not e.success for e in code.episodes)
            failures = max(0, allowed - failed) if ctx.task.success else None
            here, total = steps_of(tried, code), wanted + more
            steps = ctx.allotment.confirmation(self.history, here, wanted - len(code.episodes))
            code = self._more(code, "confirmation", spec, total, steps=steps, failures=failures)
        if self.last:  # Further episodes exist if the iteration was finished, and is repeated as the last iteration.
            code = together((code, *ctx.run.values(f"{self._folder}/{REMAINING}", Evaluation)), ctx.settings.traces)
        ctx.observer.finished("code", **outcome(code))
        if len(code.episodes) < wanted:
            ctx.observer.message(
                f"code was judged in {len(code.episodes)} episodes, because the budget allows no more now"
            )
        if stuck := sum(e.cut == "stuck" for e in code.episodes):
            ctx.observer.message(
                f"code was stuck in {stuck} of {len(code.episodes)} episodes: whole rounds of the plan were masked or "
                "changed nothing, so these episodes were ended early"
            )
        return code

    def complete(self, code: Evaluation, spec: EnvSpec, tried: Tried) -> Evaluation:
        """Play the episodes of code that the first evaluation left out to save steps for a policy, and add them to
        ``code``.
        """
        wanted, here = self.ctx.settings.selection_episodes, steps_of(tried, code)
        part = f"{REMAINING}/{len(code.episodes):04}"  # The name says how many episodes were played before.
        return self._more(code, part, spec, wanted, steps=self._judging_left(here))

    def is_solved_by(self, code: Evaluation | None) -> bool:
        """Whether the coded actions alone reach the target, in the confirmation episodes too."""
        if code is None or not self.ctx.is_solved(code):
            return False
        self.ctx.observer.message("the plan's code alone reaches the target: no steps are spent on learning")
        return True

    def select(
        self,
        spec: EnvSpec,
        training: TrainingRecord | None,
        code: Evaluation | None,
        here: Steps,
    ) -> Selected:
        """Race the policy against code on the selection seeds. If ``training`` is None, an untrained policy takes part
        in the race. If the training had base-only episodes and did not mask the coded actions, the policy of these
        episodes takes part in the race as a further mode of the policy (``base_only``).

        If code was played, and the parameter search of the training found values that differ from the defaults, tuned
        code is a further candidate. Tuned code is the same coded actions with the found values as the defaults of their
        parameters. The primitive steps of tuned code count as steps of the selection.

        :param here: the primitive steps of the current iteration so far.
        """
        ctx = self.ctx
        if (old := ctx.run.stage(f"{self._folder}/evaluation", Evaluation)) is not None:
            return Selected(code, old, ())  # An earlier version of rlgpt began this run.
        masked = training.masked if training else ()
        judged = replace(spec, quarantined=masked)
        ctx.observer.stage("select", episodes=ctx.settings.selection_episodes)
        policy = ctx.policy(judged, len(self.history), trained=training is not None)
        modes, steps = ctx.settings.modes(trained=training is not None), self._judging_left(here)
        if code is not None and steps < SCARCE * len(modes) * code.primitive_steps / len(code.episodes):
            modes = ("sampled",)
        wanted, more = ctx.settings.selection_episodes, ctx.settings.confirmation_episodes if code is not None else 0
        with contextlib.ExitStack() as judges:
            judge = judges.enter_context(self._judge(judged, "selection"))
            players: dict[str, tuple[Judge, Acting]] = {
                mode: (judge, by_policy(policy, mode, ctx.settings.sharpness)) for mode in modes
            }
            coded = spec.setup.coded_actions
            if training is not None and training.compared and not set(coded) <= set(masked):
                without = replace(spec, quarantined=(*masked, *coded))
                base_judge = judges.enter_context(self._judge(without, "selection"))
                base_policy = ctx.policy(without, len(self.history), trained=True)
                players["base_only"] = (base_judge, by_policy(base_policy, "base_only"))
            if code is not None:
                players[CODE] = (judges.enter_context(self._code_judge(spec)), self._by_code(spec.actions))
                if (tuned := _tuned(spec, training)) is not None:
                    tuned_judge = judges.enter_context(self._code_judge(tuned, "selection"))
                    players[TUNED] = (tuned_judge, self._by_code(tuned.actions, "tuned"))
            seeds = ctx.seeds.selection(wanted + more)
            race = Selection(players, seeds, code=code, least=wanted, steps=steps, traces=ctx.settings.traces)
            name = f"{self._folder}/race/{{}}".format
            race.run(lambda n: ctx.run.stage(name(n), Block), lambda n, block: ctx.run.rewrite(name(n), block))
        ctx.observer.finished("select", **outcome(race.policy))
        if race.cut_short:
            ctx.observer.message("the budget for judging ended the selection early")
        if race.tuned is not None:
            ctx.observer.finished("tuned", **outcome(race.tuned))
        return Selected(race.code, race.policy, race.rivals, race.tuned)

    def _more(
        self,
        code: Evaluation,
        stage: str,
        spec: EnvSpec,
        total: int,
        *,
        steps: int,
        failures: int | None = None,
    ) -> Evaluation:
        """Play further episodes of code, and add them to the evaluation ``code``, until it has ``total`` episodes or
        ``steps`` primitive steps are spent.
        """
        seeds = range(len(code.episodes), total)
        if not seeds or not steps:
            return code
        more = self._code(stage, spec, seeds, steps=steps, failures=failures)
        return together((code, more), self.ctx.settings.traces)

    def _code(self, stage: str, spec: EnvSpec, seeds: range, *, steps: int, failures: int | None = None) -> Evaluation:
        """Play episodes of code on the selection seeds with the indices ``seeds``.

        :param steps: number of primitive steps after which no further episode begins.
        :param failures: maximal number of episodes without success. When more than ``failures`` episodes have failed,
            no further episode begins.
        """
        ctx = self.ctx

        def judge() -> Evaluation:
            chosen = ctx.seeds.selection(seeds.stop)[seeds.start :]
            with self._code_judge(spec) as judge:
                return judge.play(self._by_code(spec.actions), chosen, steps=steps, failures=failures)

        return ctx.run.once(f"{self._folder}/{stage}", Evaluation, judge)

    def _by_code(self, actions: Sequence[CodedAction], mode: Mode = "code") -> Acting:
        """A function that chooses the coded actions in the plan's order. A stuck episode ends early, unless the task
        has a score, because the score of a shortened episode would be incomplete.
        """
        return by_code(actions, may_stop=self.ctx.task.score is None, mode=mode)

    def _code_judge(self, spec: EnvSpec, purpose: Purpose = "code") -> Judge:
        return self._judge(code_spec(spec, spec.actions), purpose)

    def _judge(self, spec: EnvSpec, purpose: Purpose) -> Judge:
        ctx = self.ctx
        return Judge(
            spec,
            traces=ctx.settings.traces,
            limit=ctx.allotment.limit,
            on_step=ctx.book.counting(purpose),
            keep_open=ctx.plugin.limits(ctx.task).max_envs >= JUDGES,
        )

    def _judging_left(self, here: Steps) -> int:
        return self.ctx.allotment.judging(self.history, here, last=self.last)


def _tuned(spec: EnvSpec, training: TrainingRecord | None) -> EnvSpec | None:
    """The recipe ``spec`` with the coded actions as the parameter search of ``training`` tuned them. The result is None
    if there was no search, or if the search found no value that differs from the defaults.
    """
    if training is None or training.search is None:
        return None
    actions = training.search.tuned(spec.actions)
    return replace(spec, actions=actions) if actions != spec.actions else None
