"""Finds which keys an expression of a source can be, such as ``"far"``, ``name + "_far"`` or ``f"hand_{axis}"``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from rlgpt.sandbox.reads.keys import ANY, Pattern
from rlgpt.sandbox.reads.names import Names, Scope, bound

_MOST, _DEPTH, _TRIES, _LONGEST = 64, 12, 20_000, 1_000


class KeyTexts:
    """The keys that expressions of a source can be.

    :param functions: functions of the source that only the source calls, by name. Each name is bound once.
    """

    def __init__(self, names: Names, functions: Mapping[str, ast.FunctionDef]) -> None:
        self._names, self._tries = names, _TRIES
        self._sources: dict[tuple[Scope, str], list[ast.expr]] = {}
        self._given: dict[tuple[Scope, str], int] = {}
        self._all: dict[tuple[Scope, str], int] = {}
        self._tuples = {
            target.id: node.value
            for node, _ in names.nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
            for target in node.targets
            if isinstance(target, ast.Name) and names.count[target.id] == 1
        }
        called = {id(node.func) for node, _ in names.nodes if isinstance(node, ast.Call)}
        used = {n.id for n, _ in names.nodes if isinstance(n, ast.Name) and id(n) not in called}
        self._scope_of: dict[int, Scope] = {id(node): scope for node, scope in names.nodes}
        for node, scope in names.nodes:
            for name in bound(node):
                variable = names.variable(name, scope)
                self._all[variable] = self._all.get(variable, 0) + 1
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind(target, [value], scope)
                case ast.For(target=target, iter=given) | ast.comprehension(target=target, iter=given):
                    self._bind(target, self._elements(given, scope), scope)
                case ast.Call(func=ast.Name(id=name)) if name in functions:
                    self._pass(node, functions[name])
        for function in functions.values():
            if function.name not in used and not (function.args.vararg or function.args.kwarg):
                self._take(function)

    def patterns(self, node: ast.expr, scope: Scope, depth: int = 0) -> frozenset[Pattern]:
        """The keys that ``node`` can be."""
        self._tries -= 1
        found = self._patterns(node, scope, depth) if depth < _DEPTH and self._tries > 0 else frozenset({ANY})
        return found if len(found) <= _MOST else frozenset({ANY})

    def _patterns(self, node: ast.expr, scope: Scope, depth: int) -> frozenset[Pattern]:
        match node:
            case ast.Constant(value=str(text)):
                return frozenset({Pattern(text)})
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._joined([left, right], scope, depth)
            case ast.JoinedStr(values=values):
                return self._joined(values, scope, depth)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.patterns(value, scope, depth + 1)
            case ast.IfExp(body=one, orelse=other):
                return self.patterns(one, scope, depth + 1) | self.patterns(other, scope, depth + 1)
            case ast.Name(id=name):
                variable = self._names.variable(name, scope)
                if variable in self._sources and self._given[variable] == self._all.get(variable):
                    several = [self.patterns(e, self._scope_of[id(e)], depth + 1) for e in self._sources[variable]]
                    return frozenset().union(*several)
        return frozenset({ANY})

    def _joined(self, values: Iterable[ast.expr], scope: Scope, depth: int) -> frozenset[Pattern]:
        found = frozenset({Pattern("")})
        for value in values:
            parts = self.patterns(value, scope, depth + 1)
            found = frozenset(before.then(part) for before in found for part in parts)
            if len(found) > _MOST or any(len(prefix) + len(suffix or "") > _LONGEST for prefix, suffix in found):
                return frozenset({ANY})
        return found

    def _bind(self, target: ast.expr, values: list[ast.expr] | None, scope: Scope) -> None:
        """``target`` is bound to one of ``values``."""
        if values is None:
            return
        if isinstance(target, ast.Name):
            variable = self._names.variable(target.id, scope)
            self._sources.setdefault(variable, []).extend(values)
            self._given[variable] = self._given.get(variable, 0) + 1
        elif isinstance(target, ast.Tuple):
            rows = [value.elts for value in values if isinstance(value, ast.Tuple)]
            rows = [row for row in rows if not any(isinstance(part, ast.Starred) for part in row)]
            if len(rows) == len(values) and all(len(row) == len(target.elts) for row in rows):
                for place, inner in enumerate(target.elts):
                    self._bind(inner, [row[place] for row in rows], scope)

    def _elements(self, node: ast.expr, scope: Scope) -> list[ast.expr] | None:
        """The elements of a tuple or list that stands in the source; None if they are not known."""
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return None if any(isinstance(element, ast.Starred) for element in elements) else elements
            case ast.Name(id=name) if name in self._tuples:  # Code could change a list.
                return self._elements(self._tuples[name], scope)
        return None

    def _pass(self, call: ast.Call, function: ast.FunctionDef) -> None:
        """Remember the arguments of a call of ``function``."""
        arguments = [*function.args.posonlyargs, *function.args.args]
        scope = self._names.scopes[function]
        starred = any(isinstance(arg, ast.Starred) for arg in call.args)
        if starred or any(keyword.arg is None for keyword in call.keywords):
            for arg in (*arguments, *function.args.kwonlyargs):
                self._sources.setdefault((scope, arg.arg), []).append(_unknown(self._scope_of))
            return
        given = [(arg.arg, value) for arg, value in zip(arguments, call.args, strict=False)]
        given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        for name, value in given:
            self._sources.setdefault((scope, name), []).append(value)

    def _take(self, function: ast.FunctionDef) -> None:
        """The arguments of ``function`` are what its calls and its default values give."""
        scope, arguments = self._names.scopes[function], function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip((a.arg for a in reversed(positional)), reversed(arguments.defaults), strict=False))
        defaults |= {
            a.arg: value for a, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
        }
        for arg in (*positional, *arguments.kwonlyargs):
            variable = scope, arg.arg
            sources = self._sources.setdefault(variable, [])
            if arg.arg in defaults:
                default = defaults[arg.arg]
                sources.append(default if isinstance(default, ast.Constant) else _unknown(self._scope_of))
            self._given[variable] = self._given.get(variable, 0) + 1


def _unknown(scope_of: dict[int, Scope]) -> ast.expr:
    """An expression that can be any key."""
    node = ast.Constant(None)
    scope_of[id(node)] = None
    return node
