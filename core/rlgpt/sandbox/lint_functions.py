"""Checks of the source of a feature, reward term or predicate. Lint checks the signature of the function, its return
values, and the keys of the view that the function reads.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator

from rlgpt.domain import CodedFeatures, CodedFunction
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.lint_calls import Finding, own_nodes, top_level

_RETURNS = {
    "features": "a dict with a number for each output",
    "reward": "a number",
    "done": "True or False",
}


def check(tree: ast.Module, function: CodedFunction, library: Library) -> list[Finding]:
    """Find the faults in the function that the source must define, and in the declaration of the function.

    :param library: the library with the keys of the view that ``function`` gets.
    """
    entry = function.entry
    defined = top_level(tree, entry)
    head = f"def {entry}(view, memory):"
    findings = _declared(function, library)
    if defined is None:
        return [*findings, Finding(None, f"define `{head}`; there is no function `{entry}`")]
    if isinstance(defined, ast.AsyncFunctionDef):
        return [*findings, Finding(defined.lineno, f"`{entry}` must be a plain function: `def`, not `async def`")]
    nodes = list(own_nodes(defined))
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in nodes):
        findings.append(
            Finding(defined.lineno, f"`{entry}` is a plain function: it must return its answer and must not `yield`")
        )
    elif not any(isinstance(n, ast.Return) and n.value is not None for n in nodes):
        findings.append(Finding(defined.lineno, f"`{entry}` returns nothing: it must return {_RETURNS[entry]}"))
    takes = defined.args
    positional = [*takes.posonlyargs, *takes.args]
    required = len(positional) - len(takes.defaults)
    if required > 2 or (len(positional) < 2 and takes.vararg is None):
        findings.append(Finding(defined.lineno, f"`{entry}` takes two arguments, the view and the memory: `{head}`"))
    elif positional:
        findings += _keys(defined, positional[0].arg, library)
    if isinstance(function, CodedFeatures):
        findings += _outputs(nodes, [o.name for o in function.outputs])
    return findings


def _declared(function: CodedFunction, library: Library) -> list[Finding]:
    """Findings on outputs of a feature that have the name of a key of the view. The outputs of a feature become keys of
    the view, so their names must differ from the existing keys.
    """
    outputs = [o.name for o in function.outputs] if isinstance(function, CodedFeatures) else []
    keys = {key.name for key in library.view}
    return [
        Finding(None, f"the output {n!r} has the name of a key of the view; rename it") for n in outputs if n in keys
    ]


def _keys(function: ast.FunctionDef, view: str, library: Library) -> Iterator[Finding]:
    """Findings on keys that the source reads but that the view does not have. A finding about an unknown key is not
    certain, because a source may read the key in a branch that never runs.
    """
    keys = [key.name for key in library.view]
    nodes = list(own_nodes(function))
    if any(isinstance(n, ast.Name) and n.id == view and not isinstance(n.ctx, ast.Load) for n in nodes):
        return
    for node in nodes:
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == view):
            continue
        key = _text(node.slice)
        if key is not None and key not in keys:
            near = difflib.get_close_matches(key, keys, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            text = f"the view has no key {key[:40]!r}.{hint} Valid: {', '.join(keys)[:300] or '(none)'}"
            yield Finding(node.lineno, text, sure=False)


def _outputs(nodes: Collection[ast.AST], declared: list[str]) -> Iterator[Finding]:
    """Findings on dict literals that a feature returns, if their keys are constants and differ from the declared
    outputs.
    """
    for node in nodes:
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            keys = [_text(key) for key in node.value.keys]
            known = [key for key in keys if key is not None]
            if len(known) == len(keys) and set(known) != set(declared):
                got = ", ".join(known)[:200] or "nothing"
                text = f"`features` must return exactly the declared outputs, {', '.join(declared)[:200]}; here: {got}"
                yield Finding(node.lineno, text)


def _text(node: ast.AST | None) -> str | None:
    """The text of a constant; None if the node is not a text constant, or if the guest parsed the source, because its
    trees contain no values of constants.
    """
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None
