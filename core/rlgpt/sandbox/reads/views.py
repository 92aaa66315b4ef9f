"""Static analysis of code of a language model, which finds the keys of a view that the code can read. The host then
sends only these keys.

The analysis follows views and outcomes through the names of a source: through assignments, arguments and return values
of the source's own functions, and lists and tuples. It accepts only uses that cannot show which other keys a view has:
``view["key"]``, ``view.get("key")``, ``"key" in view``, ``view is None``, tests such as ``if view`` and the like. If
code could use a view in any other way, the analysis gives up, and the code gets whole views.

The analysis does not depend on the order of statements: all assignments to a name count together.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from rlgpt.sandbox.reads.key_texts import KeyTexts
from rlgpt.sandbox.reads.keys import ANY, Pattern, ViewReads
from rlgpt.sandbox.reads.names import Names, Scope, is_devious, yields
from rlgpt.sandbox.reads.values import PLAIN, VIEW, Unclear, Value, join, listed, several

Function = ast.FunctionDef | ast.Lambda

_TYPES = (ast.Name, ast.Tuple, ast.expr_context)
"""Nodes of the second argument of ``isinstance``: names of built-in types."""

_ROUNDS, _TRIES = 40, 100_000
"""Maximal number of rounds over the source, and of expressions in all rounds. Common sources need 4 rounds."""


def view_reads(body: list[ast.stmt], entry: str) -> ViewReads | None:
    """The keys of views and outcomes that the code can read; None if it could use a view in any other way.

    :param body: the statements of the source.
    :param entry: name of the function that gets views. ``run`` gets them from its yields, any other function as its
        first argument.
    """
    try:
        analysis = _Analysis(body, entry)
    except (Unclear, RecursionError):
        return None
    return ViewReads(frozenset(analysis.keys), analysis.tests)


@dataclass(frozen=True)
class _Place:
    """Where a statement or expression stands.

    :ivar function: the innermost function.
    """

    scope: Scope
    function: Function | None


class _Analysis:
    """:raises Unclear: code could use a view in a way that shows which keys it has."""

    def __init__(self, body: list[ast.stmt], entry: str) -> None:
        self._names = names = Names(body)
        if any(is_devious(node) for node, _ in names.nodes):
            raise Unclear
        self._entry, self.keys, self.tests = entry, set[Pattern](), False
        self._functions = {f.name: f for f in names.scopes if names.count[f.name] == 1 and not f.decorator_list}
        called = {"run", "can_start", entry}  # The guest calls these functions.
        self._texts = KeyTexts(names, {name: f for name, f in self._functions.items() if name not in called})
        self._yielding = {f for f in self._functions.values() if yields(f)}
        self._known: dict[tuple[Scope, str], Value] = {}
        self._returns: dict[ast.AST, Value] = {}
        self._escaped: set[ast.AST] = set()
        self._changed, self._tries = True, _TRIES
        function = self._functions.get(entry)
        if function is None or function not in body:
            raise Unclear
        if entry != "run":
            arguments = [*function.args.posonlyargs, *function.args.args]
            if not arguments:
                raise Unclear
            self._learn(arguments[0].arg, VIEW, function)
        for _ in range(_ROUNDS):
            if not self._changed:
                break
            self._changed = False
            self._statements(body, _Place(None, None))
        else:
            raise Unclear
        self._escaped.update(f for name, f in self._functions.items() if name in called - {"run"})
        if any(self._returns.get(f, PLAIN) != PLAIN for f in self._escaped):
            raise Unclear

    def _learn(self, name: str, value: Value, scope: Scope) -> None:
        """``name`` can also be ``value``."""
        variable = self._names.variable(name, scope)
        before = self._known.get(variable, PLAIN)
        after = join(before, value)
        if after != before:
            self._known[variable], self._changed = after, True

    def _returned(self, value: Value, function: Function | None) -> None:
        if value == PLAIN:
            return
        if not isinstance(function, ast.FunctionDef) or self._functions.get(function.name) is not function:
            raise Unclear
        before = self._returns.get(function, PLAIN)
        after = join(before, value)
        if after != before:
            self._returns[function], self._changed = after, True

    def _statements(self, body: Iterable[ast.stmt], place: _Place) -> None:
        for statement in body:
            self._statement(statement, place)

    def _statement(self, node: ast.stmt, place: _Place) -> None:
        match node:
            case ast.FunctionDef():
                self._define(node, place)
                self._statements(node.body, _Place(place.scope or node, node))
            case ast.Assign(targets=targets, value=given):
                value = self.value(given, place)
                for target in targets:
                    self._assign(target, value, place)
            case ast.AnnAssign(target=target, value=ast.expr() as given):
                self._assign(target, self.value(given, place), place)
            case ast.For(target=target, iter=given):
                self._assign(target, self.value(given, place).elements, place)
                self._statements([*node.body, *node.orelse], place)
            case ast.If(test=test) | ast.While(test=test):
                self._test(test, place)
                self._statements([*node.body, *node.orelse], place)
            case ast.Assert(test=test, msg=message):
                self._test(test, place)
                self._plain([message] if message else [], place)
            case ast.Expr(value=given):
                self.value(given, place)
            case ast.Return(value=given):
                self._returned(self.value(given, place) if given else PLAIN, place.function)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._delete(target, place)
            case ast.Try() | ast.TryStar():
                self._statements([*node.body, *node.orelse, *node.finalbody], place)
                for handler in node.handlers:
                    self._plain([handler.type] if handler.type else [], place)
                    self._statements(handler.body, place)
            case _:
                self._plain(ast.iter_child_nodes(node), place)

    def _delete(self, target: ast.expr, place: _Place) -> None:
        match target:
            case ast.Name():
                return
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for inner in targets:
                    self._delete(inner, place)
            case _:  # A view without its last key is false in a test.
                self._plain(ast.iter_child_nodes(target), place)

    def _plain(self, nodes: Iterable[ast.AST], place: _Place) -> None:
        """Check that none of ``nodes`` has a view as its value."""
        for node in nodes:
            if isinstance(node, ast.stmt):
                self._statement(node, place)
            elif isinstance(node, ast.expr):
                if self.value(node, place) != PLAIN:
                    raise Unclear
            else:
                self._plain(ast.iter_child_nodes(node), place)

    def _define(self, function: Function, place: _Place) -> None:
        """Read the default values of the arguments of ``function``."""
        scope = place.scope or (function if isinstance(function, ast.FunctionDef) else None)
        arguments = function.args
        names = [*arguments.posonlyargs, *arguments.args]
        pairs = [*zip(reversed(names), reversed(arguments.defaults), strict=False)]
        pairs += [(arg, value) for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
        for arg, value in pairs:
            self._learn(arg.arg, self.value(value, place), scope)
        if isinstance(function, ast.FunctionDef):
            self._plain(function.decorator_list, place)

    def _assign(self, target: ast.expr, value: Value, place: _Place) -> None:
        match target:
            case ast.Name(id=name):
                self._learn(name, value, place.scope)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                starred = any(isinstance(inner, ast.Starred) for inner in targets)
                if value.parts is not None and not (value.view or starred) and len(value.parts) == len(targets):
                    for inner, part in zip(targets, value.parts, strict=True):
                        self._assign(inner, part, place)
                else:
                    for inner in targets:
                        self._assign(inner, value.elements, place)
            case ast.Starred(value=inner):
                self._assign(inner, listed(value), place)
            case ast.Subscript(value=base, slice=index):
                if value != PLAIN:
                    raise Unclear
                self.value(base, place)
                self._plain([index], place)
            case _:
                if value != PLAIN:
                    raise Unclear
                self._plain(ast.iter_child_nodes(target), place)

    def value(self, node: ast.expr, place: _Place) -> Value:
        """What the expression ``node`` can be."""
        self._tries -= 1
        if not self._tries:
            raise Unclear
        match node:
            case ast.Constant():
                return PLAIN
            case ast.Name(id=name):
                if name in self._functions:
                    self._escaped.add(self._functions[name])
                return self._known.get(self._names.variable(name, place.scope), PLAIN)
            case ast.Yield(value=asked):
                self._plain([asked] if asked else [], place)
                return self._answer(asked) if self._entry == "run" else PLAIN
            case ast.YieldFrom(value=ast.Call(func=ast.Name(id=name)) as call) if name in self._functions:
                result = self._call(call, self._functions[name], place)
                if result != PLAIN and self._functions[name] not in self._yielding:
                    raise Unclear
                return result
            case ast.Call():
                return self._called(node, place)
            case ast.Subscript(value=base, slice=index):
                return self._subscript(self.value(base, place), index, place)
            case ast.Compare():
                return self._compare(node, place)
            case ast.BoolOp(values=values):
                return reduce(join, [self._test(inner, place) for inner in values])
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self._test(inner, place)
                return PLAIN
            case ast.IfExp(test=test, body=body, orelse=other):
                self._test(test, place)
                return join(self.value(body, place), self.value(other, place))
            case ast.NamedExpr(target=target, value=given):
                value = self.value(given, place)
                self._assign(target, value, place)
                return value
            case ast.Tuple(elts=values) if not any(isinstance(inner, ast.Starred) for inner in values):
                return several([self.value(inner, place) for inner in values])
            case ast.List(elts=values) if not any(isinstance(inner, ast.Starred) for inner in values):
                return listed(reduce(join, [self.value(inner, place) for inner in values], PLAIN))
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                self._loops(node.generators, place)
                return listed(self.value(element, place))
            case ast.SetComp() | ast.DictComp():
                self._loops(node.generators, place)
                self._plain([node.elt] if isinstance(node, ast.SetComp) else [node.key, node.value], place)
                return PLAIN
            case ast.Lambda(body=body):
                self._define(node, place)
                self._returned(self.value(body, _Place(place.scope, node)), node)
                return PLAIN
        self._plain(ast.iter_child_nodes(node), place)
        return PLAIN

    def _test(self, node: ast.expr, place: _Place) -> Value:
        """What ``node`` can be, of which the code tests whether it is empty."""
        value = self.value(node, place)
        self.tests = self.tests or value.view
        return value

    def _loops(self, loops: Iterable[ast.comprehension], place: _Place) -> None:
        for loop in loops:
            self._assign(loop.target, self.value(loop.iter, place).elements, place)
            for test in loop.ifs:
                self._test(test, place)

    def _answer(self, asked: ast.expr | None) -> Value:
        """What the host answers to a yield of ``asked``: an outcome or a view, or a list of these."""
        match asked:
            case ast.List() | ast.Tuple() | ast.ListComp():
                return Value(items=VIEW)
            case ast.Call(func=ast.Name(id=name)) if name not in self._names.count and not hasattr(builtins, name):
                return VIEW
            case ast.IfExp(body=one, orelse=other):
                return join(self._answer(one), self._answer(other))
        return Value(view=True, items=VIEW)

    def _subscript(self, base: Value, index: ast.expr, place: _Place) -> Value:
        self._plain([index], place)
        inside = base._replace(view=False)  # A view has no number or slice as a key, so that the code fails.
        match index:
            case ast.Slice():
                return listed(inside.elements)
            case ast.Constant(value=int(number)) if inside.parts is not None and number < len(inside.parts):
                return inside.parts[number]
            case ast.Constant(value=int()) | ast.UnaryOp(op=ast.USub()):
                return inside.elements
        if base.view:
            self._read(index, place)
        return join(inside.elements, listed(inside.elements))

    def _read(self, key: ast.expr, place: _Place) -> None:
        """The code reads a key of a view."""
        patterns = self._texts.patterns(key, place.scope)
        if ANY in patterns:
            raise Unclear
        self.keys |= patterns

    def _compare(self, node: ast.Compare, place: _Place) -> Value:
        match node:
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[inner]):
                self._plain([key], place)
                if self.value(inner, place) != PLAIN:
                    self._read(key, place)
            case ast.Compare(ops=ops) if all(isinstance(op, ast.Is | ast.IsNot) for op in ops):
                for inner in (node.left, *node.comparators):
                    self.value(inner, place)
            case _:
                self._plain((node.left, *node.comparators), place)
        return PLAIN

    def _called(self, node: ast.Call, place: _Place) -> Value:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                function = self._functions[name]
                result = self._call(node, function, place)
                if function in self._yielding:  # The call makes a generator, which other code can run.
                    self._escaped.add(function)
                    return PLAIN
                return result
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name not in self._names.count:
                return self._builtin(name, args, place)
            case ast.Call(func=ast.Attribute(value=base, attr=method)):
                value = self.value(base, place)
                if value != PLAIN:
                    return self._method(value, method, node, place)
        self._plain(ast.iter_child_nodes(node), place)
        return PLAIN

    def _method(self, base: Value, method: str, node: ast.Call, place: _Place) -> Value:
        match node.args:
            case [key, *others] if method == "get" and len(others) < 2 and not node.keywords:
                self._plain([key], place)
                self._read(key, place)
                return reduce(join, [self.value(other, place) for other in others], PLAIN)
        raise Unclear

    def _builtin(self, name: str, args: list[ast.expr], place: _Place) -> Value:
        """Call the function ``name``, which the source does not define."""
        if any(isinstance(arg, ast.Starred) for arg in args):
            self._plain(args, place)
            return PLAIN
        values = [self.value(arg, place) for arg in args]
        if all(value == PLAIN for value in values):
            return PLAIN
        match name, values:
            case "bool", [value]:
                self.tests = self.tests or value.view
                return PLAIN
            case "isinstance", [_, _] if all(isinstance(n, _TYPES) for n in ast.walk(args[1])):
                return PLAIN
            case "len", [Value(view=False)]:
                return PLAIN
            case "list" | "tuple" | "reversed", [value]:
                return listed(value.elements)
            case "enumerate", [value, *others] if all(other == PLAIN for other in others):
                return listed(several([PLAIN, value.elements]))
            case "zip", _:
                return listed(several([value.elements for value in values]))
        raise Unclear

    def _call(self, node: ast.Call, function: ast.FunctionDef, place: _Place) -> Value:
        """Call ``function`` of the source."""
        arguments = function.args
        names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        named = {arg.arg for arg in (*arguments.args, *arguments.kwonlyargs)}
        inside = self._names.scopes[function]
        sure = True
        for number, arg in enumerate(node.args):
            value = self.value(arg, place)
            if isinstance(arg, ast.Starred):
                sure = False
            if value == PLAIN:
                continue
            if not sure or number >= len(names):
                raise Unclear
            self._learn(names[number], value, inside)
        for keyword in node.keywords:
            value = self.value(keyword.value, place)
            if value == PLAIN:
                continue
            if keyword.arg not in named:
                raise Unclear
            assert keyword.arg is not None
            self._learn(keyword.arg, value, inside)
        return self._returns.get(function, PLAIN)
