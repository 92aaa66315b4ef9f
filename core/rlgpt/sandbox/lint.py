"""Lint: checks of a source before it runs. The findings of lint are feedback for the language model that wrote the
source. Lint does not protect the machine on which the code runs; the sandbox does.
"""

from __future__ import annotations

import ast

from rlgpt.domain import CodedAction, CodedFunction, Verdict
from rlgpt.sandbox import lint_calls, lint_functions, lint_parse
from rlgpt.sandbox.guest.modules import IMPORTABLE, refusal
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.lint_calls import Finding, top_level

MEMORY = "memory"
"""Name of the argument of ``run`` and ``can_start`` that gets the memory of the episode."""


def lint(code: CodedAction | CodedFunction, library: Library, limits: SandboxLimits = DEFAULT) -> list[Verdict]:
    """Find faults in the source of ``code`` without running the source. Each verdict of lint is of kind ``lint``.

    If the host's Python cannot parse the source, the guest's Python parses it, so lint gives the same verdicts on all
    hosts. If only the guest's compiler refuses a source, lint accepts the source, and the sandbox returns a verdict
    when it loads the source.

    :param library: the library of the task. For a reward term or a predicate, the library contains the outputs of the
        features (:meth:`Library.with_features`).
    :raises SandboxError: lint needs the guest to parse the source, and the guest program is missing.
    """
    return [_verdict(code, finding) for finding in _findings(code, library, limits)]


def faults(code: CodedAction | CodedFunction, library: Library, limits: SandboxLimits = DEFAULT) -> list[Verdict]:
    """The verdicts of :func:`lint` about certain faults, without the verdicts about suspected faults, and verdicts
    about constants that a primitive does not accept as arguments. Commands that load finished code (such as a bundle)
    use ``faults``. The agents do not: a rehearsal finds such a constant, and its verdict says the same.
    """
    return [_verdict(code, finding) for finding in _findings(code, library, limits, constants=True) if finding.sure]


def _findings(
    code: CodedAction | CodedFunction, library: Library, limits: SandboxLimits, *, constants: bool = False
) -> list[Finding]:
    size = len(code.source.encode("utf-8", "replace"))
    if size > limits.source_bytes:
        return [Finding(None, f"the source has {size} bytes; at most {limits.source_bytes} are allowed")]
    try:
        tree = lint_parse.parse(code.source)
    except lint_parse.NoTree as refused:
        return [Finding(refused.line, str(refused))]
    if tree is None:
        return []
    findings = _imports(tree)
    if isinstance(code, CodedAction):
        helpers = _helpers(code)
        if isinstance(helpers, Finding):
            return [helpers]
        findings += [*_run(tree, code), *_can_start(tree), *lint_calls.check(tree, library.functions, helpers)]
        if constants:
            findings += lint_calls.check_constants(tree, library.primitives, helpers)
    else:
        findings += [*lint_functions.check(tree, code, library), *lint_calls.check(tree, {})]
    return sorted(findings, key=lambda f: f.line or 0)


def _verdict(code: CodedAction | CodedFunction, finding: Finding) -> Verdict:
    return Verdict(kind="lint", action=code.name, message=finding.message[:500], line=finding.line)


def _helpers(action: CodedAction) -> frozenset[str] | Finding:
    """The names that the shared code binds, or a finding if the shared code has a fault."""
    try:
        tree = lint_parse.parse(action.shared)
    except lint_parse.NoTree as refused:
        return Finding(None, f"in the shared code, line {refused.line}: {refused}")
    if tree is None:
        return frozenset()
    if faulty := _imports(tree):
        return Finding(None, f"in the shared code, line {faulty[0].line}: {faulty[0].message}", sure=False)
    return frozenset(lint_calls.bound(tree))


def _run(tree: ast.Module, action: CodedAction) -> list[Finding]:
    run = top_level(tree, "run")
    if run is None:
        return [Finding(None, f"define `def run({_signature(action)}):`, a generator; there is no function `run`")]
    if isinstance(run, ast.AsyncFunctionDef):
        return [Finding(run.lineno, "`run` must be a plain generator: `def`, not `async def`")]
    findings = []
    if not any(isinstance(n, ast.Yield | ast.YieldFrom) for n in lint_calls.own_nodes(run)):
        findings.append(Finding(run.lineno, "`run` is not a generator: it must send primitives by `yield`"))
    takes = run.args
    named = [a.arg for a in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs)]
    positional = [a.arg for a in (*takes.posonlyargs, *takes.args)]
    optional = set(positional[len(positional) - len(takes.defaults) :]) | {
        a.arg for a, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if default is not None
    }
    declared = {p.name for p in action.parameters}
    for name in (p.name for p in action.parameters):
        if name in {a.arg for a in takes.posonlyargs} or (name not in named and takes.kwarg is None):
            findings.append(
                Finding(run.lineno, f"parameter {name!r} is declared, but `run` has no argument of that name")
            )
    for name in named:
        if name not in declared and name != MEMORY:
            what = "never gets a value: declare it, or make it a constant" if name in optional else "is not declared"
            text = f"argument {name!r} of `run` {what}; declared: {sorted(declared)}"
            findings.append(Finding(run.lineno, text, sure=name not in optional))
    return findings


def _signature(action: CodedAction) -> str:
    return ", ".join(f"{p.name}={p.default}" for p in action.parameters)


def _can_start(tree: ast.Module) -> list[Finding]:
    function = top_level(tree, "can_start")
    if function is None:
        return []
    if isinstance(function, ast.AsyncFunctionDef):
        return [Finding(function.lineno, "`can_start(view)` must be a plain function: `def`, not `async def`")]
    findings = []
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in lint_calls.own_nodes(function)):
        findings.append(
            Finding(function.lineno, "`can_start(view)` is a plain function: it receives the view and must not `yield`")
        )
    elif not any(isinstance(n, ast.Return) and n.value is not None for n in lint_calls.own_nodes(function)):
        findings.append(
            Finding(function.lineno, "`can_start(view)` returns nothing, so `run` never starts: `return` a condition")
        )
    takes = function.args
    required = len(takes.posonlyargs) + len(takes.args) - len(takes.defaults)
    given = 1 + any(a.arg == MEMORY for a in takes.args)
    if required > given or not (takes.posonlyargs or takes.args or takes.vararg):
        findings.append(Finding(function.lineno, f"`can_start` takes one argument, the view, and perhaps `{MEMORY}`"))
    return findings


def _imports(tree: ast.Module) -> list[Finding]:
    findings = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        for name in names:
            if name.partition(".")[0] not in IMPORTABLE:
                findings.append(Finding(node.lineno, refusal(name), sure=False))  # type: ignore[attr-defined]
    return findings
