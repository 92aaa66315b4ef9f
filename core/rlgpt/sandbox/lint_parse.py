"""Parses a coded action's source. The guest's Python decides what valid source is, because the host's Python may be
older or newer.

The host's parser is tried before the guest's parser, because the host's parser is faster. If the host's parser fails,
the guest parses the source (about 30 ms) and returns the tree, so that lint gives the same verdicts on every host.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Sequence
from typing import Any

from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.limits import SandboxLimits

_PROGRAM = """
def run(source):
    request = parsed()
    try:
        nodes = [compile(source, "", "exec", 0x400, dont_inherit=True)]  # ast.PyCF_ONLY_AST: a tree, and no code
    except MemoryError:
        request.args["refused"] = ["the source is nested too deep", None]
    except Exception as error:
        text = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
        request.args["refused"] = [text, getattr(error, "lineno", None)]
    else:
        rows, leaves = [], {}
        for node in nodes:  # which grows by the children of each
            row = [type(node).__name__, getattr(node, "lineno", None)]
            if row[0] != "Constant":
                row.append({name: put(getattr(node, name, None), nodes, leaves) for name in node._fields})
            rows.append(row)
        request.args["rows"] = rows
    yield request

def put(value, nodes, leaves):
    if isinstance(value, list):
        return [put(item, nodes, leaves) for item in value]
    if not hasattr(value, "_fields"):
        return value
    if not value._fields and type(value) in leaves:
        return leaves[type(value)]
    nodes.append(value)
    leaves[type(value)] = place = [len(nodes) - 1]
    return place
"""
"""A coded action that parses another source in the guest. The only request of this action contains the tree of the
source, or the reason for which there is no tree. The source itself does not run.
"""

_MAX_TREE_BYTES = 16 * 2**20
"""Maximal size of a tree as JSON, in bytes. A source of 16 KB has a tree of about half a million bytes."""

_LIMITS = SandboxLimits(wall_seconds=60, reply_bytes=_MAX_TREE_BYTES)
"""Limits of the guest that parses sources. Only fuel stops this guest, not the wall clock, because the machine may be
busy.
"""
_FUEL = 10 * _LIMITS.turn_fuel


class NoTree(Exception):
    """The guest's Python refuses the source.

    :ivar line: number of the source line with the error; None if the guest reports no line.
    """

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


def parse(source: str) -> ast.Module | None:
    """The syntax tree of ``source``; None if the source is too large or too deeply nested to be parsed.

    In a syntax tree from the guest, constants have no value. A node whose class the host's Python does not know is an
    object of :class:`ast.AST`. Parsing does not run the source.

    :raises NoTree: the guest's Python cannot parse the source. The exception contains the error message of the guest.
    :raises SandboxError: the guest is needed to parse the source, and the guest program is missing.
    """
    try:
        with warnings.catch_warnings():
            # Python's warnings about the source, for example of unknown escapes, must not be printed, nor raised under
            # -W error.
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return _parse_in_guest(source)


def _parse_in_guest(source: str) -> ast.Module | None:
    """Parse ``source`` as :func:`parse` does, but only in the guest."""
    from rlgpt.sandbox.runtime import Instance

    guest = Instance(_LIMITS)
    try:
        guest.call("prepare-library", json.dumps({"parsed": []}), 0, fuel=_LIMITS.load_fuel)
        guest.call("load-action", "lint", _PROGRAM, "run", "", fuel=_LIMITS.load_fuel)
        reply = guest.call("start-action", "lint", json.dumps({"source": source}), "", fuel=_FUEL)
        said = replies.parse(reply, _MAX_TREE_BYTES)
    except Refused:  # The source is so large or deeply nested that the guest stopped.
        return None
    match said:
        case ["ask", False, [["parsed", {"refused": [str(message), int() | None as line]}, _]]]:
            raise NoTree(message, line)
        case ["ask", False, [["parsed", {"rows": [*rows]}, _]]]:
            try:
                return _tree(rows)
            except (AssertionError, AttributeError, IndexError, TypeError, ValueError):
                return None  # The guest's messages are not trusted: the program above never makes such a tree.
    return None


def _tree(rows: Sequence[Any]) -> ast.Module:
    """Make a syntax tree from the rows that the guest sends. The first row is the root of the tree. Each row is a node
    of the tree, with the name of the node's class, the line of the node, and the fields of the node. Constants in the
    tree have no fields, because no check reads their values.
    """
    nodes = [_blank(name) for name, *_ in rows]
    for node, (_, line, *fields) in zip(nodes, rows, strict=True):
        if line is not None:
            node.lineno = line  # type: ignore[attr-defined]
        for values in fields:
            node._fields = tuple(values)  # type: ignore[misc]  # an attribute of the node, not of its class: versions differ
            for name, value in values.items():
                setattr(node, name, _put(value, nodes))
    assert isinstance(nodes[0], ast.Module)
    return nodes[0]


def _blank(name: str) -> ast.AST:
    known = getattr(ast, name, None)
    kind = known if isinstance(known, type) and issubclass(known, ast.AST) else ast.AST
    return kind.__new__(kind)


def _put(value: Any, nodes: Sequence[ast.AST]) -> Any:
    """Convert the value of a field of a syntax node. A list with one number is a reference to the node with this
    number; any other list is a list of values.
    """
    match value:
        case [int() as place]:
            return nodes[place]
        case [*items]:
            return [_put(item, nodes) for item in items]
    return value
