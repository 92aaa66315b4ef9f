"""A graph with faults is rejected, or repaired by the language model, before any sub-goal is learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from journey import (
    DOOR,
    KEY,
    SETTINGS,
    TASK,
    context,
)
from rlgpt.agents.planner import FixedPlanner, LLMPlanner
from rlgpt.domain import GoalGraph
from rlgpt.errors import ConfigError, UnknownNameError, UnusableReplyError
from rlgpt.planner import PlannerContext, PlannerSettings, run
from rlgpt.planner.build import graph
from rlgpt.plugin.library import library_of
from rlgpt.runs import Run
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM

JOURNEY = Path(__file__).parent / "journey.py"


def test_planner_error_names_the_role_that_has_no_language_model() -> None:
    library = library_of(GridPlugin(), TASK)
    given = PlannerContext(library, SandboxLimits(), PlannerSettings(), lambda: {"slow": FakeLLM({})})
    with pytest.raises(UnknownNameError, match="role with a language model 'planner'"):
        graph(given)


@pytest.mark.parametrize(
    ("done", "fault"),
    [
        (
            "def done(view, memory):\n    return not view['holding']\n",
            "key_held: its predicate is True at the start of 3",
        ),
        ("def done(view, memory):\n    return view['map'][0] / 2\n", "key_held: its predicate failed, line 2"),
    ],
)
def test_graph_with_a_wrong_predicate_is_rejected_before_any_sub_goal_is_learned(
    tmp_path: Path, done: str, fault: str
) -> None:
    bad = GoalGraph(nodes=(KEY.model_copy(update={"done": done}), DOOR))
    with pytest.raises(ConfigError, match=fault):
        run(context(tmp_path / "run", tmp_path / "steps", planner=FixedPlanner(bad)))
    assert not (tmp_path / "run" / "nodes").exists()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"done": "def done(view, memory):\n    return bool(memory.get('x'))\n"},
            "key_held: its predicate uses `memory`",
        ),
        ({"done": "import os\ndef done(view, memory):\n    return False\n"}, "key_held: line 1"),
        ({"horizon": 5000}, "key_held: its horizon is 5000"),
    ],
)
def test_given_graph_is_checked_by_lint_before_any_episode(change: dict[str, Any], fault: str, tmp_path: Path) -> None:
    graph = GoalGraph(nodes=(KEY.model_copy(update=change), DOOR))
    planner = FixedPlanner(graph, library_of(GridPlugin(), TASK))
    with pytest.raises(ConfigError, match=fault):
        run(context(tmp_path / "run", tmp_path / "steps", planner=planner))
    assert counted(tmp_path / "steps") == 0


def test_graph_whose_last_predicate_differs_from_the_success_is_rejected(tmp_path: Path) -> None:
    eager = DOOR.model_copy(update={"done": "def done(view, memory):\n    return True\n"})
    with pytest.raises(ConfigError, match="door_open: the last sub-goal must be the task's own success"):
        run(context(tmp_path / "run", tmp_path / "steps", planner=FixedPlanner(GoalGraph(nodes=(KEY, eager)))))


def reply(needs: str = '"key_held"', key: str = KEY.done, horizon: int = 30) -> str:
    return f"""```json
{{"thoughts": "a key, then the door",
 "sub_goals": [{{"name": "key_held", "goal": "the key is held", "horizon": {horizon}}},
               {{"name": "door_open", "goal": "the door is open", "needs": [{needs}], "horizon": 30}}]}}
```
```python
# sub-goal: key_held
{key}
# sub-goal: door_open
{DOOR.done}
```"""


def llm_planner(llm: FakeLLM, repairs: int) -> LLMPlanner:
    return LLMPlanner(llm, library_of(GridPlugin(), TASK), SandboxLimits(), repairs=repairs)


def test_language_model_receives_the_faults_of_its_graph_and_repairs_it(tmp_path: Path) -> None:
    used = "def done(view, memory):\n    return memory.get('x', False)\n"
    llm = FakeLLM(
        {
            "planner": [
                reply('"lock"'),
                reply(key=used, horizon=500),
                reply(key="def done(v, m):\n    return True\n"),
                reply(),
            ]
        }
    )
    ctx = context(tmp_path / "run", tmp_path / "steps", planner=llm_planner(llm, 3), budget=SETTINGS.budget)
    assert run(ctx).report is not None
    asked = [r.messages[-1].content for r in llm.requests[1:]]
    assert "door_open: it needs 'lock', which is no sub-goal" in asked[0]
    assert "key_held: its predicate uses `memory`" in asked[1]
    assert "key_held: its horizon is 500; an episode of the task has 80 steps" in asked[1]
    assert "key_held: its predicate is True at the start of 3 of 3 episodes" in asked[2]
    assert ctx.run.record.success_rate == 1
    system = llm.requests[0].messages[0].content
    assert "# The library of coded actions" in system, "the prefix is that of the other roles"


def test_run_fails_after_the_maximal_number_of_graph_repairs(tmp_path: Path) -> None:
    llm = FakeLLM({"planner": reply('"lock"')})
    with pytest.raises(UnusableReplyError, match="lock"):
        run(context(tmp_path / "run", tmp_path / "steps", planner=llm_planner(llm, 1)))
    assert len(llm.requests) == 2
    assert Run.open(tmp_path / "run").record.status == "failed"
