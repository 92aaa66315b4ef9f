"""The rounds of a run with a planner. Each round works on one sub-goal, plays the whole graph, or revises the graph.

The decision and the results of each round are stored on disk. If the process is killed and the run is resumed, the run
continues in the same round.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping

from rlgpt.agents.planner import Check
from rlgpt.domain import GoalGraph, GraphEvaluation, Steps, SubGoal, best_of
from rlgpt.errors import BudgetExceeded, LLMError, TranscriptEnded
from rlgpt.loop import LoopContext
from rlgpt.loop.outer import begun, is_finished, learn
from rlgpt.loop.run import brief_of, steps_so_far
from rlgpt.loop.skills import with_skills
from rlgpt.planner.context import PartRun, PlannedContext, actor_of, part_context
from rlgpt.planner.evidence import evidence_of, failures
from rlgpt.planner.player import Actor, GraphPlayer, PlayedWay
from rlgpt.planner.records import Decision, Learnt, Playing, Starts
from rlgpt.planner.stored import learnt_in
from rlgpt.rl.evaluation import together
from rlgpt.rl.starts import MAX_STARTS_BYTES

TRIES = 16
"""Maximal number of episodes that are played to find the states in which a sub-goal is called."""
STARTS_SHARE = 0.1
"""Maximal share of a round's steps for the episodes that find the states in which a sub-goal is called."""
PLAY_SHARE = 0.1
"""Maximal share of the run's budget that is reserved for playing the whole graph."""


class Rounds:
    """Runs all rounds of a run with a planner.

    :param graph: the graph with which the run begins.
    :param check: a function that finds the faults of a revised graph.
    :ivar graph: the newest graph.
    :ivar revision: number of revisions of the graph so far.
    :ivar playings: the results of all graphs of the run on the selection seeds, oldest first.
    """

    def __init__(self, ctx: PlannedContext, graph: GoalGraph, check: Check) -> None:
        self._ctx, self._check = ctx, check
        self.graph, self.revision = graph, 0
        self.playings: list[Playing] = []
        self._graphs = [graph]
        self._parts: dict[str, LoopContext] = {}
        self._visits: Counter[str] = Counter()
        self._unreached: dict[str, Starts] = {}
        self._played = False

    @property
    def parts(self) -> Mapping[str, LoopContext]:
        """For labels of sub-goals, the contexts in which the run has worked on them."""
        return self._parts

    def visits(self, node: SubGoal) -> int:
        """How many times the run has worked on a sub-goal."""
        return self._visits[node.label]

    def run(self) -> LLMError | None:
        """Run rounds until the graph reaches the target, no sub-goal can be improved, or the budget is spent.

        :returns: the error that ended the rounds early, such as a spent budget of the language model; None if no error
            ended them.
        """
        ctx = self._ctx
        for number in itertools.count():
            ctx.run.update(steps=self.steps)
            ctx.book.follow(self.steps)
            decision = ctx.run.stage(f"rounds/{number}/decision", Decision) or self._decide()
            ctx.observer.message(self._describe(number, decision))
            if decision.kind == "stop":
                return None
            ctx.run.rewrite(f"rounds/{number}/decision", decision)
            try:
                stopped = self._carry_out(decision, f"rounds/{number}")
            except (BudgetExceeded, TranscriptEnded) as stop:
                stopped = stop
            if stopped is not None:
                return stopped
        raise AssertionError("unreachable")

    @property
    def steps(self) -> Steps:
        """All primitive steps of the run so far, including the steps of the work on its sub-goals."""
        return sum((part.run.record.steps for part in self._parts.values()), self._ctx.book.counted)

    def learnt(self, graph: GoalGraph) -> dict[str, Learnt]:
        """For each sub-goal, the result of the work on this sub-goal. The dict contains only the sub-goals on which the
        run has worked.
        """
        return {n.name: learnt_in(self._parts[n.label].run) for n in graph.nodes if n.label in self._parts}

    def graph_of(self, revision: int) -> GoalGraph:
        return self._graphs[revision]

    # -- decisions -----------------------------------------------------------------------------------------------------

    def _decide(self) -> Decision:
        ctx, settings = self._ctx, self._ctx.settings
        left = settings.budget - self.steps.total
        reserve = min(settings.selection_episodes * ctx.task.horizon, int(PLAY_SHARE * settings.budget))
        waiting = [node for node in self.graph.in_order if self._waits(node)]
        if waiting and left > reserve:
            unworked = [n for n in self.graph.nodes if n.label not in self._parts]
            share = (left - reserve) // (len(unworked) + 1)
            return self._work(waiting[0], share, settings.iterations, "nothing was learnt for it yet")
        if not self._played and self._parts:
            improvement = self._improve(left - reserve) if self._blocker() is not None and left > reserve else None
            if improvement is not None and improvement.kind != "stop":
                return improvement  # The graph cannot succeed while one of its sub-goals never succeeds.
            return Decision(kind="play", steps=max(0, left))
        if self._played and ctx.is_solved(self.playings[-1].played.evaluation, episodes=1):
            return Decision(kind="stop", reason="the graph reaches the target")
        if left <= reserve:
            return Decision(kind="stop", reason="the budget is spent")
        return self._improve(left - reserve)

    def _improve(self, left: int) -> Decision:
        """Decide to work on the sub-goal that fails most often, or to revise the graph. The graph is revised if earlier
        work on this sub-goal did not help, or if the sub-goal already reaches the target in episodes of its own.
        """
        ctx, worst = self._ctx, self._worst()
        if worst is None:
            return Decision(kind="stop", reason="no sub-goal fails")
        visits, revisions = self._visits[worst.label], ctx.planning.revisions - self.revision
        revises = ctx.teams.get(worst.kind, ctx.agents).revise
        alone = self._solved_alone(worst)
        can_work = visits < ctx.planning.visits and revises and worst.label in self._parts and not alone
        if can_work and (visits < 2 or revisions <= 0):
            done = self._learnt(worst)
            more = done.iterations + ctx.settings.iterations
            return self._work(worst, left // 2, more, "it fails most often")
        if revisions > 0:
            known = ", although it reaches the target in episodes of its own" if alone else ""
            return Decision(kind="revise", reason=f"{worst.name} fails most often{known}")
        times = "once" if visits == 1 else f"{visits} times"
        return Decision(kind="stop", reason=f"{worst.name} fails most often, and the run has worked on it {times}")

    def _work(self, node: SubGoal, steps: int, iterations: int, reason: str) -> Decision:
        budget = self._learnt(node).steps.total + max(1, steps)
        return Decision(kind="work", node=node.name, steps=budget, iterations=iterations, reason=reason)

    def _learnt(self, node: SubGoal) -> Learnt:
        return learnt_in(self._parts[node.label].run) if node.label in self._parts else Learnt()

    def _solved_alone(self, node: SubGoal) -> bool:
        """Whether the sub-goal reaches the target in episodes of its own, so that further work on it ends at once."""
        part = self._parts.get(node.label)
        history = part.run.iterations() if part is not None else ()
        return part is not None and bool(history) and part.is_solved(best_of(history).kept)

    def _waits(self, node: SubGoal) -> bool:
        """Whether the run has not worked on the sub-goal yet, although episodes may reach the states in which this
        sub-goal is called.
        """
        if node.label in self._parts or node.label in self._unreached:
            return False
        return all((self._learnt(self.graph[need]).success or 0) > 0 for need in node.needs)

    def _worst(self) -> SubGoal | None:
        """The sub-goal to improve in the next round; None if no sub-goal fails.

        A sub-goal that never succeeds is improved first, because the sub-goals that need it cannot be reached. If every
        sub-goal sometimes succeeds, the sub-goal in whose calls the most episodes failed is improved first.
        """
        if (blocker := self._blocker()) is not None:
            return blocker
        failed = failures(self.playings[-1].played.episodes) if self._played else {}
        for starts in self._unreached.values():
            failed = {**starts.failed, **failed}
        return next((self.graph[name] for name in failed), None)

    def _blocker(self) -> SubGoal | None:
        """The first sub-goal that never succeeded in episodes of this sub-goal alone, although the run worked on it."""
        known = [n for n in self.graph.in_order if n.label in self._parts and not n.standing]
        return next((n for n in known if not self._learnt(n).success), None)

    def _describe(self, number: int, decision: Decision) -> str:
        what = {
            "work": f"work on the sub-goal {decision.node}, up to {decision.steps:,} steps over all rounds",
            "play": "play the whole graph",
            "revise": "the planner revises the graph",
            "stop": "the run ends",
        }[decision.kind]
        return f"round {number}: {what}{f' ({decision.reason})' if decision.reason else ''}"

    # -- work ----------------------------------------------------------------------------------------------------------

    def _carry_out(self, decision: Decision, stage: str) -> LLMError | None:
        if decision.kind == "work":
            assert decision.node is not None
            return self._work_on(self.graph[decision.node], decision, stage)
        if decision.kind == "play":
            self.playings.append(self._ctx.run.once(f"{stage}/playing", Playing, lambda: self._play(decision.steps)))
            self._played = True
        else:
            self._revise()
        return None

    def _work_on(self, node: SubGoal, decision: Decision, stage: str) -> LLMError | None:
        ctx = self._ctx
        own = decision.steps - self._learnt(node).steps.total
        starts = ctx.run.once(f"{stage}/starts", Starts, lambda: self._reach(node, own))
        self._visits[node.label] += 1
        if not starts.reached:
            self._unreached[node.label] = starts
            ctx.observer.message(f"{node.name}: no episode reached a state in which this sub-goal is called")
            return None
        self._unreached.clear()
        self._played = False
        way = None
        if starts.later and not starts.states:
            way = PlayedWay(ctx.task, self.graph, node.name, self._actors(without=node), ctx.sandbox_limits)
        part = self._parts[node.label] = part_context(
            ctx, self.graph, node, starts, way, budget=decision.steps, iterations=decision.iterations
        )
        assert isinstance(part.run, PartRun)
        part.run.update(steps=steps_so_far(part))
        part.run.tell = lambda _: ctx.run.update(steps=self.steps)
        part.book.follow(part.run.record.steps)
        stopped: LLMError | None = None
        if not is_finished(part, begun(part)):
            try:
                _, stopped = learn(part, with_skills(part, brief_of(part)))
            finally:
                part.run.update(steps=steps_so_far(part))
        learnt = self._learnt(node)
        result = (
            "no iteration is finished"
            if learnt.success is None
            else f"success rate {learnt.success:.2f} ({learnt.mode})"
        )
        ctx.observer.message(f"{node.name}: {result}, {starts.reached} start states, {learnt.steps.total:,} steps")
        return stopped

    def _reach(self, node: SubGoal, steps: int) -> Starts:
        """Play a few episodes up to the first call of the sub-goal ``node``, and save the state of the environment at
        this call.

        :param steps: number of primitive steps of the round. The episodes that find start states take at most the share
            :data:`STARTS_SHARE` of ``steps``.
        """
        ctx = self._ctx
        saves = ctx.plugin.states(ctx.task) is not None
        index = 20 * self.graph.nodes.index(node) + self._visits[node.label]
        own, later, taken, size = 0, 0, 0, 0
        states, ended = [], list[str]()
        count = ctx.book.counting("rehearsal")
        with self._player(self._actors(without=node), count) as player:
            for seed in ctx.seeds.starts(index, TRIES):
                episode = player.play(seed, until=node.name).graph
                taken += episode.primitive_steps
                if player.stopped:
                    state = player.save() if saves else None
                    at_start = not episode.primitive_steps
                    own, later = own + at_start, later + (not at_start)
                    if state is not None:
                        states.append(state)
                        size += len(state.data) + len(state.seen)
                elif episode.calls and not episode.success:
                    ended.append(episode.calls[-1].node)
                if taken >= STARTS_SHARE * steps or size >= MAX_STARTS_BYTES:
                    break
        failed = dict(Counter(ended).most_common())
        return Starts(own=own, later=later, states=tuple(states), failed=failed, steps=taken)

    def _play(self, steps: int) -> Playing:
        """Play the whole graph on the selection seeds. If it reaches the target, play the confirmation episodes, too,
        because the planner has revised the graph until it succeeds in the first episodes.

        :param steps: maximal number of primitive steps. The confirmation episodes take at most half of the steps that
            are left after the first episodes.
        """
        ctx, chosen = self._ctx, self._chosen()
        count, more = ctx.settings.selection_episodes, ctx.settings.confirmation_episodes
        seeds = ctx.seeds.selection(count + more)
        ctx.observer.stage("select", episodes=count)
        with self._player({n: actor for n, (_, actor) in chosen.items()}, ctx.book.counting("selection")) as player:
            played = player.evaluate(seeds[:count], steps=steps)
            left = (steps - played.evaluation.primitive_steps) // 2
            if more and left > 0 and ctx.is_solved(played.evaluation):
                ctx.observer.message(f"the graph reaches the target; up to {more} episodes confirm it")
                further = player.evaluate(seeds[count:], steps=left)
                both = together([played.evaluation, further.evaluation], traces=0)
                played = GraphEvaluation(evaluation=both, episodes=(*played.episodes, *further.episodes))
        actors = {name: index for name, (index, _) in chosen.items()}
        return Playing(revision=self.revision, actors=actors, played=played, steps=self.steps.total)

    def _revise(self) -> None:
        ctx, planner = self._ctx, self._ctx.planner
        assert planner is not None
        number, graph = self.revision + 1, self.graph
        episodes = self.playings[-1].played.episodes if self._played else ()
        ctx.observer.stage("plan", iteration=number)

        def revised() -> GoalGraph:
            evidence = evidence_of(graph, episodes, self.learnt(graph))
            return graph.revised(planner.revise(brief_of(ctx), graph, evidence, self._check, number))

        self.graph, self.revision = ctx.run.once(f"plan/{number}", GoalGraph, revised), number
        self._graphs.append(self.graph)
        self._unreached.clear()
        if self.graph != graph:
            self._played = False

    def _chosen(self) -> dict[str, tuple[int, Actor]]:
        found = {}
        for node in self.graph.nodes:
            if node.label in self._parts and (actor := actor_of(self._parts[node.label])) is not None:
                found[node.name] = actor
        return found

    def _actors(self, *, without: SubGoal) -> dict[str, Actor]:
        return {name: actor for name, (_, actor) in self._chosen().items() if name != without.name}

    def _player(self, actors: dict[str, Actor], on_step: object) -> GraphPlayer:
        ctx = self._ctx
        return GraphPlayer(
            ctx.plugin,
            ctx.task,
            self.graph,
            actors,
            limits=ctx.sandbox_limits,
            on_step=on_step,  # type: ignore[arg-type]
        )
