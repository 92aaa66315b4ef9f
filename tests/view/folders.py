"""Writes folders of runs for the live page: whole ones, unfinished ones, and hostile ones."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from rlgpt.domain import (
    ActionPlan,
    Call,
    Critique,
    Decision,
    FunctionRehearsal,
    GoalGraph,
    GraphEpisode,
    GraphEvaluation,
    Iteration,
    PrimitiveCall,
    Rehearsal,
    RLSetup,
    SubGoal,
    Trace,
    TrainingRecord,
)
from rlgpt.llm.base import Message, Reply, Request, RequestKey, Usage
from rlgpt.llm.exchange import Exchange
from rlgpt.observers.entries import FILE
from rlgpt.observers.jsonl import Entry
from rlgpt.planner.evidence import evidence_of
from rlgpt.planner.records import KEPT, NODES, KeptGraph, Playing
from rlgpt.planner.records import Decision as Round
from rlgpt.planner.stored import learnt_in
from rlgpt.runs import Report, Run, RunRecord

_STORIES = Path(__file__).parents[1] / "report" / "stories.py"
_SPEC = importlib.util.spec_from_file_location("report_stories", _STORIES)
assert _SPEC is not None
assert _SPEC.loader is not None
stories = sys.modules.setdefault(_SPEC.name, importlib.util.module_from_spec(_SPEC))
if not hasattr(stories, "iteration"):
    _SPEC.loader.exec_module(stories)

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg"
    "GAWjR9awAAAABJRU5ErkJggg=="
)


def trace(text: str = "") -> Trace:
    """Two decisions; the second calls two primitives and changes the view."""
    moved = {"hand": [0.3, 0.2], **({text: text} if text else {})}
    calls = (
        PrimitiveCall(
            name=text or "move_to", args={"x": 0.5}, steps=12, outcome={text or "reached": True}, view_changes=moved
        ),
        PrimitiveCall(name="grasp", args={}, steps=4, outcome={"holding": text or False}),
    )
    before, after = {"hand": [0.1, 0.2], text or "open": 0}, {"hand": [0.4, 0.2], text or "open": 0}
    decisions = (
        Decision(action="earlier", duration=5, reward=0.0, ended="returned"),
        Decision(
            action=text or "grasp_handle",
            duration=16,
            reward=0.5,
            ended="returned",
            before=before,
            after=after,
            calls=calls,
        ),
    )
    return Trace(seed=7, success=False, total_reward=0.5, primitive_steps=21, decisions=decisions)


def iteration(index: int, text: str = "") -> Iteration:
    curve = ((3000, 0.2), (6000, 0.4), (9000, 0.6))
    made: Iteration = stories.iteration(index, text=text, curve=curve)
    tried = tuple(r.model_copy(update={"trace": trace(text)}) for r in made.rehearsals["grasp_handle"])
    return made.model_copy(update={"rehearsals": {"grasp_handle": tried}})


def write_stages(run: Run, made: Iteration, *, finished: bool = True) -> None:
    """The files of an iteration. An unfinished one has a plan and its attempts."""
    here = f"iterations/{made.index}"
    run.rewrite(f"{here}/plan", made.plan)
    for kind, tried in (("actions", made.rehearsals), ("functions", made.function_rehearsals)):
        for name, attempts in tried.items():
            for attempt in attempts:
                run.rewrite(f"{here}/{kind}/{name}/{attempt.attempt}", attempt)
    if finished:
        assert made.training is not None
        run.rewrite(f"{here}/setup", made.setup)
        run.rewrite(f"{here}/training", made.training)
        run.rewrite(f"{here}/iteration", made)


def exchange(
    text: str = "",
    number: int = 0,
    role: Any = "slow",
    images: tuple[str, ...] = (),
    iteration: int = 0,
    task: str = "grid/door",
    plan: int = 0,
) -> Exchange:
    name = text or "grasp_handle"
    key = RequestKey(task=task, iteration=iteration, role=role, sub_action=name, attempt=number, plan=plan)
    request = Request(
        key=key, messages=(Message(role="user", content=text or "Plan it.", images=images),), fingerprint="f"
    )
    usage = Usage(prompt_tokens=100, completion_tokens=20, dollars=0.01, seconds=2.5)
    reply = Reply(text=text or "A plan.", model=text or "some-model", usage=usage, note=text)
    return Exchange(time=text or "2026-01-01T00:00:00+00:00", request=request, reply=reply)


def append(run: Run, name: str, *values: Any) -> None:
    with (run.folder / name).open("a") as file:
        file.writelines(value.model_dump_json() + "\n" for value in values)


def events(text: str = "") -> list[Entry]:
    def at(second: int, kind: Any, step: int, **more: Any) -> Entry:
        return Entry(time=f"2026-01-01T00:00:{second:02d}+00:00", kind=kind, step=step, **more)

    return [
        at(0, "session", 0),
        at(1, "numbers", 1, numbers={"llm/calls": 1, "llm/tokens": 120, "llm/dollars": 0.01}),
        at(2, "stage", 0, name=text or "train", facts={text or "iteration": text or 0}),
        at(3, "message", 0, text=text or "the run goes on"),
        *(
            at(
                10 + n,
                "numbers",
                1000 * n,
                numbers={"train/success": n / 10, "train/episodes": 20, "train/usage/base": 0.6},
            )
            for n in range(1, 6)
        ),
        at(40, "session", 5000),
        at(42, "numbers", 6000, numbers={"selection/success": 0.8}),
    ]


def make_run(folder: Path, *, text: str = "", status: str = "finished", seed: int = 0, **config: Any) -> Run:
    """A run with two iterations; the second is unfinished unless the status is ``finished``."""
    settings = {"budget": 30_000, "agents": {"name": "slow_fast_critic"}, "llm": {"model": text or "m"}, **config}
    run = Run.create(folder, task="grid/door", seed=seed, config={**settings, text or "note": text or "n"})
    write_stages(run, iteration(0, text))
    write_stages(run, iteration(1, text), finished=status == "finished")
    append(run, "llm.jsonl", exchange(text), *(exchange(text, 1, "review", (PIXEL,), n) for n in (0, 1)))
    append(run, FILE, *events(text))
    steps = iteration(0).steps
    run.update(status=status, reason=text, steps=steps, iterations=1, best=0)
    if status == "finished":
        run.rewrite("report", Report(iteration=0, evaluation=stories.evaluation(17, 20)))
        run.update(success_rate=0.85, iterations=2)
    return run


def make_planned_run(folder: Path, *, text: str = "") -> Run:
    """A finished run with a graph of four sub-goals, played in two episodes, of which one succeeded. Two sub-goals have
    an iteration; ``text`` is in every field that a language model fills.
    """

    def goal(name: str, *needs: str, **more: Any) -> SubGoal:
        done = f"def done(view, memory):\n    return view['open']  # {text}"
        return SubGoal(name=name, goal=text or f"It is true that {name}", done=done, needs=needs, horizon=60, **more)

    def called(*ends: Any) -> tuple[Call, ...]:
        names = ("key_held", "door_open", "goal_reached")
        return tuple(Call(node=names[i], start=20 * i, steps=20, ended=end) for i, end in enumerate(ends))

    graph = GoalGraph(
        thoughts=text or "Key, door, goal.",
        nodes=(
            goal("key_held", kind="code"),
            goal("alive", standing=True),
            goal("door_open", "key_held"),
            goal("goal_reached", "door_open", kind="rl"),
        ),
    )
    settings = {"budget": 30_000, "agents": {"name": "slow_fast_critic"}, "planner": {"name": "graph"}}
    run = Run.create(folder, task="grid/door", seed=0, config=settings)
    learnt = {}
    for name in ("key_held", "door_open"):
        part = Run.create(folder / NODES / name, task=f"grid/door.{name}", seed=0, config={})
        write_stages(part, iteration(0, text))
        part.update(steps=iteration(0).steps, iterations=1, best=0)
        learnt[name] = learnt_in(part)
    episodes = (
        GraphEpisode(seed=1, success=True, primitive_steps=60, calls=called("done", "done", "done")),
        GraphEpisode(seed=2, success=False, primitive_steps=40, calls=called("done", "horizon"), view=text),
    )
    played = GraphEvaluation(evaluation=stories.evaluation(1, 2), episodes=episodes)
    run.rewrite("plan/0", graph)
    run.rewrite("rounds/0/decision", Round(kind="play", reason=text))
    run.rewrite("rounds/0/playing", Playing(revision=0, actors={}, played=played, steps=22_140))
    evidence = evidence_of(graph, episodes, learnt)
    run.rewrite(KEPT, KeptGraph(revision=0, graph=graph, actors={"key_held": 0, "door_open": 0}, evidence=evidence))
    run.rewrite("report", Report(iteration=0, evaluation=stories.evaluation(1, 2)))
    append(run, "llm.jsonl", exchange(text), exchange(text, task="grid/door.door_open"))
    run.update(status="finished", success_rate=0.5, steps=iteration(0).steps + iteration(0).steps)
    return run


def poison(run: Run, text: str) -> int:
    """Put ``text`` after every text of the run's files, and repeat every entry with ``text`` before its key, wherever
    the record still accepts it. Return the number of changes.
    """
    changed = 0
    kinds: dict[str, Any] = {
        "plan": ActionPlan,
        "critique": Critique,
        "setup": RLSetup,
        "training": TrainingRecord,
        "iteration": Iteration,
    }
    kinds |= {"run": RunRecord, "report": Report, "graph": KeptGraph}
    for path in sorted(run.folder.rglob("*.json*")):
        kind = kinds.get(path.stem, {"actions": Rehearsal, "functions": FunctionRehearsal}.get(path.parents[1].name))
        if kind is None and path.suffix == ".json":
            continue  # The page does not show this file.
        lines = path.read_text().splitlines() if kind is None else [path.read_text()]
        written = []
        for line in lines:
            poisoned, count = _poisoned(json.loads(line), text, kind)
            changed += count
            written.append(json.dumps(poisoned))
        path.write_text("\n".join(written) + "\n")
    return changed


def _poisoned(whole: Any, text: str, kind: Any) -> tuple[Any, int]:
    """``whole`` with ``text`` in each place in which ``kind`` still accepts it."""
    changed = 0

    def accepted() -> bool:
        try:
            return kind is None or bool(kind.model_validate(whole))
        except ValueError:
            return False

    def visit(node: Any) -> None:
        nonlocal changed
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            if isinstance(value, dict | list):
                visit(value)
            elif isinstance(value, str) and not value.startswith("data:"):
                node[key] = value + text
                node[key] = node[key] if accepted() else value
                changed += node[key] != value
            if isinstance(node, dict):
                node[text + key] = node[key]
                if accepted():
                    changed += 1
                else:
                    del node[text + key]

    visit(whole)
    return whole, changed


__all__ = [
    "Rehearsal",
    "append",
    "events",
    "exchange",
    "iteration",
    "make_planned_run",
    "make_run",
    "poison",
    "stories",
    "trace",
    "write_stages",
]
