"""Renders the library of primitives and view keys as Python text, which is called the *stub*. A language model reads
the stub before it writes a coded action.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Collection, Sequence

from rlgpt.domain import Parameter
from rlgpt.sandbox.guest import vec
from rlgpt.sandbox.guest.modules import PREIMPORTED
from rlgpt.sandbox.library import Library, Signature, Vectors, ViewDoc
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.printable import printable

OF_ROTATIONS = frozenset({"quat", "quat_mul", "quat_inv", "rotate", "quat_angle", "slerp", "quat_from_euler", "euler"})
"""Functions of ``vec`` that take or return a quaternion."""

SHARED = 3
"""If at least this number of primitives have a line of their outcome in common, the stub lists this line only once."""

_TYPES = {"float": "float", "int": "int", "bool": "bool", "choice": "str"}


def render(library: Library, limits: SandboxLimits = DEFAULT) -> str:
    """The stub: the library as Python text for prompts. The stub contains rules, signatures with units and ranges, the
    keys of the view, and the functions of the module ``vec``.
    """
    parts, shared = [_rules(library, limits)], _shared(library.primitives)
    parts += [_comment(owners, rows, len(library.primitives)) for owners, rows in shared.items()]
    written = {(name, row) for owners, rows in shared.items() for name in owners for row in rows}
    parts += [_function(s, {row for name, row in written if name == s.name}) for s in library.primitives]
    parts += [_observe(library.view), *([vectors(library.vectors)] if library.vectors != "none" else [])]
    return "\n\n\n".join(parts) + "\n"


def _rules(library: Library, limits: SandboxLimits) -> str:
    modules = ", ".join(m for m in PREIMPORTED if m != "vec" or library.vectors != "none")
    return f'''\
"""What a coded action can use.

A coded action is a generator function `run`, and perhaps `can_start`:

    def run(dx=0.1):                    # its declared parameters, all floats
        view = yield observe()          # look: costs no step and no yield
        outcome = yield primitive(...)  # act: the call makes a request, `yield` carries it out and returns its outcome
        outcomes = yield [primitive(...), primitive(...)]    # several in order: a list of outcomes
        if not outcome.get("..."):      # a key may be missing: see the rules
            return                      # the call ends

    def can_start(view) -> bool:        # optional; a plain function: whether the action may be chosen now
        return view["..."] > 0

Rules
- A primitive does nothing until it is yielded; helper generators are called by `yield from helper()`.
- Numbers outside their range are clipped; then, and only then, outcome["clipped"] lists the names of the arguments.
- A primitive that runs into its own step limit returns {{"ended": "primitive limit"}} and none of its other keys.
- One call may yield {limits.yields} times (max_steps times where that is more), at most {limits.requests} requests
  each. Then it ends, which is no error. `yield observe()` is not counted; one call may look {limits.looks} times.
- Between two yields there is time for about {limits.turn_fuel // 2000:,} steps of a simple loop. Loops need a bound.
- `def run(memory, dx=0.1)` and `def can_start(view, memory)` get a dict that all actions share. It lasts for the
  episode and is empty at first. It holds None, bool, numbers, str, and list, tuple, set and dict of these, in all
  {limits.shared_bytes} bytes. What can_start changes in it is lost; so is what a call changes that ends by an error.
- The source has at most {limits.source_bytes} bytes. Globals last until the episode ends.
- Available without import: {modules}.
  Nothing else can be imported: no numpy, no files, no clock; print() goes nowhere.
"""'''


def _shared(primitives: Sequence[Signature]) -> dict[tuple[str, ...], list[str]]:
    """For each group of primitives, the lines about outcomes that all primitives of the group have in common, so that
    the stub contains these lines only once. Lines that fewer than :data:`SHARED` primitives have in common are not
    included, unless the library has only two primitives and both have the line.
    """
    owners: dict[str, list[str]] = {}
    for signature in primitives:
        for key, doc in signature.outcome.items():
            owners.setdefault(_outcome(key, doc), []).append(signature.name)
    shared: dict[tuple[str, ...], list[str]] = {}
    for row, names in owners.items():
        if len(names) >= min(SHARED, max(2, len(primitives))):
            shared.setdefault(tuple(names), []).append(row)
    return shared


def _comment(owners: Sequence[str], rows: Sequence[str], primitives: int) -> str:
    who = "All primitives return" if len(owners) == primitives else f"{', '.join(owners)} return"
    text = printable("\n".join([f"{who}, unless they end early:", *rows]))
    return "\n".join(f"# {line}" for line in text.splitlines())


def _function(signature: Signature, written: Collection[str]) -> str:
    arguments = ", ".join(f"{p.name}: {_TYPES[p.kind]} = {_number(p.default)}" for p in signature.parameters)
    lines = textwrap.dedent(signature.doc).strip().splitlines() or ["(undocumented)"]
    lines += [", ".join(filter(None, (f"{p.name}: {_range(p)}", p.doc))) for p in signature.parameters]
    lines += [row for row in (_outcome(key, doc) for key, doc in signature.outcome.items()) if row not in written]
    return f"def {signature.name}({arguments}) -> dict:\n" + _docstring(lines)


def _outcome(key: str, doc: str) -> str:
    return f'outcome["{key}"]: {doc}'


def _observe(view: Sequence[ViewDoc]) -> str:
    lines = ["The world now. Costs no step. Of each key: count of numbers (none: for code only), unit, meaning."]
    if any(key.source == "privileged" for key in view):
        lines.append("privileged: known in simulation only; a real robot has no sensor for it.")
    for key in view:
        size = f"{key.size} numbers" if key.size > 1 else "1 number" if key.size == 1 else ""
        source = "privileged" if key.source == "privileged" else ""
        details = ", ".join(filter(None, (size, key.unit, source)))
        lines.append(f'view["{key.name}"]{f" ({details})" if details else ""}: {key.doc}')
    return "def observe() -> dict:\n" + _docstring(lines)


def vectors(which: Vectors = "all") -> str:
    """The text about the module ``vec`` for prompts, with one line for each function of the module."""
    turns = "quaternions [w, x, y, z], " if which == "all" else ""
    lines = [f"# vec: vectors are lists of floats, {turns}angles radians; results are new lists"]
    for name, function in vars(vec).items():
        if which == "plain" and name in OF_ROTATIONS:
            continue
        if inspect.isfunction(function) and function.__module__ == vec.__name__:
            arguments = ", ".join(inspect.signature(function).parameters)
            doc = (inspect.getdoc(function) or "").splitlines()[0]
            lines.append(f"vec.{name}({arguments})  # {doc}")
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


def _docstring(lines: Sequence[str]) -> str:
    text = printable("\n".join(lines)).replace("\\", "\\\\").replace('"""', "'''")
    closing = "" if len(lines) == 1 and not text.endswith('"') else "\n"
    return textwrap.indent(f'"""{text}{closing}"""', "    ", lambda line: bool(line.strip()))
