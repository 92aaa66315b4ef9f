"""Finds the installed plugins, which are entry points of the group ``rlgpt``. A plugin is loaded when the process first
needs it.

A broken plugin is reported and skipped. A plugin that cannot be loaded causes an error only when the user selects this
plugin.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple, cast

import pluggy

from rlgpt.domain import Task
from rlgpt.errors import PluginError, UnknownNameError
from rlgpt.plugin import builtin, hookspecs
from rlgpt.plugin.base import EnvironmentPlugin

DISABLE = "RLGPT_DISABLE_PLUGINS"
HOOKS = {
    "agents": "rlgpt_agents",
    "planner": "rlgpt_planners",
    "trainer": "rlgpt_trainers",
    "llm": "rlgpt_llms",
    "observer": "rlgpt_observers",
    "executor": "rlgpt_executors",
}
"""Kind of component (trainer, agents, ...) -> the hook that returns the components of this kind."""
_NAME = re.compile(r"[a-z0-9_]{1,40}")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_CONFIG = re.compile(r"pkg://[A-Za-z_][\w./]*")


class PluginManager:
    """The plugins of one process. The manager imports a plugin when the process first needs the plugin.

    :param points: the entry points to use. Default: those of the installed distributions.
    :param disabled: plugins that are turned off. ``"1"`` turns off all plugins; otherwise the text names entry points
        or plugins, separated by commas. By default, the text is the value of the environment variable
        ``RLGPT_DISABLE_PLUGINS``.
    """

    def __init__(self, points: Iterable[EntryPoint] | None = None, *, disabled: str | None = None) -> None:
        off = os.environ.get(DISABLE, "") if disabled is None else disabled
        self._off = {name.strip() for name in off.split(",") if name.strip()}
        self._given = points
        self._points: dict[str, EntryPoint] | None = None
        self._loaded: set[str] = set()
        self._broken: dict[str, str] = {}
        self._plugins: dict[str, EnvironmentPlugin] = {}
        self._tasks: dict[str, dict[str, Task]] = {}
        self._unlisted: dict[str, dict[str, Task]] = {}
        self._parts: dict[str, dict[str, str]] = {kind: {} for kind in HOOKS}
        self._config: list[str] = []
        self._pluggy = pluggy.PluginManager(hookspecs.GROUP)
        self._pluggy.add_hookspecs(hookspecs)
        self._take("rlgpt", builtin)

    @property
    def broken(self) -> Mapping[str, str]:
        """A dict from the name of an entry point that cannot be loaded to its error. Reading ``broken`` loads
        every plugin.
        """
        self._load(self._find())
        return self._broken

    @property
    def plugins(self) -> Mapping[str, EnvironmentPlugin]:
        """A dict from the name of a plugin to the plugin, for every plugin that works. Reading ``plugins`` loads every
        plugin.
        """
        self._load(self._find())
        return dict(sorted(self._plugins.items()))

    def plugin(self, name: str) -> EnvironmentPlugin:
        """The plugin with the name ``name``. If the entry point has the same name as the plugin, no other plugin is
        loaded.

        :raises PluginError: the plugin is broken, or turned off.
        :raises UnknownNameError: there is no plugin of that name.
        """
        self._load([key for key, point in self._find().items() if point.name == name])
        if name not in self._plugins:
            if name in self._off or "1" in self._off:
                raise PluginError(
                    f"plugin {name!r} is turned off by {DISABLE}={','.join(sorted(self._off))}. Unset this variable."
                )
            for key, text in self._broken.items():
                if self._find()[key].name == name:
                    raise PluginError(f"plugin {name!r} is broken: {text}. Fix or uninstall it.")
            self._load(self._find())
        if name not in self._plugins:
            raise UnknownNameError("plugin", name, self._plugins, self._hint())
        return self._plugins[name]

    def parts(self, kind: str) -> Mapping[str, str]:
        """A dict from name to dotted name, for every component of the kind ``kind`` (a key of :data:`HOOKS`). This
        method loads every plugin.
        """
        self._load(self._find())
        return dict(sorted(self._parts[kind].items()))

    def part(self, kind: str, name: str) -> str:
        """The dotted name of one component, such as a trainer. For a built-in component, the manager loads no plugin.

        :raises UnknownNameError: no distribution offers a component of this kind with this name.
        """
        if name not in self._parts[kind] and name not in self.parts(kind):
            broken = f"Broken plugins: {', '.join(self.broken)}." if self.broken else ""
            raise UnknownNameError(kind, name, self.parts(kind), broken)
        return self._parts[kind][name]

    @property
    def config_packages(self) -> tuple[str, ...]:
        """The folders with configuration groups that plugins offer. Reading ``config_packages`` loads every
        plugin.
        """
        self._load(self._find())
        return tuple(self._config)

    def register(self, module: Any, name: str) -> None:
        """Add a module or object with hooks, as if an entry point with the name ``name`` pointed to it.

        :raises PluginError: the hooks of ``module`` return invalid values.
        """
        self._take(name, module)

    def tasks(self) -> Mapping[str, Task]:
        """A dict from task id to task, for every plugin that works. This method loads every plugin."""
        return {task_id: task for name in self.plugins for task_id, task in sorted(self._tasks[name].items())}

    def unlisted_tasks(self) -> Mapping[str, Task]:
        """A dict from task id to task, with the tasks that plugins have in addition to :meth:`tasks`
        (:meth:`EnvironmentPlugin.unlisted_tasks`). This method loads every plugin.

        :raises PluginError: the further tasks of a plugin are not valid.
        """
        return {task_id: task for name in self.plugins for task_id, task in sorted(self._more(name).items())}

    def task(self, task_id: str) -> tuple[EnvironmentPlugin, Task]:
        """A task and its plugin. If the plugin's entry point has the plugin's name, no other plugin is loaded.

        :raises PluginError: the plugin is broken, turned off, or has invalid tasks.
        :raises UnknownNameError: no task has this id; the message gives similar and valid ids.
        """
        name, slash, _ = task_id.partition("/")
        try:
            plugin = self.plugin(name)
        except UnknownNameError:
            plugin = None
        if plugin is not None and slash:
            for tasks in (self._tasks[name], self._more(name)):
                if task_id in tasks:
                    return plugin, tasks[task_id]
        more = {} if plugin is None else self._more(name)
        raise UnknownNameError("task", task_id, {**self.tasks(), **more}, self._hint(), "`rlgpt tasks` lists them.")

    def _more(self, name: str) -> dict[str, Task]:
        """The unlisted tasks of a plugin. The plugin makes them when they are first needed."""
        if name not in self._unlisted:
            plugin = self._plugins[name]
            more = _checked_tasks(plugin, "unlisted_tasks", plugin.unlisted_tasks())
            if twice := more.keys() & self._tasks[name].keys():
                raise PluginError(
                    f"{name}: unlisted_tasks() has {min(twice)!r}, as tasks() has. Leave it out of one of the two"
                )
            self._unlisted[name] = more
        return self._unlisted[name]

    def _hint(self) -> str:
        broken = "; ".join(f"{key}: {text}" for key, text in self.broken.items())
        return f"Broken plugins: {broken}." if broken else "Tasks belong to plugins: install the plugin with the task."

    def _find(self) -> dict[str, EntryPoint]:
        """A dict from a key to an entry point, for each entry point that is not turned off. The key is the name of the
        entry point. If several entry points have the same name, the keys of all but the first also contain the module.
        """
        if self._points is None:
            found = entry_points(group=hookspecs.GROUP) if self._given is None else self._given
            self._points = {}
            for point in sorted(found, key=lambda p: (p.name, p.value)):
                if not self._off & {"1", point.name}:
                    key = point.name if point.name not in self._points else f"{point.name} ({point.value})"
                    self._points[key] = point
        return self._points

    def _load(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key in self._loaded:
                continue
            self._loaded.add(key)
            try:
                self._take(key, self._find()[key].load())
            except (Exception, SystemExit) as fault:  # The import of foreign code can raise any exception.
                text = " ".join(str(fault).split()) or "no message"
                self._broken[key] = text if isinstance(fault, PluginError) else f"{type(fault).__name__}: {text}"

    def _take(self, key: str, module: Any) -> None:
        """Check all plugins and components that ``module`` offers, and register them, or none of them if one is not
        valid.
        """
        self._pluggy.register(module, name=key)
        try:
            self._pluggy.check_pending()
            offers = {hook.name: hook.function() for hook in self._hooks(module)}
            if not offers:
                what = getattr(module, "__name__", repr(module))
                raise PluginError(f"{what} has no hook: define rlgpt_plugins() there, under @rlgpt.plugin.hookimpl")
            plugins: dict[str, tuple[EnvironmentPlugin, dict[str, Task]]] = {}
            for plugin in cast("list[EnvironmentPlugin]", offers.get("rlgpt_plugins", ())):
                name = self._name(plugin, {*self._plugins, *plugins})
                plugins[name] = (plugin, _checked_tasks(plugin, "tasks", plugin.tasks()))
            parts = {kind: self._checked(kind, offers.get(hook, {})) for kind, hook in HOOKS.items()}
            config = offers.get("rlgpt_config")
            if config is not None and not (isinstance(config, str) and _CONFIG.fullmatch(config)):
                raise PluginError(
                    f"rlgpt_config() returned {config!r}; it must return a text such as 'pkg://PACKAGE.conf'"
                )
        except BaseException:
            self._pluggy.unregister(name=key)
            raise
        for name, (plugin, tasks) in plugins.items():
            if name not in self._off:
                self._plugins[name], self._tasks[name] = plugin, tasks
        for kind, targets in parts.items():
            self._parts[kind].update(targets)
        self._config += [config] if config else []

    def _hooks(self, module: Any) -> list[_Hook]:
        names = ("rlgpt_plugins", *HOOKS.values(), "rlgpt_config")
        callers = [(name, getattr(self._pluggy.hook, name)) for name in names]
        return [
            _Hook(name, implementation.function)
            for name, caller in callers
            for implementation in caller.get_hookimpls()
            if implementation.plugin is module
        ]

    def _checked(self, kind: str, targets: Any) -> dict[str, str]:
        """The result of a hook, after checks.

        :param kind: the kind of the components that the hook returns.
        :param targets: the unchecked result.
        :raises PluginError: the hook's result is not a mapping from names to dotted names, or another component already
            has one of the names.
        """
        hook = HOOKS[kind]
        if not isinstance(targets, Mapping):
            raise PluginError(
                f"{hook}() returned {targets!r}; it must return a mapping: name -> 'package.module.Class'"
            )
        for name, target in targets.items():
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise PluginError(f"{hook}() has the name {name!r}; a name is 1 to 40 of a-z, 0-9 and underscore")
            if not isinstance(target, str) or not _TARGET.fullmatch(target):
                raise PluginError(f"{hook}()[{name!r}] is {target!r}; it must be a dotted name: package.module.Class")
            if name in self._parts[kind]:
                raise PluginError(f"another entry point offers {kind}={name} already. Rename or uninstall one")
        return dict(targets)

    @staticmethod
    def _name(plugin: Any, taken: Iterable[str]) -> str:
        if not isinstance(plugin, EnvironmentPlugin):
            raise PluginError(f"rlgpt_plugins() returned {plugin!r}; it must return instances of EnvironmentPlugin")
        name = getattr(plugin, "name", None)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            kind = type(plugin).__name__
            raise PluginError(f"{kind}.name is {name!r}; it must be 1 to 40 of a-z, 0-9 and underscore")
        if name in taken:
            raise PluginError(f"another entry point offers a plugin named {name!r} already. Rename or uninstall one")
        return name


class _Hook(NamedTuple):
    name: str
    function: Callable[[], Any]


def _checked_tasks(plugin: EnvironmentPlugin, method: str, found: Mapping[str, Task]) -> dict[str, Task]:
    tasks = dict(found)
    for key, task in tasks.items():
        if not isinstance(task, Task):
            raise PluginError(f"{plugin.name}: {method}()[{key!r}] is a {type(task).__name__}; it must be a Task")
        if key != task.id:
            raise PluginError(
                f"{plugin.name}: {method}() has {task.id!r} under the key {key!r}. Use the task's id as its key"
            )
        if task.plugin != plugin.name:
            raise PluginError(f"task id {task.id!r} does not start with its plugin's name, '{plugin.name}/'. Rename it")
    return tasks
