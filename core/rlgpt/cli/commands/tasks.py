"""The command ``rlgpt tasks`` lists the tasks of the installed plugins."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections import Counter

from rlgpt.errors import UnknownNameError
from rlgpt.plugin import PluginManager
from rlgpt.terminal import say


def main(arguments: argparse.Namespace) -> int:
    """List the tasks that match a pattern. Broken plugins are reported on stderr."""
    manager, every = PluginManager(), arguments.pattern == "*"
    tasks = manager.tasks() if every else {**manager.tasks(), **manager.unlisted_tasks()}
    matching = [task for name, task in tasks.items() if fnmatch.fnmatchcase(name, arguments.pattern)]
    for name, fault in manager.broken.items():
        say(f"rlgpt: plugin {name!r} is broken and left out: {fault}", sys.stderr)
    if not matching and not every:
        plugin, slash, _ = arguments.pattern.partition("/")
        if slash and not set("*?[") & set(plugin) and plugin not in manager.plugins:
            raise UnknownNameError("plugin", plugin, manager.plugins, "No installed plugin has this name.")
        own = f"`rlgpt tasks '{plugin}/*'` lists the tasks of this plugin." if plugin in manager.plugins else ""
        hint = own or "Patterns are written like 'PLUGIN/*'."
        raise UnknownNameError("task", arguments.pattern, tasks, hint, "`rlgpt tasks` lists them.")
    if arguments.json:
        print(json.dumps([task.model_dump(mode="json") for task in matching], indent=1))
    elif not matching:
        print("No plugin is installed, so there are no tasks. Install a plugin, or make one with rlgpt new-plugin.")
    else:
        width = max(len(task.id) for task in matching)
        for task in matching:
            say(f"{task.id:<{width}}  {task.horizon:>5} steps  {task.goal}")
        if every:
            for name, count in Counter(task.plugin for task in manager.unlisted_tasks().values()).items():
                say(f"The plugin {name} has {count:,} further tasks: `rlgpt tasks '{name}/*'` lists them.")
    return 0
