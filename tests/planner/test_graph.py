"""Graphs of sub-goals: which graphs are valid, which sub-goal the agenda calls next, and the evidence of episodes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from rlgpt.domain import Call, GoalGraph, GraphEpisode, SubGoal
from rlgpt.planner.agenda import Agenda
from rlgpt.planner.evidence import evidence_of

DONE = "def done(view, memory):\n    return False\n"


def node(name: str, *needs: str, **more: object) -> SubGoal:
    return SubGoal.model_validate(
        {"name": name, "goal": f"{name} holds", "done": DONE, "needs": needs, "horizon": 10, **more}
    )


@pytest.mark.parametrize(
    ("nodes", "fault"),
    [
        ([node("a", "b"), node("b", "a"), node("c", "a")], "the needs form a circle: a needs b needs a"),
        ([node("a"), node("c", "b")], "c: it needs 'b', which is no sub-goal"),
        ([node("a"), node("a"), node("c", "a")], "used twice: a"),
        ([node("a"), node("b"), node("c", "a")], "b: no other sub-goal needs it"),
        ([node("a", "c"), node("c")], "a: it needs 'c', the last sub-goal"),
        ([node("s", standing=True), node("c", "s")], "c: it needs 's', a standing sub-goal"),
        ([node("a"), node("c", "a", standing=True)], "c: the last sub-goal is the task's success"),
    ],
)
def test_error_of_an_invalid_graph_names_the_sub_goal(nodes: list[SubGoal], fault: str) -> None:
    with pytest.raises(ValidationError) as error:
        GoalGraph(nodes=tuple(nodes))
    assert fault in str(error.value)


@st.composite
def graphs(draw: st.DrawFn) -> GoalGraph:
    """Any valid graph. Each sub-goal needs some earlier ones. The last one needs all that no other sub-goal needs."""
    count = draw(st.integers(1, 6))
    nodes = [
        node(f"n{i}", *draw(st.sets(st.sampled_from([f"n{j}" for j in range(i)]))) if i else ()) for i in range(count)
    ]
    needed = {need for n in nodes for need in n.needs}
    free = [n.name for n in nodes if n.name not in needed]
    standing = [node(f"s{i}", standing=True) for i in range(draw(st.integers(0, 2)))]
    return GoalGraph(nodes=(*draw(st.permutations([*nodes, *standing])), node("last", *free)))


@given(graphs(), st.data())
def test_agenda_calls_only_sub_goals_whose_needs_hold(graph: GoalGraph, data: st.DataObject) -> None:
    holds = {n.name: data.draw(st.booleans(), label=n.name) for n in graph.nodes}
    chosen = Agenda(graph, holds).next(holds)
    missing = [s for s in graph.standing if not holds[s.name]]
    if missing:
        assert chosen == missing[0]
    else:
        assert all(holds[need] for need in chosen.needs)
        assert chosen == graph.last or not holds[chosen.name]
    order = [n.name for n in graph.in_order]
    assert sorted(order) == sorted(n.name for n in graph.nodes)
    assert order[-1] == graph.last.name
    assert all(order.index(need) < order.index(n.name) for n in graph.nodes for need in n.needs)


def test_agenda_calls_a_lost_sub_goal_again_only_if_another_one_needs_it() -> None:
    graph = GoalGraph(nodes=(node("log"), node("planks", "log"), node("table", "planks")))
    agenda = Agenda(graph, ["log", "planks", "table"])
    wanted = lambda *held: agenda.next({n.name: n.name in held for n in graph.nodes}).name  # noqa: E731
    assert [wanted(), wanted("log"), wanted("planks"), wanted("log", "planks")] == ["log", "planks", "table", "table"]


def test_agenda_skips_a_failed_standing_sub_goal_for_one_call() -> None:
    graph = GoalGraph(nodes=(node("alive", standing=True), node("home")))
    agenda, holds = Agenda(graph, ["alive", "home"]), {"alive": False, "home": False}
    assert agenda.next(holds).name == "alive"
    assert agenda.interrupts(graph["home"], holds)
    agenda.ended(Call(node="alive", start=0, steps=10, ended="horizon"))
    assert agenda.next(holds).name == "home"
    assert not agenda.interrupts(graph["home"], holds)
    agenda.ended(Call(node="home", start=10, steps=10, ended="horizon"))
    assert agenda.next(holds).name == "alive"


def test_revised_graph_keeps_the_versions_of_unchanged_sub_goals() -> None:
    first = GoalGraph(nodes=(node("a"), node("b", "a"), node("c", "b")))
    changed = GoalGraph(nodes=(node("a"), node("b", horizon=99), node("d"), node("c", "a", "b", "d")))
    second = first.revised(changed)
    assert [n.label for n in second.nodes] == ["a", "b-1", "d", "c"], "a change of the needs alone gives no new version"
    assert [n.label for n in second.revised(first).nodes] == ["a", "b-2", "c"]


def test_evidence_names_superfluous_needs_and_missing_needs() -> None:
    graph = GoalGraph(nodes=(node("a"), node("b"), node("c", "a", "b"), node("d", "c")))
    with_b = Call(node="a", start=5, steps=3, ended="done", holding=("b",))
    without = Call(node="a", start=0, steps=5, ended="horizon")
    episode = GraphEpisode(seed=0, success=False, primitive_steps=9, calls=(without, with_b), reached={"b": 5, "c": 6})
    evidence = evidence_of(graph, [episode, episode], {})
    found = {(e.kind, e.need, e.node, e.count) for e in evidence.edges}
    assert found == {("unneeded", "a", "c", 2), ("missing", "b", "a", 2)}
    figures = {f.name: f for f in evidence.figures}
    assert (figures["a"].calls, figures["a"].done, figures["a"].failed, figures["a"].steps) == (4, 2, 2, 16)
    assert figures["d"].blocked == 2
