"""Static analysis of ``can_start``, which finds the keys of the view that ``can_start`` reads. After the analysis,
``can_start`` is called again only when one of the keys that it reads has changed.

The analysis is conservative. The analysis accepts ``can_start`` only if this function and the functions that it calls
contain nothing that could change a value or draw a random number. The answer of an accepted ``can_start`` depends only
on the view, the memory and the action's own globals. A ``can_start`` that is not accepted is called at each step with
the whole view. A wrong result of the analysis could only make the mask of the same action out of date. The security of
the sandbox does not depend on it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from rlgpt.sandbox.guest.modules import PREIMPORTED
from rlgpt.sandbox.reads.keys import ViewReads
from rlgpt.sandbox.reads.names import bound
from rlgpt.sandbox.reads.views import view_reads

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

_DEVIOUS = frozenset(
    {
        *("globals", "vars", "locals", "exec", "eval", "compile", "setattr", "delattr", "getattr", "object", "type"),
        *("dir", "functools", "super", "update_wrapper", "wraps"),
    }
)
"""Names through which code could change a function or a global without an assignment."""

_INNER = ("_", "f_", "gi_", "cr_", "ag_", "tb_")
"""Beginnings of the names of attributes through which code could reach the globals."""

_NODES = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr),
    *(ast.Pass, ast.If, ast.For, ast.While, ast.Break, ast.Continue, ast.expr_context, ast.Constant, ast.Name),
    *(ast.Subscript, ast.Slice, ast.Attribute, ast.Call, ast.keyword, ast.BoolOp, ast.boolop, ast.BinOp),
    *(ast.operator, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop, ast.IfExp, ast.Tuple, ast.List, ast.Set),
    *(ast.Dict, ast.comprehension, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Starred),
)
"""Kinds of nodes that a function without effects may contain."""


_LONGEST = 100_000
"""Maximal length of a source that is analyzed, with its shared code, in characters."""


@dataclass(frozen=True)
class Reads:
    """The inputs on which the answer of a ``can_start`` depends.

    :ivar steady: whether ``can_start`` gives equal answers for equal views, memories and globals, and has no side
        effects.
    :ivar keys: the keys of the view that ``can_start`` may read, sorted. ``keys`` is None if ``can_start`` may read any
        key of the view.
    :ivar constant: whether ``can_start`` is steady and does not read the memory, and no other code of the source can
        change its answers. One instance can answer a constant ``can_start`` for all episodes, because loading the
        source only runs definitions.
    """

    steady: bool = False
    keys: tuple[str, ...] | None = None
    constant: bool = False


@lru_cache(maxsize=1024)
def reads_of(source: str, shared: str) -> Reads:
    """Find the inputs on which the answer of ``can_start`` in ``source`` depends. ``reads_of`` parses the source and
    does not run it.

    :param shared: source that the guest loads before ``source``, into the same namespace.
    """
    bodies = _parse(source, shared)
    if bodies is None:
        return Reads()
    before, body = bodies[0], [*bodies[0], *bodies[1]]
    module = _Module(body)
    guard = module.functions.get("can_start")
    if guard is None or not guard.args.args or not module.is_pure(guard):
        return Reads()
    alone = [arg.arg for arg in ast.walk(guard.args) if isinstance(arg, ast.arg)] == [guard.args.args[0].arg]
    loads = "run" in module.functions and not {"run", "can_start"} & {n for node in before for n in bound(node)}
    constant = alone and loads and module.is_inert and module.is_fixed(guard)
    return Reads(steady=True, keys=module.keys(guard), constant=constant)


@lru_cache(maxsize=1024)
def view_reads_of(source: str, shared: str, entry: str) -> ViewReads | None:
    """The keys of views that ``entry`` (``run``, or a function that gets a view as its first argument) can read; None
    if it could use a view in any other way. ``view_reads_of`` parses the source and does not run it.

    :param shared: source that the guest loads before ``source``, into the same namespace.
    """
    bodies = _parse(source, shared)
    return None if bodies is None else view_reads([*bodies[0], *bodies[1]], entry)


def _parse(source: str, shared: str) -> tuple[list[ast.stmt], list[ast.stmt]] | None:
    """The statements of ``shared`` and of ``source``; None if they cannot be parsed or are long."""
    if len(shared) + len(source) > _LONGEST:
        return None
    try:
        return ast.parse(shared).body, ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Module:
    """The functions and constants that the top level of a source defines, each exactly once."""

    def __init__(self, body: list[ast.stmt]) -> None:
        defined: dict[str, int] = {}
        for node in ast.walk(ast.Module(body, [])):
            for name in bound(node):
                defined[name] = defined.get(name, 0) + 1
        self._body, self._bound = body, frozenset(defined)
        top = [node for node in body if isinstance(node, ast.FunctionDef)]
        self.functions = {f.name: f for f in top if defined[f.name] == 1 and not f.decorator_list}
        assigned = [node for node in body if isinstance(node, ast.Assign) and _is_literal(node.value)]
        names = [n.id for node in assigned for n in node.targets if isinstance(n, ast.Name)]
        self._constants = frozenset(name for name in names if defined[name] == 1)
        open_ended = [node for node in assigned if not _is_immutable(node.value)]
        self._mutable = {n.id for node in open_ended for n in node.targets if isinstance(n, ast.Name)}
        imported = [[(a.name, a.asname) for a in n.names] for n in body if isinstance(n, ast.Import)]
        self._modules = {name for name in _MODULES if name not in defined or [(name, None)] in imported}

    @property
    def is_inert(self) -> bool:
        """Whether loading the source only imports modules of the guest, and defines functions and constants."""
        return all(map(_is_definition, self._body))

    def is_fixed(self, guard: ast.FunctionDef) -> bool:
        """Whether no other code of the source can change the globals that the pure function ``guard`` uses."""
        nodes = list(ast.walk(ast.Module(self._body, [])))
        if any(isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load) for n in nodes):
            return False
        if any(isinstance(n, ast.Attribute) and n.attr.startswith(_INNER) for n in nodes):
            return False
        own = self._used_by(guard)
        others = [n for f in self._body if not (isinstance(f, ast.FunctionDef) and f.name in own) for n in ast.walk(f)]
        callees = {id(n.func) for n in others if isinstance(n, ast.Call)}
        for node in others:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                as_object = node.id in self.functions and id(node) not in callees
                if node.id in _DEVIOUS or (node.id in own and (as_object or node.id in self._mutable)):
                    return False
        return True

    def _used_by(self, function: ast.FunctionDef) -> frozenset[str]:
        """The names of the globals of the source that ``function`` uses, directly or through other functions. The name
        of ``function`` itself is included in the used names.
        """
        used, waiting = {function.name}, [function]
        while waiting:
            for node in ast.walk(waiting.pop()):
                if isinstance(node, ast.Name) and node.id in self._bound and node.id not in used:
                    used.add(node.id)
                    if (helper := self.functions.get(node.id)) is not None:
                        waiting.append(helper)
        return frozenset(used)

    def keys(self, guard: ast.FunctionDef) -> tuple[str, ...] | None:
        """The keys of the view that the pure function ``guard`` reads; None if they are not known."""
        used = self._used_by(guard)
        body = [n for n in self._body if isinstance(n, ast.Assign) or getattr(n, "name", None) in used]
        reads = view_reads(body, guard.name)
        if reads is None or reads.tests or any(pattern.suffix is not None for pattern in reads.keys):
            return None
        return tuple(sorted(pattern.prefix for pattern in reads.keys))

    def is_pure(self, function: ast.FunctionDef) -> bool:
        """Whether a call of ``function`` has no effect, and its result depends only on its arguments and globals."""
        used = self._used_by(function)
        return all(self._is_pure(helper) for name, helper in self.functions.items() if name in used)

    def _is_pure(self, function: ast.FunctionDef) -> bool:
        """Whether ``function`` is pure under the assumption that all functions of the source that it calls are pure."""
        local = {name for node in ast.walk(function) for name in bound(node)} - {function.name}
        changed = [node.target for node in ast.walk(function) if isinstance(node, ast.AugAssign)]
        if not all(isinstance(t, ast.Name) and t.id in _numbers(function) for t in changed):
            return False
        called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        return all(self._allows(node, id(node) in called, local) for node in ast.walk(function))

    def _allows(self, node: ast.AST, called: bool, local: set[str]) -> bool:
        if not isinstance(node, _NODES):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute):
            of_module = isinstance(node.value, ast.Name) and node.value.id in self._modules
            return of_module or (called and node.attr in _METHODS)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._knows(node.id, called, local)
        return not isinstance(node, ast.Call) or isinstance(node.func, (ast.Name, ast.Attribute))

    def _knows(self, name: str, called: bool, local: set[str]) -> bool:
        if name in local:
            return not called
        if name in self.functions:
            return called
        if name in self._bound:
            return (name in self._constants or name in self._modules) and not called
        return name in _SAFE or name in self._modules


def _numbers(function: ast.FunctionDef) -> set[str]:
    """The local names of ``function`` to which only constants are assigned. The operator ``+=`` on a name that only has
    constant values cannot change an object that other code uses.
    """
    constant: set[str] = set()
    other = {arg for node in ast.walk(function) if isinstance(node, ast.arg) for arg in bound(node)}
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


def _is_definition(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(decorator_list=[], args=arguments):
            defaults = [value for value in (*arguments.defaults, *arguments.kw_defaults) if value is not None]
            return all(map(_is_literal, defaults))
        case ast.Assign(targets=targets, value=value):
            return all(isinstance(target, ast.Name) for target in targets) and _is_literal(value)
        case ast.Import(names=names):
            return all(alias.name in PREIMPORTED for alias in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            return module in PREIMPORTED and all(alias.name != "*" for alias in names)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_immutable(value: ast.expr) -> bool:
    return not any(isinstance(node, (ast.List, ast.Dict, ast.Set)) for node in ast.walk(value))
