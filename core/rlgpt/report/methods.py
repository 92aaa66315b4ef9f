"""Groups runs by their method, and gives each method a name. Runs whose only difference is the seed belong to one
method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlgpt.errors import RunError
from rlgpt.runs import Run

METHODS = {
    "slow_fast_critic": "RL-GPT",
    "slow_fast": "RL-GPT without critic",
    "one_agent": "RL-GPT as one agent",
    "rl_only": "pure RL",
    "code_only": "pure code",
    "primitives_only": "PPO over primitives",
    "untrained": "untrained extension",
}
"""The names of the teams of agents, in the order in which a table lists them."""

_NOT_A_METHOD = ("seed", "folder", "task", "video", "report_episodes")
_RECORDING = "llm.transcript"
_MAX_SETTING = 40
"""Maximal number of characters of one setting in a method's name. All settings together have at most twice this
number.
"""


def methods(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """A dict from the name of a method to its runs, which differ only in their seed.

    Runs with different seeds may replay different recordings. If two methods have the same name, the settings in which
    the methods differ are added to their names. If the differing settings are too long or describe an environment
    (docs, a goal), the folder of the method's first run is added to the name instead.
    """
    flat = [_settings(run) for run in runs]
    names = [METHODS.get(str(f.get("agents.name")), str(f.get("agents.name") or "a run")) for f in flat]
    order = list(METHODS.values())
    groups: dict[str, list[Run]] = {}
    for name in sorted(set(names), key=lambda n: order.index(n) if n in order else len(order)):
        alike = [(f, run) for f, n, run in zip(flat, names, runs, strict=True) if n == name]
        keys = sorted({k for f, _ in alike for k in f})
        differ = [k for k in keys if len({repr(f.get(k)) for f, _ in alike}) > 1]
        if _chosen_by_seed(alike, differ):
            differ.remove(_RECORDING)
        apart: dict[str, list[tuple[dict[str, Any], Run]]] = {}
        for f, run in alike:
            apart.setdefault(repr([f.get(k) for k in differ]), []).append((f, run))
        described = [_describe(members[0][0], differ) for members in apart.values()]
        for settings, members in zip(described, apart.values(), strict=True):
            first = members[0][1].folder
            distinct = settings and len(settings) <= 2 * _MAX_SETTING and described.count(settings) == 1
            label = f"{name} ({settings if distinct else _cut(first.name)})" if differ else name
            if label in groups:
                label = f"{name} ({_cut(first.parent.name)}/{_cut(first.name)})"
            groups.setdefault(label, []).extend(run for _, run in members)
    return groups


def _chosen_by_seed(runs: Sequence[tuple[Mapping[str, Any], Run]], differ: Sequence[str]) -> bool:
    """Whether the runs replay different recordings only because they have different seeds."""
    if _RECORDING not in differ:
        return False
    others = [key for key in differ if key != _RECORDING]
    pairs = [(repr([f.get(k) for k in others]), run.record.task, run.record.seed) for f, run in runs]
    return len(set(pairs)) == len(pairs)


def _settings(run: Run) -> dict[str, Any]:
    """The settings of a run that define its method, as a flat mapping. For an environment without a plugin, the whole
    description of the environment is one value of the mapping.
    """
    from rlgpt.config.earlier import current

    try:
        config = current(run.record.config, run.folder)
    except RunError:
        config = dict(run.record.config)
    environment = config.pop("environment", None)
    kept = {k: v for k, v in config.items() if k not in _NOT_A_METHOD}
    described = {k: v for k, v in environment.items() if k != "prepared"} if isinstance(environment, dict) else None
    return {**dict(_leaves(kept)), "environment": described}


def _describe(settings: Mapping[str, Any], differ: Sequence[str]) -> str:
    return ", ".join(_cut(f"{k}={settings.get(k)}") for k in differ if k != "environment")


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SETTING else f"{text[: _MAX_SETTING - 3]}..."


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, node
