"""Static analysis of ``can_start``: finds the keys of the view that it reads. ``can_start`` is then called again only
after one of these keys has changed.

The analysis is conservative. The analysis accepts ``can_start`` only if this function and the functions that it calls
contain nothing that could change a value or draw a random number; then the answer depends only on the view, the memory
and the action's own globals. Any other ``can_start`` is called at each step with the whole view. A wrong result of the
analysis could only make the mask of the same action out of date. The sandbox does not depend on it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

_SAFE = frozenset(
    {
        *("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "frozenset", "int", "isinstance"),
        *("len", "list", "max", "min", "pow", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple"),
        "zip",
    }
)
"""Built-in functions without an effect."""

_METHODS = frozenset(
    {
        *("copy", "count", "endswith", "get", "index", "items", "keys", "lower", "split", "startswith", "strip"),
        *("upper", "values"),
    }
)
"""Methods of plain values without an effect."""

_MODULES = ("math", "vec")
"""Modules of the guest whose functions have no effect."""

_NODES = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr),
    *(ast.Pass, ast.If, ast.For, ast.While, ast.Break, ast.Continue, ast.expr_context, ast.Constant, ast.Name),
    *(ast.Subscript, ast.Slice, ast.Attribute, ast.Call, ast.keyword, ast.BoolOp, ast.boolop, ast.BinOp),
    *(ast.operator, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop, ast.IfExp, ast.Tuple, ast.List, ast.Set),
    *(ast.Dict, ast.comprehension, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Starred),
)
"""Kinds of nodes that a function without effects may contain."""


@dataclass(frozen=True)
class Reads:
    """What ``can_start`` depends on.

    :ivar steady: whether equal views, memories and globals give equal answers, without side effects.
    :ivar keys: the keys of the view that ``can_start`` may read; None: any key.
    """

    steady: bool = False
    keys: frozenset[str] | None = None


@lru_cache(maxsize=1024)
def reads_of(source: str, shared: str) -> Reads:
    """What the ``can_start`` in ``source`` depends on. The source is parsed and never executed here.

    :param shared: source that is loaded before, into the same namespace.
    """
    try:
        body = [*ast.parse(shared).body, *ast.parse(source).body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Reads()
    module = _Module(body)
    guard = module.functions.get("can_start")
    if guard is None or not guard.args.args or not module.is_pure(guard):
        return Reads()
    return Reads(steady=True, keys=_keys(guard))


class _Module:
    """The functions and constants that the top level of a source defines, each exactly once."""

    def __init__(self, body: list[ast.stmt]) -> None:
        defined: dict[str, int] = {}
        for node in ast.walk(ast.Module(body, [])):
            for name in _bound(node):
                defined[name] = defined.get(name, 0) + 1
        self._bound = frozenset(defined)
        top = [node for node in body if isinstance(node, ast.FunctionDef)]
        self.functions = {f.name: f for f in top if defined[f.name] == 1 and not f.decorator_list}
        assigned = [node for node in body if isinstance(node, ast.Assign) and _is_literal(node.value)]
        names = [n.id for node in assigned for n in node.targets if isinstance(n, ast.Name)]
        self._constants = frozenset(name for name in names if defined[name] == 1)
        imported = [[(a.name, a.asname) for a in n.names] for n in body if isinstance(n, ast.Import)]
        self._modules = {name for name in _MODULES if name not in defined or [(name, None)] in imported}

    def is_pure(self, function: ast.FunctionDef, within: frozenset[str] = frozenset()) -> bool:
        """Whether a call of ``function`` has no effect and depends on its arguments and the globals alone."""
        if function.name in within:
            return True
        within |= {function.name}
        local = {name for node in ast.walk(function) for name in _bound(node)} - {function.name}
        changed = [node.target for node in ast.walk(function) if isinstance(node, ast.AugAssign)]
        if not all(isinstance(t, ast.Name) and t.id in _numbers(function) for t in changed):
            return False
        called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        return all(self._allows(node, id(node) in called, local, within) for node in ast.walk(function))

    def _allows(self, node: ast.AST, called: bool, local: set[str], within: frozenset[str]) -> bool:
        if not isinstance(node, _NODES):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute):
            of_module = isinstance(node.value, ast.Name) and node.value.id in self._modules
            return of_module or (called and node.attr in _METHODS)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._knows(node.id, called, local, within)
        return not isinstance(node, ast.Call) or isinstance(node.func, (ast.Name, ast.Attribute))

    def _knows(self, name: str, called: bool, local: set[str], within: frozenset[str]) -> bool:
        if name in local:
            return not called
        if name in self._bound:
            helper = self.functions.get(name)
            if helper is not None:
                return called and self.is_pure(helper, within)
            return (name in self._constants or name in self._modules) and not called
        return name in _SAFE or name in self._modules


def _bound(node: ast.AST) -> list[str]:
    """The names that ``node`` itself binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.ExceptHandler(name=str(name)):
            return [name]
    return []


def _numbers(function: ast.FunctionDef) -> set[str]:
    """The local names that only constants are assigned to: ``+=`` changes no object of others through them."""
    constant: set[str] = set()
    other = {arg for node in ast.walk(function) if isinstance(node, ast.arg) for arg in _bound(node)}
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
            simple = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            (constant if simple else other).update(names)
        if isinstance(node, (ast.For, ast.comprehension, ast.AnnAssign)):
            other |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return constant - other


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _keys(guard: ast.FunctionDef) -> frozenset[str] | None:
    """The keys, where every use of the view is ``view["key"]`` or ``view.get("key", ...)``."""
    view = guard.args.args[0].arg
    keys: list[str] = []
    for node in ast.walk(guard):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if name == view:
                keys.append(key)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]
            ) if name == view:
                keys.append(key)
    uses = sum(isinstance(node, ast.Name) and node.id == view for node in ast.walk(guard))
    return frozenset(keys) if uses == len(keys) else None
