"""The choice of skills for a run: which skills fit, their order, their maximal number, and that it is reproducible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import Bundle, CodedAction, CodedFeatures, Output
from rlgpt.skills import Offered, SkillId, SkillLibrary, SkillTest, needs_of, offer
from rlgpt.skills.measure import mean_of, success_of
from rlgpt.skills.needs import NeededKey, NeededPrimitive
from rlgpt.skills.offering import SHOWN, SHOWN_ACTIONS
from shelf import ORIGIN, PLUGIN, SPACE, made, wanted

WORDS = ("pick", "up", "the", "key", "door", "open", "walk", "wall", "sheep", "milk")
goals = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
rates = st.integers(1, 6).map(lambda n: (True,) * n + (False,) * (6 - n))
shelves = st.dictionaries(st.sampled_from([f"skill_{c}" for c in "abcdefghij"]), st.tuples(goals, rates), max_size=9)


def offered(library: SkillLibrary, **more: Any) -> tuple[Offered, ...]:
    return offer(library, wanted(**more), *ORIGIN).offered


def filled(folder: Any, shelf: Mapping[str, tuple[str, tuple[bool, ...]]]) -> SkillLibrary:
    library = SkillLibrary(folder)
    for name, (goal, successes) in shelf.items():
        library.add(*made(name, goal=goal, successes=successes, action=f"do_{name}"))
    return library


@settings(max_examples=10)
@given(shelf=shelves, data=st.data())
def test_unrelated_skills_do_not_change_the_rank_of_a_skill(
    tmp_path_factory: pytest.TempPathFactory, shelf: dict[str, tuple[str, tuple[bool, ...]]], data: st.DataObject
) -> None:
    chosen = offered(filled(tmp_path_factory.mktemp("one"), shelf))
    turned = dict(reversed(shelf.items()))
    assert [o.id for o in offered(filled(tmp_path_factory.mktemp("other"), turned))] == [o.id for o in chosen]
    assert len(chosen) == min(SHOWN, len(shelf))
    assert sum(len(o.actions) for o in chosen) <= SHOWN_ACTIONS
    if shelf:
        gone = data.draw(st.sampled_from(sorted(shelf)))
        fewer = offered(filled(tmp_path_factory.mktemp("fewer"), {k: v for k, v in shelf.items() if k != gone}))
        left = [o.id.name for o in chosen if o.id.name != gone]
        assert [o.id.name for o in fewer][: len(left)] == left
    exact = {**shelf, "exact": (wanted().task.goal, (True,) * 6)}
    assert offered(filled(tmp_path_factory.mktemp("exact"), exact))[0].success == success_of((True,) * 6)


def test_skill_with_more_similar_goal_is_ranked_first(put: Callable[..., SkillId], library: SkillLibrary) -> None:
    put("opener", goal="open the door with the key")
    put("taker", goal="pick up the key at once")
    assert [o.id.name for o in offered(library)] == ["taker", "opener"]
    assert [o.id.name for o in offered(library, task="grid/door")] == ["opener", "taker"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def run():\n    yield jump()\n", "jump"),
        ("def run():\n    yield go(height=3)\n", "height"),
        ("def run():\n    use()\n", "yielded"),
        ("def walk():\n    yield use()\n", "run"),
        ("def run(:\n", ""),
    ],
)
def test_skill_is_not_offered_if_its_code_cannot_work_in_the_task(library: SkillLibrary, source: str, why: str) -> None:
    library.add(*made("other", source=source))
    library.add(*made("fetch"))
    assert [o.id.name for o in offered(library)] == ["fetch"]


@pytest.mark.parametrize(
    "change",
    [
        {"plugin": "kitchen"},
        {"space": "Box(3): other"},
        {"view": ({"name": "agent", "unit": "m", "size": 2},)},
        {"view": ({"name": "altitude", "unit": "m", "size": 1},)},
        {"primitives": ({"name": "go", "arguments": ({"name": "direction", "kind": "choice", "choices": ("fly",)},)},)},
        {"primitives": ({"name": "go", "arguments": ({"name": "cells", "kind": "float"},)},)},
        {"primitives": ({"name": "jump"},)},
    ],
)
def test_skill_is_not_offered_if_the_task_lacks_what_it_needs(library: SkillLibrary, change: dict[str, Any]) -> None:
    bundle, record = made("fetch")
    needs = type(record.needs).model_validate({**record.needs.model_dump(), **change})
    library.add(bundle, record.model_copy(update={"needs": needs}))
    assert offered(library) == ()


def test_skill_is_offered_without_the_actions_that_do_not_fit_the_task(library: SkillLibrary) -> None:
    bundle, record = made("fetch")
    source = "def run():\n    view = yield observe()\n    yield jump(view['sky'])\n"
    both = (CodedAction(name="climb", doc="", source=source), bundle.actions[0])
    needs = record.needs.model_copy(
        update={
            "primitives": (*record.needs.primitives, NeededPrimitive(name="jump")),
            "view": (*record.needs.view, NeededKey(name="sky", unit="m", size=1)),
        }
    )
    library.add(bundle.model_copy(update={"actions": both}), record.model_copy(update={"needs": needs}))
    (one,) = offered(library)
    assert [a.name for a in one.actions] == ["fetch"]
    assert one.goal == f"(here without 1 of its actions) {record.goal}"


@pytest.mark.parametrize(
    ("source", "choices"),
    [
        ("def run():\n    yield go(direction='up')\n    yield use() if 'left' == 'down' else use()\n", ("up",)),
        ("def run():\n    yield go('left', 2)\n    print('down')\n", ("left",)),
        ("def run():\n    way = 'up'\n    yield go(direction=way)\n    print('down')\n", ("up", "down")),
        ("def run():\n    yield go(**{'direction': 'right'})\n", ("right",)),
        ("def run():\n    walk = go\n    yield walk(direction='right')\n", ("right",)),
        ("def run():\n    yield use()\n    print('down')\n", None),
    ],
)
def test_needed_choices_are_those_of_the_calls_if_all_of_them_are_constants(
    source: str, choices: tuple[str, ...] | None
) -> None:
    needs = made("walk", source=source)[1].needs
    found = {p.name: p.arguments[0].choices for p in needs.primitives if p.name == "go"}
    assert found.get("go") == choices


def test_skill_fits_another_number_of_discrete_choices_but_no_other_kind_of_action_space(library: SkillLibrary) -> None:
    bundle, record = made("fetch")
    for name, space in (("more", "Discrete(9): one of 9 choices"), ("other", "MultiDiscrete([5, 2]): heads")):
        needs = record.needs.model_copy(update={"space": space})
        library.add(bundle, record.model_copy(update={"needs": needs, "id": SkillId(name=name, version=1)}))
    assert [o.id.name for o in offered(library)] == ["more"]


def test_actions_with_reserved_or_already_offered_names_are_left_out(
    put: Callable[..., SkillId], library: SkillLibrary
) -> None:
    put("best", action="fetch", goal="pick up the key")
    put("worse", action="fetch", goal="walk to the wall")
    assert [o.id.name for o in offered(library)] == ["best"]
    assert offered(library, taken=frozenset({"fetch"})) == ()


def test_offered_version_has_the_settings_of_the_task_and_the_most_reliable_success(
    put: Callable[..., SkillId], library: SkillLibrary
) -> None:
    put("fetch", successes=(True,) * 20)
    put("fetch", successes=(True,) * 3)
    put("fetch", successes=(True,) * 19 + (False,), settings={"slip": 0.2})
    assert offered(library)[0].id.version == 1
    assert offered(library, settings={"slip": 0.2})[0].id.version == 3


def test_skill_is_offered_in_a_new_plugin_version_only_after_it_passed_a_test(
    put: Callable[..., SkillId], library: SkillLibrary
) -> None:
    id = put("fetch")
    new = (ORIGIN[0], "0.2")

    def note(failure: str, version: str = "0.2") -> None:
        library.note(id, SkillTest(time="", plugin=ORIGIN[0], version_of_plugin=version, failure=failure))

    assert "has not been tested" in offer(library, wanted(), *new).refused[str(id)]
    note("")
    assert [o.id for o in offer(library, wanted(), *new).offered] == [id]
    note("it reached 0.1")
    choice = offer(library, wanted(), *new)
    assert choice.offered == ()
    assert choice.refused[str(id)] == "its tests fail with grid-plugin 0.2: it reached 0.1"
    assert [o.id for o in offered(library)] == [id], "in the old version it still works"
    note("not any more", "0.1")
    assert offered(library) == ()


def test_offered_actions_include_their_features_and_their_shared_code(
    library: SkillLibrary,
) -> None:
    far = CodedFeatures(
        name="geometry",
        outputs=(Output(name="far", low=0, high=12),),
        source="def features(view, memory):\n    return {'far': 1}\n",
    )
    unused = far.model_copy(update={"name": "unused", "outputs": (Output(name="near", low=0, high=1),)})
    source = "def run():\n    view = yield observe()\n    if view['far']:\n        yield go(cells=STEP)\n"
    action = CodedAction(name="walk", doc="", source=source, shared="STEP = 2\n")
    bundle, record = made("walk")
    bundle = Bundle(actions=(action,), functions=(far, unused))
    needs = needs_of("grid", SPACE, wanted().library, bundle.actions, bundle.functions)
    library.add(bundle, record.model_copy(update={"needs": needs}))
    (one,) = offered(library)
    assert one.functions == (far,) == one.needed_by(action)
    assert one.actions[0].shared == ""
    assert one.actions[0].source.startswith("STEP = 2\n")
    assert PLUGIN.name == needs.plugin


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_confidence_interval_contains_the_success_rate_and_shrinks_with_more_episodes(successes: list[bool]) -> None:
    one, four = success_of(successes), success_of(successes * 4)
    assert 0 <= one.low <= one.point <= one.high <= 1
    assert four.point == one.point
    assert four.high - four.low < one.high - one.low
    flipped = success_of([not s for s in successes])
    assert flipped.low == pytest.approx(1 - one.high)
    assert mean_of([float(s) for s in successes]).point == pytest.approx(one.point)
