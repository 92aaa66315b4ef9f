"""The variables of a source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Scope = ast.AST | None
"""An outermost function with all functions in it, or None for the top level of a source."""

_DEVIOUS = frozenset(
    {"globals", "vars", "locals", "exec", "eval", "getattr", "setattr", "delattr", "format", "super", "type"}
)
"""Built-in functions through which code could reach or change a value without its name, or define operators."""

_WAYS = _DEVIOUS | {
    *("inspect", "annotationlib", "sys", "gc", "builtins", "traceback", "attrgetter", "methodcaller", "format_map"),
    *("Formatter", "get_type_hints", "ForwardRef", "evaluate_forward_ref", "singledispatch", "singledispatchmethod"),
    *("update_wrapper", "wraps", "types", "FunctionType", "copyreg", "make_dataclass", "ABCMeta", "NamedTupleMeta"),
    *("EnumMeta", "EnumType", "Enum", "IntEnum", "StrEnum", "ReprEnum", "Flag", "IntFlag"),
}
"""Attributes of modules and values through which code could do so."""

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
    lambdas and comprehensions within it. If the source also binds the name as a global, there is only one variable,
    because the name can be the global in a part of the function.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self.nodes = list(_scoped(body))
        self.count: dict[str, int] = {}
        self.scopes: dict[ast.FunctionDef, Scope] = {}
        local: dict[Scope, set[str]] = {}
        outer: set[str] = set()
        for node, scope in self.nodes:
            inside = node if scope is None and isinstance(node, ast.FunctionDef) else scope
            if isinstance(node, ast.FunctionDef):
                self.scopes[node] = inside
            if isinstance(node, ast.Global):
                outer.update(node.names)
            for name in bound(node):
                self.count[name] = self.count.get(name, 0) + 1
                local.setdefault(scope, set()).add(name)
        outer |= local.get(None, set())
        self._local = {scope: names - outer for scope, names in local.items()}

    def variable(self, name: str, scope: Scope) -> tuple[Scope, str]:
        """The variable to which ``name`` refers in ``scope``."""
        return (scope if name in self._local.get(scope, ()) else None), name


def _scoped(body: list[ast.stmt]) -> Iterator[tuple[ast.AST, Scope]]:
    """All nodes in ``body``, each with its scope. A function itself stands in the scope around it."""
    waiting: list[tuple[ast.AST, Scope]] = [(node, None) for node in reversed(body)]
    while waiting:
        node, scope = waiting.pop()
        yield node, scope
        inside = node if scope is None and isinstance(node, ast.FunctionDef) else scope
        waiting.extend((inner, inside) for inner in ast.iter_child_nodes(node))


def is_devious(node: ast.AST) -> bool:
    """Whether the code could reach a value without its name, or define operators, by ``node``."""
    match node:
        case ast.Name(id=name):
            return name in _DEVIOUS or name.startswith("__")
        case ast.alias(name=name):
            return name == "*" or any(map(_is_way, name.split(".")))
        case ast.Attribute(attr=name):
            return _is_way(name)
        case ast.MatchClass(kwd_attrs=names):
            return any(map(_is_way, names))
        case _:
            return isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.ClassDef)


def _is_way(attribute: str) -> bool:
    return attribute in _WAYS or attribute.startswith(_INNER)


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
