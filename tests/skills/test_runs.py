"""A run with a library of skills offers skills to its agents, which keep or change them, and adds its proved result."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "loop"))

from rlgpt.loop import Observer, Result, run
from rlgpt.loop.skills import skill_name
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.skills import Served, SkillId, SkillLibrary
from rlgpt.testing.grid import FETCH
from rlgpt.testing.llm import FakeLLM
from story import SETTINGS, context

FEATURE = 'def features(view, memory):\n    return {"rows": view["key"][0] - view["agent"][0]}\n'
BY_FEATURE = FETCH.replace('view["key"][axis] - view["agent"][axis]', "FAR").replace(
    "FAR", '(view["rows"] if axis == 0 else view["key"][1] - view["agent"][1])'
)
EDIT = "<<<<<<< SEARCH\n    yield use()\n=======\n    yield use()\n    yield use()\n>>>>>>> REPLACE\n"
FAST = SETTINGS.model_copy(update={"report_episodes": 12})


class Told(Observer):
    def __init__(self) -> None:
        self.said: list[str] = []

    def message(self, text: str) -> None:
        self.said.append(text)


def plan(*, keep: bool = False, feature: bool = False) -> str:
    action = {"name": "fetch", "kind": "code", "keep": keep}
    action |= {} if keep else {"description": "walk to the key and take it", "reason": "geometry"}
    functions = [{"name": "geometry", "kind": "feature", "description": "rows to the key"}] if feature else []
    return json.dumps({"thoughts": "", "sub_actions": [action], "functions": functions})


def code(source: str = FETCH) -> str:
    head = {"thoughts": "", "doc": "Walk to the key and take it.", "parameters": [], "max_steps": 30}
    return f"{json.dumps(head)}\n```python\n{source}```"


def played(
    folder: Path, library: SkillLibrary | None, *, told: Told | None = None, settings: Any = FAST, **script: Any
) -> tuple[Result, FakeLLM]:
    llm = FakeLLM({"slow": plan(), "fast": code(), **script})
    return run(context(folder, PPO(), llm, skills=library, settings=settings, observer=told or Told())), llm


def systems(llm: FakeLLM) -> set[str]:
    return {request.messages[0].content for request in llm.requests}


def test_prompts_with_an_empty_library_equal_those_without_a_library(tmp_path: Path, library: SkillLibrary) -> None:
    _, without = played(tmp_path / "without", None)
    _, empty = played(tmp_path / "empty", library)
    assert [r.model_dump() for r in empty.requests] == [r.model_dump() for r in without.requests]
    assert not (tmp_path / "without" / "skills.json").exists()


def test_next_run_keeps_a_proved_skill_without_request_and_rehearsal(tmp_path: Path, library: SkillLibrary) -> None:
    first, asked = played(tmp_path / "1", library)
    skill = library.newest("grid_key")
    assert skill.bundle.actions == first.history[0].actions
    assert skill.record.success is not None
    assert (skill.record.success.point, len(skill.record.starts)) == (1.0, 12)
    assert skill.record.spent_tokens == 120 * len(asked.requests)
    assert skill.is_own

    second, again = played(tmp_path / "2", library, slow=plan(keep=True))
    assert [key.role for key in again.keys] == ["slow"]
    assert second.history[0].actions == first.history[0].actions
    assert second.history[0].steps.rehearsal == 0
    assert second.history[0].plan.sub_actions[0].description == "Walk to the key and take it."
    assert library.versions("grid_key") == [1], "the same code is not added twice"
    assert [served.made for served in library.newest("grid_key").served] == [SkillId(name="grid_key", version=1)]
    with_, without = systems(again).pop(), systems(asked).pop()
    here = with_.index("# The library of skills")
    there = without.index("# What learning can use")
    assert with_[:here] == without[:there], "the section comes after the library of coded actions"
    assert with_.endswith(without[there:])
    assert len(with_) - len(without) < 1_200
    assert "- `fetch`: Walk to the key and take it." in with_
    assert "yield" not in with_[here : with_.index("# What learning can use")], "no code"


def test_fast_agent_sees_the_code_of_an_offered_skill_and_edits_it(tmp_path: Path, library: SkillLibrary) -> None:
    played(tmp_path / "1", library)
    result, llm = played(tmp_path / "2", library, fast=code(EDIT))
    assert result.history[0].actions[0].source.strip() == f"{FETCH.strip()}\n    yield use()"
    asked = next(r for r in llm.requests if r.key.role == "fast")
    assert "The library of skills has a `fetch`" in asked.messages[-1].content
    assert FETCH.strip() in asked.messages[-1].content
    new = library.newest("grid_key")
    assert new.id.version == 2
    assert new.record.made_from == (SkillId(name="grid_key", version=1),)
    old = library.load(SkillId(name="grid_key", version=1))
    assert old.bundle.actions[0].source.strip() == FETCH.strip()


def test_kept_skill_brings_the_features_that_it_reads(tmp_path: Path, library: SkillLibrary) -> None:
    outputs = [{"name": "rows", "low": -6, "high": 6}]
    feature = f"{json.dumps({'thoughts': '', 'doc': 'Rows to go.', 'outputs': outputs})}\n```python\n{FEATURE}```"
    first, _ = played(tmp_path / "1", library, slow=plan(feature=True), fast=code(BY_FEATURE), function=feature)
    assert library.names() == ["grid_key"]
    second, llm = played(tmp_path / "2", library, slow=plan(keep=True))
    assert [key.role for key in llm.keys] == ["slow"]
    assert second.history[0].functions == first.history[0].functions
    assert second.report is not None
    assert second.report.evaluation.success_rate == 1.0
    assert "It reads the feature `geometry`" in systems(llm).pop()


def test_resumed_run_offers_the_same_skills_as_before(tmp_path: Path, library: SkillLibrary) -> None:
    played(tmp_path / "1", library)
    stop = FakeLLM({"slow": plan(keep=True)})
    fault = context(tmp_path / "2", PPO(), stop, skills=library, settings=FAST, at=3)
    with pytest.raises(ValueError, match="the simulator failed"):
        run(fault)
    library.remove("grid_key")
    result, llm = played(tmp_path / "2", library, slow=plan(keep=True))
    assert llm.requests == []
    assert result.history[0].plan.sub_actions[0].keep
    assert library.versions("grid_key") == [1], "what the run kept is proved again"


def test_run_adds_a_skill_only_if_its_report_proves_it_and_only_once(
    tmp_path: Path, library: SkillLibrary, put: Callable[..., SkillId]
) -> None:
    told = Told()
    away = "def run():\n    yield go(direction='up', cells=1)\n"
    one = FAST.model_copy(update={"iterations": 1, "budget": 200, "min_decisions": 10_000})
    review = json.dumps({"thoughts": "", "works": True, "findings": []})
    played(tmp_path / "1", library, told=told, settings=one, fast=code(away), review=review)
    assert library.names() == []
    assert "no skill is added, because the result of the run is not good enough" in told.said
    played(tmp_path / "2", library)
    played(tmp_path / "2", library)
    assert library.versions("grid_key") == [1]
    broken = library.folder / "grid_key" / "1" / "skill.json"
    broken.write_text("{")
    played(tmp_path / "3", library, told=told)
    assert any("is not offered" in line and "skill.json" in line for line in told.said)
    assert library.versions("grid_key") == [1, 2]


def test_run_prints_the_skills_that_were_not_tested_in_the_installed_plugin_version(
    tmp_path: Path, library: SkillLibrary, put: Callable[..., SkillId]
) -> None:
    put("fetch")
    told = Told()
    _, llm = played(tmp_path / "1", library, told=told)
    assert "The library of skills" not in systems(llm).pop()
    assert any(line.startswith("the skill fetch/1 is not offered: ") for line in told.said)
    assert f"to test 1 of these skills, run: rlgpt skills test {library.folder}" in told.said
    assert Run.open(tmp_path / "1").stage("skills", dict) is not None


def test_use_of_a_skill_is_recorded_once_for_each_run(tmp_path: Path, library: SkillLibrary) -> None:
    played(tmp_path / "1", library)
    for _ in range(2):
        played(tmp_path / "2", library, slow=plan(keep=True))
    (served,) = library.newest("grid_key").served
    assert isinstance(served, Served)
    assert (served.task, served.success) == ("grid/key", 1.0)


def test_skills_of_two_tasks_with_long_ids_have_different_names() -> None:
    ids = [f"minecraft/combat_pig_plains_iron_armors_{sword}_sword_shield" for sword in ("iron", "diamond", "wooden")]
    names = [skill_name(id) for id in ids]
    assert len(set(names)) == 3
    assert all(len(name) <= 40 and name.startswith("minecraft_combat_pig_plains_iron") for name in names)
    assert skill_name("kitchen/kettle") == "kitchen_kettle"
    assert skill_name("2d/maze") == "s_2d_maze"
