"""A coded action's source as a tree. The guest's Python is the one that counts: the host's may be older, or newer.

The host's parser is asked first, since it is at hand; where it fails the guest's is asked, which takes some 30 ms. Its
tree is handed over, so that the same is found in a source whatever Python the host has.
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
    request = told()
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
"""Parses in the guest: its only request has a tree in it, or why there is none. Runs nothing of the source."""

_BUDGETS = SandboxLimits(wall_seconds=60)
"""Of the guest that parses: what a busy machine makes of its time must not tell."""
_FUEL = 10 * _BUDGETS.turn_fuel
_LONGEST = 16 * 2**20
"""Bytes of a tree in words: a source of 16 KB makes half a million of them."""


class NoTree(Exception):
    """The guest's Python refuses the source.

    :ivar line: where; None where it does not say.
    """

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


def parse(source: str) -> ast.Module | None:
    """The tree of ``source``; None where it is right for all one knows, but too large or too deep to be looked into.

    In a tree from the guest constants have no value, and nodes that the host's Python does not know are plain
    :class:`ast.AST`. Nothing of the source runs.

    :raises NoTree: the guest refuses it; in its words.
    :raises SandboxError: the guest is needed, and its program is missing.
    """
    try:
        with warnings.catch_warnings():
            # of the source's text, such as an unknown escape: nothing to print here, and no error under -W error
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return _guests(source)


def _guests(source: str) -> ast.Module | None:
    """As :func:`parse`, by the guest alone."""
    from rlgpt.sandbox.runtime import Instance

    guest = Instance(_BUDGETS)
    try:
        guest.call("prepare-library", json.dumps({"told": []}), 0, fuel=_BUDGETS.load_fuel)
        guest.call("load-action", "lint", _PROGRAM, fuel=_BUDGETS.load_fuel)
        reply = guest.call("start-action", "lint", json.dumps({"source": source}), fuel=_FUEL)
        said = replies.parse(reply, _LONGEST)
    except Refused:  # so large or deep that it stopped the guest itself
        return None
    match said:
        case ["ask", False, [["told", {"refused": [str(message), int() | None as line]}, _]]]:
            raise NoTree(message, line)
        case ["ask", False, [["told", {"rows": [*rows]}, _]]]:
            try:
                return _tree(rows)
            except (AssertionError, AttributeError, IndexError, TypeError, ValueError):
                return None  # no tree that this program makes: whatever the guest says is a stranger's word
    return None


def _tree(rows: Sequence[Any]) -> ast.Module:
    """The first of ``rows``. Each is a node: the name of its class, its line, its fields where it has any to tell.

    Constants have none: no check may read the value of one.
    """
    nodes = [_blank(name) for name, *_ in rows]
    for node, (_, line, *fields) in zip(nodes, rows, strict=True):
        if line is not None:
            node.lineno = line  # type: ignore[attr-defined]
        for values in fields:
            node._fields = tuple(values)  # type: ignore[misc]  # of this node alone: Pythons differ
            for name, value in values.items():
                setattr(node, name, _put(value, nodes))
    assert isinstance(nodes[0], ast.Module)
    return nodes[0]


def _blank(name: str) -> ast.AST:
    known = getattr(ast, name, None)
    kind = known if isinstance(known, type) and issubclass(known, ast.AST) else ast.AST
    return kind.__new__(kind)


def _put(value: Any, nodes: Sequence[ast.AST]) -> Any:
    """What stands in a field: the number of a node in a list of its own, a list of such, or the thing itself."""
    match value:
        case [int() as place]:
            return nodes[place]
        case [*items]:
            return [_put(item, nodes) for item in items]
    return value
