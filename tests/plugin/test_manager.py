"""The plugin manager offers plugins that work, names broken plugins, and loads each plugin when it is needed."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from rlgpt.errors import PluginError, UnknownNameError
from rlgpt.plugin.manager import PluginManager

WORKING = """
from rlgpt.domain import Task
from rlgpt.plugin import EnvironmentPlugin, hookimpl

class P(EnvironmentPlugin):
    name = "{name}"
    def tasks(self):
        ids = {ids!r}
        return {{i: Task(id=i, goal="g", horizon=5, success="s") for i in ids}}
    def make_env(self, task, *, seed, render_mode=None):
        raise NotImplementedError

@hookimpl
def rlgpt_plugins():
    return [P()]
"""


class Site:
    """A folder of modules on the import path, and entry points that name these modules."""

    def __init__(self, folder):
        self.folder, self.points = folder, []

    def add(self, name: str, source: str, module: str = "") -> None:
        module = module or f"site_{self.folder.name.replace('-', '_')}_{len(self.points)}"
        (self.folder / f"{module}.py").write_text(source)
        self.points.append(EntryPoint(name, module, "rlgpt"))

    def working(self, name: str, *ids: str, point: str = "") -> None:
        self.add(point or name, WORKING.format(name=name, ids=ids or (f"{name}/one", f"{name}/two")))

    def manager(self, disabled: str = "") -> PluginManager:
        return PluginManager(self.points, disabled=disabled)

    def imported(self) -> list[str]:
        return [p.name for p in self.points if p.value in sys.modules]


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return Site(tmp_path)


def test_manager_lists_the_tasks_of_every_plugin(site) -> None:
    site.working("b")
    site.working("a")
    assert list(site.manager().tasks()) == ["a/one", "a/two", "b/one", "b/two"]
    assert list(site.manager().plugins) == ["a", "b"]


def test_manager_loads_only_the_plugin_of_the_selected_task(site) -> None:
    site.working("a")
    site.working("b")
    manager = site.manager()
    assert site.imported() == []
    plugin, task = manager.task("b/two")
    assert (plugin.name, task.id) == ("b", "b/two")
    assert site.imported() == ["b"]


SUITE = WORKING.replace(
    "    def make_env",
    """    def unlisted_tasks(self):
        more = {more!r}
        return {{i: Task(id=i, goal="g", horizon=5, success="s") for i in more}}
    def make_env""",
)


def test_manager_finds_unlisted_tasks_and_does_not_list_them(site) -> None:
    site.add("a", SUITE.format(name="a", ids=("a/one",), more=("a/x1", "a/x2")))
    site.working("b")
    manager = site.manager()
    assert manager.task("a/x2")[1].id == "a/x2"
    assert site.imported() == ["a"]
    assert list(manager.tasks()) == ["a/one", "b/one", "b/two"]
    assert list(manager.unlisted_tasks()) == ["a/x1", "a/x2"]
    with pytest.raises(UnknownNameError, match="a/x1"):
        manager.task("a/x3")


@pytest.mark.parametrize(("more", "said"), [(("a/one",), "as tasks\\(\\) has"), (("b/x",), "does not start with")])
def test_manager_refuses_unlisted_tasks_with_ids_that_are_taken_or_of_another_plugin(site, more, said) -> None:
    site.add("a", SUITE.format(name="a", ids=("a/one",), more=more))
    with pytest.raises(PluginError, match=said):
        site.manager().task("a/other")


def test_manager_finds_a_plugin_whose_entry_point_has_another_name(site) -> None:
    site.working("a")
    site.working("hidden", point="suite")
    assert site.manager().task("hidden/one")[0].name == "hidden"
    assert site.manager().plugin("hidden").name == "hidden"


BROKEN = {
    "import": ("import no_such_module_here", "ModuleNotFoundError: No module named 'no_such_module_here'"),
    "exit": ("raise SystemExit('bye')", "SystemExit: bye"),
    "no hook": ("x = 1", "has no hook: define rlgpt_plugins"),
    "misspelt": (
        "from rlgpt.plugin import hookimpl\n@hookimpl\ndef rlgpt_plugin():\n    return []",
        "unknown hook 'rlgpt_plugin'",
    ),
    "class": (WORKING.format(name="bad", ids=()).replace("[P()]", "[P]"), "must return instances of EnvironmentPlugin"),
    "name": (WORKING.format(name="Bad", ids=()), "P.name is 'Bad'"),
    "prefix": (WORKING.format(name="bad", ids=("good/x",)), "'good/x' does not start with its plugin's name, 'bad/'"),
    "key": (WORKING.format(name="bad", ids=("bad/x",)).replace("{i: Task", "{'bad/y': Task"), "under the key 'bad/y'"),
    "type": (
        WORKING.format(name="bad", ids=()).replace("return {i", "return {'bad/x': 3}\n        return {i"),
        "a int",
    ),
    "raises": (WORKING.format(name="bad", ids=()).replace("ids = ()", "ids = 1 / 0"), "ZeroDivisionError"),
}


@pytest.mark.parametrize(("source", "text"), BROKEN.values(), ids=BROKEN)
def test_broken_plugin_is_named_and_skipped_and_raises_an_error_only_when_selected(
    site, source: str, text: str
) -> None:
    site.add("bad", source)
    site.working("good")
    manager = site.manager()
    assert manager.task("good/one")[1].id == "good/one"
    assert list(manager.tasks()) == ["good/one", "good/two"]
    assert list(manager.broken) == ["bad"]
    assert text in manager.broken["bad"]
    with pytest.raises(PluginError, match="plugin 'bad' is broken"):
        manager.task("bad/x")
    with pytest.raises(UnknownNameError, match="Broken plugins: bad: "):
        manager.task("good/three")


def test_manager_refuses_a_second_plugin_of_the_same_name(site) -> None:
    site.working("twin")
    site.working("twin", point="other")
    manager = site.manager()
    assert manager.plugin("twin").name == "twin"
    assert "named 'twin' already" in manager.broken["other"]


def test_manager_loads_two_entry_points_of_the_same_name(site) -> None:
    site.working("a", point="same")
    site.working("b", point="same")
    assert list(site.manager().plugins) == ["a", "b"]


@pytest.mark.parametrize(("given", "near"), [("kitchen/kettel", "kitchen/kettle"), ("kitchn/kettle", "kitchen/kettle")])
def test_unknown_task_error_lists_similar_and_valid_names(site, given: str, near: str) -> None:
    site.working("kitchen", "kitchen/kettle", "kitchen/microwave")
    with pytest.raises(UnknownNameError) as caught:
        site.manager().task(given)
    assert f"Did you mean '{near}'" in str(caught.value)
    assert caught.value.valid == ["kitchen/kettle", "kitchen/microwave"]
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("given", ["", "kitchen", "/", "kitchen/", "nowhere/x"])
def test_manager_refuses_an_incomplete_or_unknown_task_id(site, given: str) -> None:
    site.working("kitchen", "kitchen/kettle")
    with pytest.raises(UnknownNameError):
        site.manager().task(given)


def test_unknown_plugin_error_names_similar_plugins(site) -> None:
    site.working("kitchen")
    with pytest.raises(UnknownNameError, match=r"unknown plugin 'kichen'\. Did you mean 'kitchen'"):
        site.manager().plugin("kichen")


@pytest.mark.parametrize(
    ("disabled", "left"), [("", ["a", "b"]), ("1", []), ("a", ["b"]), ("a, b", []), ("inner", ["a", "b"])]
)
def test_environment_variable_rlgpt_disable_plugins_disables_the_named_plugins(
    site, monkeypatch, disabled: str, left: list[str]
) -> None:
    site.working("a")
    site.working("b")
    site.working("inner", point="outer")
    monkeypatch.setenv("RLGPT_DISABLE_PLUGINS", disabled)
    manager = PluginManager(site.points)
    assert [p for p in manager.plugins if p != "inner"] == left
    off = {"a", "b", "inner"} - set(manager.plugins)
    for name in off:
        with pytest.raises(PluginError, match=f"{name!r} is turned off by RLGPT_DISABLE_PLUGINS"):
            manager.task(f"{name}/one")


def test_manager_offers_the_plugins_of_a_registered_module(site) -> None:
    site.working("a")
    module = __import__(site.points[0].value)
    manager = PluginManager([], disabled="")
    manager.register(module, "a")
    assert list(manager.tasks()) == ["a/one", "a/two"]


def test_broken_plugins_of_the_manager_are_among_the_installed_entry_points() -> None:
    assert PluginManager(disabled="").broken.keys() <= {p.name for p in _installed()}


def _installed():
    from importlib.metadata import entry_points

    return entry_points(group="rlgpt")


def test_importing_rlgpt_plugin_imports_no_slow_module() -> None:
    code = "import sys, rlgpt.plugin; print(sorted({'numpy', 'torch', 'gymnasium', 'mujoco'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
