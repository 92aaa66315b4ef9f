"""What coded actions of a task may call and see, in the sandbox's types."""

from __future__ import annotations

from pydantic import ValidationError

from rlgpt.domain import Task
from rlgpt.errors import PluginError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox.library import Library, Signature, ViewDoc


def library_of(plugin: EnvironmentPlugin, task: Task) -> Library:
    """The plugin's primitives and view keys: prompts and the guest's functions are rendered from it.

    :raises PluginError: two names are equal, or a name is not an identifier.
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
