"""Skills of similar tasks, in whose code the names of things are replaced: when they are offered, and what changes."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.agents.skills_text import render_skills, skill_of
from rlgpt.domain import Bundle, CodedAction, CodedFeatures, CodedFunction, Output, Parameter, Task
from rlgpt.plugin.library import library_of
from rlgpt.plugin.manager import PluginManager
from rlgpt.sandbox import Library, Signature, ViewDoc
from rlgpt.skills import Offered, SkillId, SkillLibrary, SkillRecord, Start, Wanted, needs_of, offer
from rlgpt.skills.needs import similarity, task_words
from rlgpt.skills.offering import LEAST, RENAMED, Choice
from rlgpt.skills.renaming import with_names
from shelf import ORIGIN, SPACE

SUFFIXES = {"handle": ("m", 3), "done": ("", 1)}
OPEN = """
def run():  # the drawer
    \"\"\"Open the drawer.\"\"\"
    view = yield observe()
    if not view["drawer_done"]:
        yield reach(target='drawer', height=view["drawer_handle"][2])
"""


def world(*things: str, choices: Iterable[str] | None = None, more: Iterable[ViewDoc] = ()) -> Library:
    """A library whose view has a handle of each thing, and in which the hand can reach each of ``choices``."""
    docs = [ViewDoc(name=f"{t}_{s}", unit=unit, size=size) for t in things for s, (unit, size) in SUFFIXES.items()]
    values = tuple(things if choices is None else choices)
    target = Parameter(name="target", kind="choice", choices=values, default=values[0])
    height = Parameter(name="height", low=0, high=1, default=0, unit="m")
    view = (ViewDoc(name="hand", unit="m", size=3), *docs, *more)
    return Library(primitives=(Signature(name="reach", parameters=(target, height)),), view=view)


GOAL = "Open the {} in the hall by its handle, slowly."
TWO = "Open the {} and the gate in the hall by the handle, slowly."


def task(thing: str, *, goal: str = GOAL) -> Task:
    return Task(id=f"hall/{thing}", goal=goal.format(thing.replace("_", " ")), horizon=40, success="it is open")


def record(
    of: Task, library: Library, actions: tuple[CodedAction, ...], functions: tuple[CodedFunction, ...] = ()
) -> SkillRecord:
    return SkillRecord(
        id=SkillId(name=of.id.replace("/", "_"), version=1),
        goal=of.goal,
        task=of.id,
        plugin=ORIGIN[0],
        version_of_plugin=ORIGIN[1],
        needs=needs_of(of.id.partition("/")[0], SPACE, library, actions, functions),
        starts=tuple(Start(seed=600_000 + i, success=True, steps=12) for i in range(20)),
        created="2026-11-23T12:00:00+00:00",
    )


def add(
    shelf: SkillLibrary,
    source: str = OPEN,
    *,
    of: Task | None = None,
    there: Library | None = None,
    functions: tuple[CodedFunction, ...] = (),
    name: str = "pull",
) -> None:
    of, there = of or task("drawer"), there or world("drawer")
    actions = (CodedAction(name=name, doc="open it", source=source, max_steps=40),)
    shelf.add(Bundle(actions=actions, functions=functions), record(of, there, actions, functions))


def offered(shelf: SkillLibrary, here: Library | None = None, of: Task | None = None) -> tuple[Offered, ...]:
    return offer(shelf, Wanted(of or task("locker"), here or world("locker"), SPACE), *ORIGIN).offered


def source_of(skills: tuple[Offered, ...]) -> str:
    (skill,) = skills
    return skill.actions[0].source


def test_code_is_offered_with_the_names_of_the_things_of_the_task(library: SkillLibrary) -> None:
    add(library)
    (skill,) = offered(library)
    changed = OPEN.replace('"drawer_', '"locker_').replace("'drawer'", "'locker'")
    assert skill.actions[0].source == changed
    assert changed.count("drawer") == 2, "comments and docstrings keep the old name"
    assert skill.goal == "(here its code has locker in place of drawer, untested) " + GOAL.format("drawer")
    assert skill.changed == "locker in place of drawer"
    assert "steps, with the names of its own task" in render_skills([skill])
    assert "steps, with the names of its own task" in skill_of([skill], skill.actions[0].name)
    assert (skill.actions[0].name, skill.task) == ("pull", "hall/drawer")
    assert skill.success is not None
    assert skill.success.episodes == 20


def test_stored_choice_contains_the_changed_code(library: SkillLibrary) -> None:
    add(library)
    choice = Choice(offered=offered(library))
    assert "locker" in source_of(choice.offered)
    assert Choice.model_validate_json(choice.model_dump_json()) == choice


def test_skill_that_fits_is_never_changed(library: SkillLibrary) -> None:
    add(library)
    assert source_of(offered(library, world("drawer", "locker"))) == OPEN


@pytest.mark.parametrize(
    ("here", "goal"),
    [
        (world("locker", "gate"), TWO),  # both could replace the drawer
        (world("gate"), GOAL),  # the task does not speak of a gate
        (world("locker", choices=["gate"]), GOAL),  # the hand cannot reach the locker
        (world("gate", choices=["gate", "locker"], more=[ViewDoc(name="locker_done", size=1)]), GOAL),
        (
            world(choices=["locker"], more=[ViewDoc(name="locker_done"), ViewDoc(name="locker_handle", unit="cm")]),
            GOAL,
        ),
    ],
)
def test_code_is_not_offered_without_exactly_one_fitting_thing(library: SkillLibrary, here: Library, goal: str) -> None:
    add(library)
    other = task("locker", goal=goal)
    assert similarity(task_words(task("drawer").goal, "hall/drawer"), task_words(other.goal, other.id)) >= LEAST
    assert offered(library, here, other) == ()


@pytest.mark.parametrize(
    "here",
    [
        world("locker", "gate", choices=["locker"]),
        world(
            "locker",
            choices=["locker", "gate"],
            more=[ViewDoc(name="gate_done", size=1), ViewDoc(name="gate_handle", unit="cm", size=3)],
        ),
    ],
)
def test_thing_with_other_keys_or_choices_is_no_second_candidate(library: SkillLibrary, here: Library) -> None:
    add(library)
    assert "in place of drawer" in offered(library, here, task("locker", goal=TWO))[0].goal


def test_skill_of_another_kind_of_task_is_not_changed(library: SkillLibrary) -> None:
    add(library)
    assert len(offered(library)) == 1
    assert offered(library, of=task("locker", goal="Paint the {} red and green.")) == ()


def test_two_things_do_not_become_one(library: SkillLibrary) -> None:
    source = OPEN + '    view = yield observe()\n    yield reach(target="gate", height=view["gate_handle"][2])\n'
    add(library, source, of=task("drawer", goal=TWO), there=world("drawer", "gate"))
    assert offered(library) == ()
    changed = source.replace('"drawer_', '"locker_').replace("'drawer'", "'locker'")
    assert source_of(offered(library, world("locker", "gate"), task("locker", goal=TWO))) == changed


@pytest.mark.parametrize(
    "more",
    [
        "memory['locker'] = 1",  # two constants would become one
        "x = 'drawer' 'x' in ('dra' 'wer_done',)",  # split
        "x = '\\x64rawer'",
        "x = f'\\x64rawer_{view}'",
        "jump()",  # nothing that names could repair
        "yield jump()",
    ],
)
def test_code_that_cannot_be_changed_with_certainty_is_not_offered(library: SkillLibrary, more: str) -> None:
    add(library, OPEN.replace("run()", "run(memory)") + f"        {more}\n")
    assert offered(library) == ()


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x = f'drawer_{kind}'", "x = f'locker_{kind}'"),
        ('x = f"""drawer_{view["drawer_done"]}_{1:>3}"""', 'x = f"""locker_{view["locker_done"]}_{1:>3}"""'),
        ("x = f'drawer_{kind} is open'", "x = f'drawer_{kind} is open'"),
        ("x = f'the drawer {kind}'", "x = f'the drawer {kind}'"),
        ("x = 'drawer_' + kind + r'drawer'", "x = 'locker_' + kind + r'locker'"),
        ("x = 'drawer' '_done'", "x = 'locker' '_done'"),
        ("drawer = 'a drawer' + 'drawers' + 'Drawer'", "drawer = 'a drawer' + 'drawers' + 'Drawer'"),
        ("x = 'drawer_size'", "x = 'drawer_size'"),  # no key of the view
        ("x = 'ä€😀' + u'drawer' + '''drawer'''", "x = 'ä€😀' + u'locker' + '''locker'''"),
        ("x = b'drawer'  # 'drawer'", "x = b'drawer'  # 'drawer'"),
        ("x = f'{1:drawer_}{kind!r}'", "x = f'{1:drawer_}{kind!r}'"),
    ],
)
def test_only_constants_that_name_a_thing_change(library: SkillLibrary, line: str, changed: str) -> None:
    add(library, OPEN + f"        kind = 'done'\n        {line}\n")
    assert source_of(offered(library)).splitlines()[-1].strip() == changed


def test_features_change_with_the_actions_and_keep_their_outputs(library: SkillLibrary) -> None:
    gap = CodedFeatures(
        name="geometry",
        outputs=(Output(name="gap", low=-9, high=9, unit="m"),),
        source='def features(view, memory):\n    return {"gap": view["drawer_handle"][0] - view["hand"][0]}\n',
    )
    source = OPEN.replace("[2])", "[2])\n        view = yield observe()\n        yield reach(height=view['gap'])")
    add(library, source, functions=(gap,))
    (skill,) = offered(library)
    assert skill.functions == (gap.model_copy(update={"source": gap.source.replace("drawer", "locker")}),)
    assert skill.actions[0].source.count("locker") == 3


def test_output_of_a_feature_is_not_taken_for_a_thing(library: SkillLibrary) -> None:
    feature = CodedFeatures(
        name="geometry",
        outputs=(Output(name="drawer", low=0, high=1),),
        source='def features(view, memory):\n    return dict([("drawer", view["hand"][0])])\n',
    )
    add(library, OPEN + "        yield reach(height=view['drawer'])\n", functions=(feature,))
    assert offered(library) == ()


def test_few_changed_skills_are_offered_and_none_if_a_similar_skill_fits(library: SkillLibrary) -> None:
    for thing in ("drawer", "gate", "window"):
        add(library, OPEN.replace("drawer", thing), of=task(thing), there=world(thing), name=f"pull_{thing}")
    add(library, "def run():\n    yield reach(height=0.5)\n", of=task("arm", goal="Lift the arm."), name="lift")
    chosen = offered(library)
    assert len(chosen) == 1 + RENAMED
    assert [o.id.name for o in chosen[:1]] == ["hall_arm"], "what fits comes first"
    assert all("in place of" in o.goal for o in chosen[1:])
    add(library, OPEN.replace("drawer", "locker"), of=task("locker"), there=world("locker"), name="pull_locker")
    assert [o.id.name for o in offered(library)] == ["hall_locker", "hall_arm"]


STATEMENTS = (
    "x = view['drawer_done']",
    "drawer = {'drawer': 1, 'drawer_handle': f'drawer_{x}'}",
    "y = f'{view[\"drawer_done\"]}_drawer'  # drawer_done",
    "z = ('drawer'\n     '_done')",
    "w = '''drawer\n'''",
    "v = 'é' + 'drawer_'",
    "u = f'drawer_{x!r:>{10}}'",
    "match x:\n    case {'drawer_done': 'drawer'}: pass",
    "t = [b'drawer', rb'drawer_', R'drawer']",
    "s = 1; r = 'drawer'; q = \"drawer_handle\"",
    "\x0cp = 'drawer'",
    "o = 'other' + \\\n  'drawer'",
)
sources = st.lists(st.sampled_from(STATEMENTS), max_size=6).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join([*lines, ""]).replace("\n", end))
)
OLD = ("drawer", "drawer_", "drawer_done", "drawer_handle")
new_names = st.from_regex(r"[A-Za-z0-9_]{1,12}", fullmatch=True).filter(lambda n: "drawer" not in n and n != "other")


def texts(new: str) -> dict[str, str]:
    return {old: new + old.removeprefix("drawer") for old in OLD}


class _NoTexts(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(value="") if isinstance(node.value, str) else node


def other_tokens(source: str) -> list[str]:
    found = tokenize.generate_tokens(io.StringIO(source, newline=None).readline)
    return [t.string for t in found if "STRING" not in tokenize.tok_name[t.type]]


@given(source=sources, new=new_names)
def test_changed_source_differs_only_in_string_constants(source: str, new: str) -> None:
    changed, _ = with_names(source, {"drawer": new}, texts(new))
    before, after = (ast.dump(_NoTexts().visit(ast.parse(s))) for s in (source, changed))
    assert before == after
    assert other_tokens(changed) == other_tokens(source)
    assert with_names(source, {"drawer": "drawer"}, texts("drawer"))[0] == source
    back = {value: key for key, value in texts(new).items()}
    assert with_names(changed, {new: "drawer"}, back)[0] == source


@pytest.mark.parametrize(
    "source",
    [
        "\0",
        "'drawer",
        "\ud800'drawer'",
        "(" * 5_000,
        "x = " + "-" * 5_000 + "1",
        "'drawer'\n" * 10_000,
        "f'{'drawer_'}{",
    ],
)
def test_odd_sources_give_no_offer(library: SkillLibrary, source: str) -> None:
    bundle = Bundle(actions=(CodedAction(name="odd", doc="", source=OPEN, max_steps=40),))
    shared = bundle.actions[0].model_copy(update={"shared": source})
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        with_names(source, {"drawer": "locker"}, texts("locker"))
    if source.isprintable():
        needs = record(task("drawer"), world("drawer"), bundle.actions)
        library.add(Bundle(actions=(shared,)), needs)
        assert offered(library) == ()


odd = st.text("ab_dÄ \n{}'\"", max_size=8) | st.sampled_from(["drawer", "drawer_", "_drawer", "__", "a" * 100])


@given(keys=st.lists(odd, max_size=6), choices=st.lists(odd, max_size=6), goal=odd)
def test_odd_names_in_a_record_raise_no_error(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str], choices: list[str], goal: str
) -> None:
    shelf = SkillLibrary(tmp_path_factory.mktemp("odd"))
    actions = (CodedAction(name="odd", doc="", source=OPEN, max_steps=40),)
    made = record(task("drawer"), world("drawer"), actions)
    reach = {"name": "reach", "arguments": [{"name": "target", "kind": "choice", "choices": choices}]}
    view = [{"name": key} for key in keys]
    needs = type(made.needs).model_validate({**made.needs.model_dump(), "view": view, "primitives": [reach]})
    shelf.add(Bundle(actions=actions), made.model_copy(update={"needs": needs, "goal": f"{made.goal} {goal}"}))
    for skill in offered(shelf):
        assert ast.parse(skill.actions[0].source)


@pytest.fixture(scope="module")
def real() -> Callable[..., Any]:
    """``real(task)`` is a task of an installed plugin, and its library."""

    def found(id: str) -> tuple[Task, Library]:
        plugin, task = PluginManager().task(id)
        return task, library_of(plugin, task)

    return found


BURNER = """
def run(turns=3.0):
    view = yield observe()
    for _ in range(int(turns)):
        if view["bottom_burner_done"] > 0.5:
            return
        x, y, z = view["bottom_burner_handle"]
        yield angled_grasp(x=x, y=y, z=z, roll=-view["bottom_burner_joint"])
        yield rotate(roll=0.25)
        view = yield observe()
"""
BEEF = """
def run():
    for _ in range(20):
        view = yield observe()
        if view["beef_count"] > 0:
            return
        if view["drop_seen"]:
            yield approach(target="drop")
        elif view["cow_seen"] and view["aim_entity"] == "cow" and view["aim_reach"]:
            yield attack()
        elif view["cow_seen"]:
            yield approach(target="cow")
        else:
            yield explore()
"""


@pytest.mark.parametrize(
    ("own", "other", "source", "names"),
    [
        ("kitchen/bottom_burner", "kitchen/top_burner", BURNER, {"bottom_burner": "top_burner"}),
        ("kitchen/microwave", "kitchen/hinge_cabinet", BURNER.replace("bottom_burner", "microwave"), {}),
        ("minecraft/harvest_beef", "minecraft/harvest_mutton", BEEF, {"cow": "sheep", "beef": "mutton"}),
        ("minecraft/harvest_beef", "minecraft/harvest_wool", BEEF, {}),
    ],
)
def test_skill_of_a_plugin_serves_the_similar_task_of_the_plugin(
    library: SkillLibrary, real: Callable[..., Any], own: str, other: str, source: str, names: dict[str, str]
) -> None:
    there, here = real(own), real(other)
    add(library, source, of=there[0], there=there[1], name="work")
    assert source_of(offered(library, there[1], there[0])) == source
    chosen = offered(library, here[1], here[0])
    if not names:
        assert chosen == ()
        return
    changed = source
    for old, new in names.items():
        changed = changed.replace(old, new)
        assert f"{new} in place of {old}" in chosen[0].goal
    assert source_of(chosen) == changed
