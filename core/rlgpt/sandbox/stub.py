"""The library as Python text: what a language model reads before it writes a coded action."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence

from rlgpt.domain import Parameter
from rlgpt.sandbox.guest import vec
from rlgpt.sandbox.guest.modules import PREIMPORTED
from rlgpt.sandbox.library import Library, Signature, Vectors, ViewDoc
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.printable import printable

OF_ROTATIONS = frozenset({"quat", "quat_mul", "quat_inv", "rotate", "quat_angle", "slerp", "quat_from_euler", "euler"})
"""Functions of ``vec`` that take or give a quaternion."""

_TYPES = {"float": "float", "int": "int", "bool": "bool", "choice": "str"}


def render(library: Library, limits: SandboxLimits = DEFAULT) -> str:
    """The library as Python text, for prompts: rules, signatures with units and ranges, the view, ``vec``."""
    parts = [_rules(library, limits)]
    parts += [_function(s) for s in library.primitives]
    parts += [_observe(library.view), *([vectors(library.vectors)] if library.vectors != "none" else [])]
    return "\n\n\n".join(parts) + "\n"


def _rules(library: Library, limits: SandboxLimits) -> str:
    modules = ", ".join(m for m in PREIMPORTED if m != "vec" or library.vectors != "none")
    return f'''\
"""What a coded action can use.

A coded action is a generator function `run`, and perhaps `can_start`:

    def run(dx=0.1):                    # its declared parameters, all floats
        view = yield observe()          # look: free of charge
        outcome = yield primitive(...)  # act: the call makes a request, `yield` carries it out and returns its outcome
        outcomes = yield [primitive(...), primitive(...)]    # several in order: a list of outcomes
        if not outcome["..."]:
            return                      # the call ends

    def can_start(view) -> bool:        # optional; a plain function: whether the action may be chosen now
        return view["..."] > 0

Rules
- A primitive does nothing until it is yielded; helper generators are called by `yield from helper()`.
- Numbers outside their range are clipped; then, and only then, outcome["clipped"] lists the names of the arguments.
- One call may yield {limits.yields} times, at most {limits.requests} requests each.
- Between two yields there is time for about {limits.turn_fuel // 2000:,} steps of a simple loop. Loops need a bound.
- The source has at most {limits.source_bytes} bytes. Globals last until the episode ends.
- There, without import: {modules}.
  Nothing else can be imported: no numpy, no files, no clock; print() goes nowhere.
"""'''


def _function(signature: Signature) -> str:
    arguments = ", ".join(f"{p.name}: {_TYPES[p.kind]} = {_number(p.default)}" for p in signature.parameters)
    lines = textwrap.dedent(signature.doc).strip().splitlines() or ["(undocumented)"]
    if signature.parameters:
        lines += ["", *_table([(p.name, _range(p), p.doc) for p in signature.parameters])]
    if signature.outcome:
        lines += ["", *_table([(f'outcome["{key}"]', doc) for key, doc in signature.outcome.items()])]
    return f"def {signature.name}({arguments}) -> dict:\n" + _docstring(lines)


def _observe(view: Sequence[ViewDoc]) -> str:
    lines = ["The world now. Costs no step. (privileged: known in simulation, no sensor of a real robot tells it)"]
    if view:
        rows = []
        for key in view:
            size = f"{key.size} numbers" if key.size > 1 else "number" if key.size == 1 else "-"
            source = " (privileged)" if key.source == "privileged" else ""
            rows.append((f'view["{key.name}"]', size, key.unit or "-", key.doc + source))
        lines += ["", *_table(rows)]
    return "def observe() -> dict:\n" + _docstring(lines)


def vectors(which: Vectors = "all") -> str:
    """The ``vec`` module: one line for each function."""
    turns = "quaternions [w, x, y, z], " if which == "all" else ""
    lines = [f"# vec: vectors are lists of floats, {turns}angles radians; results are new lists"]
    for name, function in vars(vec).items():
        if which == "plain" and name in OF_ROTATIONS:
            continue
        if inspect.isfunction(function) and function.__module__ == vec.__name__:
            arguments = ", ".join(inspect.signature(function).parameters)
            doc = (inspect.getdoc(function) or "").splitlines()[0]
            lines.append(f"vec.{name}({arguments})".ljust(40) + f"  # {doc}")
    return "\n".join(lines)


def _range(parameter: Parameter) -> str:
    if parameter.kind == "choice":
        return "one of " + ", ".join(map(repr, parameter.choices))
    if parameter.kind == "bool":
        return "bool"
    assert parameter.low is not None
    assert parameter.high is not None
    unit = f" {parameter.unit}" if parameter.unit else ""
    return f"[{parameter.low:.6g}, {parameter.high:.6g}]{unit}"


def _number(value: float | int | bool | str) -> str:
    if not isinstance(value, float):
        return repr(value)
    text = f"{value:.6g}"
    return text if set(text) & set(".en") else f"{text}.0"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns; columns that would be wide are not padded."""
    columns = len(rows[0]) - 1
    widths = [min(28, max(len(row[i]) for row in rows)) for i in range(columns)]
    return ["  ".join([*(row[i].ljust(widths[i]) for i in range(columns)), row[columns]]).rstrip() for row in rows]


def _docstring(lines: Sequence[str]) -> str:
    text = printable("\n".join(lines)).replace("\\", "\\\\").replace('"""', "'''")
    closing = "" if len(lines) == 1 and not text.endswith('"') else "\n"
    return textwrap.indent(f'"""{text}{closing}"""', "    ", lambda line: bool(line.strip()))
