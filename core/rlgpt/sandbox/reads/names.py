"""The variables of a source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Scope = ast.AST | None
"""An outermost function with all functions in it, or None for the top level of a source."""

_DEVIOUS = frozenset({"globals", "vars", "locals", "exec", "eval", "getattr", "format", "super"})
"""Built-in functions through which code could reach a value without its name."""

_WAYS = _DEVIOUS | {
    *("inspect", "annotationlib", "sys", "gc", "builtins", "traceback", "attrgetter", "methodcaller", "format_map"),
    *("Formatter", "get_type_hints", "ForwardRef"),
}
"""Attributes of modules and values through which code could reach a value without its name."""

_INNER = ("_", "f_", "gi_", "cr_", "ag_", "tb_")
"""Beginnings of the names of attributes through which code could reach a value without its name."""


def bound(node: ast.AST) -> list[str]:
    """The names that the syntax node ``node`` itself binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
    return []


class Names:
    """The variables of a source. A name that a function binds is one variable in this function and in all functions,
    lambdas and comprehensions within it.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self.nodes = list(_scoped(ast.Module(body, []), None))
        self.count: dict[str, int] = {}
        self.scopes: dict[ast.FunctionDef, Scope] = {}
        local: dict[Scope, set[str]] = {}
        outer: dict[Scope, set[str]] = {}
        for node, scope in self.nodes:
            inside = node if scope is None and isinstance(node, ast.FunctionDef) else scope
            if isinstance(node, ast.FunctionDef):
                self.scopes[node] = inside
            if isinstance(node, ast.Global):
                outer.setdefault(scope, set()).update(node.names)
            for name in bound(node):
                self.count[name] = self.count.get(name, 0) + 1
                local.setdefault(scope, set()).add(name)
        self._local = {scope: names - outer.get(scope, set()) for scope, names in local.items()}

    def variable(self, name: str, scope: Scope) -> tuple[Scope, str]:
        """The variable to which ``name`` refers in ``scope``."""
        return (scope if name in self._local.get(scope, ()) else None), name


def _scoped(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    """All nodes in ``node``, each with its scope. A function itself stands in the scope around it."""
    for inner in ast.iter_child_nodes(node):
        yield inner, scope
        yield from _scoped(inner, inner if scope is None and isinstance(inner, ast.FunctionDef) else scope)


def is_devious(node: ast.AST) -> bool:
    """Whether the code could reach a value without its name, or define operators, by ``node``."""
    match node:
        case ast.Name(id=name):
            return name in _DEVIOUS or name.startswith("__")
        case ast.alias(name=name):
            return name in _WAYS or name == "*"
        case ast.Attribute(attr=name):
            return name in _WAYS or name.startswith(_INNER)
        case _:
            return isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.ClassDef)


def yields(function: ast.FunctionDef) -> bool:
    """Whether ``function`` is a generator function."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return False
