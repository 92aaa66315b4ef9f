"""Initialises Hydra with rlgpt's configuration. Hydra parses overrides, merges configuration groups and expands sweeps;
the class ``RunConfig`` validates the values.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rlgpt.cli.paths import conf_dir
from rlgpt.config.run_config import PlannerConfig, RunConfig
from rlgpt.plugin import PluginManager

if TYPE_CHECKING:
    from hydra._internal.hydra import Hydra

GROUPS = {"agents": "name", "planner": "name", "trainer": "name", "llm": "kind", "executor": "name"}
"""The configuration groups whose options are names of components, as in ``trainer=NAME``. Each group is mapped to the
key of the composed configuration that has the name of the component.
"""


@contextmanager
def opened(
    manager: PluginManager, given: Mapping[str, Any] | None = None, searchpath: Sequence[str] = ()
) -> Iterator[Hydra]:
    """A context in which Hydra is initialised. Hydra reads the folder ``conf/``, the defaults of ``RunConfig``, and the
    components and configuration groups of the installed plugins.

    :param given: values for keys of the configuration, which replace the defaults.
    :param searchpath: further folders with configuration groups, in the form of ``hydra.searchpath``.
    """
    from hydra._internal.hydra import Hydra
    from hydra._internal.utils import create_config_search_path
    from hydra.core.config_store import ConfigStore
    from hydra.core.global_hydra import GlobalHydra

    path = create_config_search_path(str(conf_dir()))
    for package in manager.config_packages:
        path.prepend("plugin", package, "schema")
    for folder in searchpath:
        path.prepend("command line", folder, "schema")
    store = ConfigStore.instance()
    before = copy.deepcopy(store.repo)
    defaults = {**RunConfig().plain(), "planner": PlannerConfig().model_dump(mode="json")}
    defaults["llm"]["kind"] = None  # LLMSettings then chooses ``record`` if a model is given, else ``replay``.
    store.store(name="schema", node={**defaults, **_escaped(given or {})})
    for kind, key in GROUPS.items():
        for name in manager.parts(kind):
            store.store(group=kind, name=name, node={key: name})
    try:
        yield Hydra.create_main_hydra2(task_name="rlgpt", config_search_path=path)
    finally:
        store.repo = before
        GlobalHydra.instance().clear()


def _escaped(node: Any) -> Any:
    """``node`` with every ``${`` and the backslashes before it escaped, because the values are data, and Hydra must not
    resolve interpolations.
    """
    if isinstance(node, str):
        return re.sub(r"(\\*)\$\{", lambda found: f"{2 * found[1]}\\${{", node)
    if isinstance(node, Mapping):
        return {_escaped(key): _escaped(value) for key, value in node.items()}
    return [_escaped(value) for value in node] if isinstance(node, list | tuple) else node
