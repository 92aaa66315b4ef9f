"""Checks of the calls in a source, which find unknown functions, wrong arguments, and requests that are never
yielded.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rlgpt.sandbox.checks import Refused, fit
from rlgpt.sandbox.guest.modules import PREIMPORTED
from rlgpt.sandbox.library import Signature


class Finding(NamedTuple):
    """One fault of a source.

    :ivar line: number of the source line with the fault; None if the fault has no line.
    :ivar sure: whether it is certain that a source with this fault cannot work.
    """

    line: int | None
    message: str
    sure: bool = True


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield every node under ``function`` that is not inside a nested function or class."""
    nodes = list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, _SCOPES):
            nodes.extend(ast.iter_child_nodes(node))


def top_level(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition of the function ``name`` at the top level of a source. If the source defines ``name`` several
    times, the last definition is returned.
    """
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
    return None


def check(
    tree: ast.Module, functions: Mapping[str, tuple[str, ...]], helpers: frozenset[str] = frozenset()
) -> list[Finding]:
    """Find the faults in those calls of a source that call a function by its name. Calls of names that the source
    itself binds are not checked.

    :param functions: for the name of each function that makes a request, the names of its arguments. ``functions`` is
        empty if the source can make no requests.
    :param helpers: further names that the source can use.
    """
    names = bound(tree) | helpers
    known = {*functions, *PREIMPORTED, *dir(builtins)}
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    uses = _uses(parents)
    findings: list[Finding] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id in names:
            continue
        name = node.func.id
        if name in functions:
            findings += _arguments(node, name, functions[name])
            if not _reaches_yield(node, parents, uses):
                findings.append(Finding(node.lineno, f"`{name}(...)` does nothing unless yielded: `{_use(name)}`"))
        elif name not in known:
            near = difflib.get_close_matches(name, functions, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            valid = (
                f"Valid: {', '.join(functions)}"
                if functions
                else "This code receives the view and cannot call primitives"
            )
            findings.append(Finding(node.lineno, f"there is no {name!r} to call.{hint} {valid}"))
    return findings


def check_constants(tree: ast.Module, primitives: Iterable[Signature], helpers: frozenset[str]) -> Iterator[Finding]:
    """Find the constants that primitives do not accept as arguments. A call of a name that the source itself binds is
    not checked.
    """
    names = bound(tree) | helpers
    parameters = {s.name: s.parameters for s in primitives if s.name not in names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in parameters:
            continue
        declared = parameters[node.func.id]
        by_name = {p.name: p for p in declared}
        given = [(by_name[k.arg], k.value) for k in node.keywords if k.arg in by_name]
        if not any(isinstance(a, ast.Starred) for a in node.args):
            given += zip(declared, node.args, strict=False)
        for parameter, value in given:
            if isinstance(value, ast.Constant) and hasattr(value, "value"):  # A tree from the guest has no values.
                try:
                    fit(parameter, value.value, node.func.id, node.lineno)
                except Refused as refused:
                    yield Finding(node.lineno, refused.message)


def _use(name: str) -> str:
    return f"view = yield {name}()" if name == "observe" else f"outcome = yield {name}(...)"


def bound(tree: ast.Module) -> set[str]:
    """All names that a source binds, at its top level or in functions."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
    return names


def _arguments(call: ast.Call, name: str, parameters: tuple[str, ...]) -> list[Finding]:
    valid = ", ".join(parameters) or "(none)"
    findings = []
    if not any(isinstance(a, ast.Starred) for a in call.args) and len(call.args) > len(parameters):
        text = f"{name} takes at most {len(parameters)} arguments ({valid}), got {len(call.args)}"
        findings.append(Finding(call.lineno, text))
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in parameters:
            findings.append(Finding(call.lineno, f"{name} has no argument {keyword.arg!r}; valid: {valid}"))
        elif keyword.arg in parameters[: len(call.args)]:
            findings.append(Finding(call.lineno, f"{name} got {keyword.arg!r} twice"))
    return findings


class _Uses(NamedTuple):
    """How the source uses its variables.

    :ivar values: variables whose values the source yields, returns, stores or passes to a function. A request in a
        variable of ``values`` may reach a yield.
    :ivar containers: the variables in ``values``, and the variables that the source indexes or whose methods it calls.
        If a variable of ``containers`` contains a list, a request in this list may reach a yield.
    """

    values: set[str]
    containers: set[str]


def _reaches_yield(call: ast.AST, parents: dict[ast.AST, ast.AST], uses: _Uses) -> bool:
    """Whether the request that ``call``, a call of a primitive, returns may reach a ``yield``. The answer is False only
    if it is certain that the code never yields the request.
    """
    node, parent = call, parents[call]
    listed = False
    unused = ast.Expr | ast.Subscript | ast.Attribute | ast.Compare | ast.YieldFrom | ast.Assert
    while True:
        if isinstance(parent, ast.Subscript) and listed and parent.value is node:
            listed = isinstance(parent.slice, ast.Slice)
        elif isinstance(parent, ast.Attribute) and listed:
            return True
        elif isinstance(parent, unused) or (isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is node):
            return False
        elif isinstance(parent, ast.Assign | ast.AnnAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                return targets[0].id in (uses.containers if listed else uses.values)
            return True
        elif isinstance(parent, ast.NamedExpr):
            if listed and parent.target.id in uses.containers:
                return True
        elif isinstance(parent, ast.List | ast.Tuple):
            listed = True
        elif not isinstance(parent, ast.IfExp | ast.BoolOp):
            return True
        node, parent = parent, parents[parent]


def _uses(parents: dict[ast.AST, ast.AST]) -> _Uses:
    nowhere = (ast.Compare, ast.If, ast.While, ast.Expr)
    loads = [(n.id, p) for n, p in parents.items() if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    containers = {name for name, parent in loads if not isinstance(parent, nowhere)}
    values = {name for name, parent in loads if not isinstance(parent, (*nowhere, ast.Subscript, ast.Attribute))}
    return _Uses(values, containers)
