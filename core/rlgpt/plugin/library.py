"""Makes the sandbox's library for a task. The library of a task contains the primitives that coded actions may call,
and the keys of the view that coded actions can read.
"""

from __future__ import annotations

from pydantic import ValidationError

from rlgpt.domain import Task
from rlgpt.errors import PluginError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox.library import Library, Signature, ViewDoc


def library_of(plugin: EnvironmentPlugin, task: Task) -> Library:
    """The library of a task, with the plugin's primitives and view keys. From the library, rlgpt makes the stub for
    prompts and the functions that code calls in the sandbox.

    :raises PluginError: two primitives or keys have the same name, or a name is not an identifier.
    """
    try:
        return Library(
            primitives=tuple(
                Signature(name=p.name, doc=p.doc, parameters=p.parameters, outcome=p.outcome)
                for p in plugin.primitives(task)
            ),
            view=tuple(
                ViewDoc(name=k.name, doc=k.doc, unit=k.unit, source=k.source, size=k.size)
                for k in plugin.view_keys(task)
                if not k.alone
            ),
            vectors=plugin.vectors,
        )
    except ValidationError as fault:
        problems = "; ".join(error["msg"] for error in fault.errors())
        raise PluginError(f"plugin {plugin.name!r}, task {task.id!r}: {problems}. Fix the plugin.") from None
