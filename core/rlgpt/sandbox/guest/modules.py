"""The modules that a coded action may import, and advice for other modules. Both the guest and lint use this list of
modules.
"""

from __future__ import annotations

PREIMPORTED = (
    "math",
    "random",
    "itertools",
    "functools",
    "collections",
    "dataclasses",
    "typing",
    "json",
    "heapq",
    "statistics",
    "vec",
)
"""Modules that code can use by their names without an import."""

IMPORTABLE = (*PREIMPORTED, "__future__", "abc", "bisect", "copy", "enum", "operator", "re", "string")
"""Modules that an ``import`` statement can import."""

HINTS = {
    "numpy": "use lists of floats with `vec` (vec.add, vec.norm, vec.cross, quaternions) and `math`",
    "scipy": "use `vec` for rotations and `math`, `statistics` for the rest",
    "torch": "use `vec` and `math`; coded actions do not learn",
    "gymnasium": "the environment is reached by yielding primitives and `observe()` alone",
    "mujoco": "the simulator is reached by yielding primitives and `observe()` alone",
    "time": "there is no clock; count your own yields",
    "datetime": "there is no clock; count your own yields",
    "os": "there is no file system and no process; keep state in variables",
    "sys": "there is nothing of the host to reach; keep state in variables",
    "asyncio": "`run` is a plain generator: `outcome = yield primitive(...)`",
    "threading": "`run` is a plain generator: `outcome = yield primitive(...)`",
    "logging": "there is no output; outcomes of primitives are recorded anyway",
}


def refusal(module: str) -> str:
    """The message for a ``module`` that cannot be imported, with advice on what to use instead, and the available
    modules.
    """
    root = module.partition(".")[0]
    hint = HINTS.get(root)
    there = ", ".join(PREIMPORTED)
    return f"{module!r} cannot be imported here: " + (f"{hint}. " if hint else "") + f"There is: {there}"
