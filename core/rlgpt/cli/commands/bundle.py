"""The command ``rlgpt bundle`` shows, checks and packs bundles, and exchanges bundles with the Hugging Face hub."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from rlgpt.domain import Bundle
from rlgpt.errors import RlgptError
from rlgpt.options.sharing import pack, pull, push, read_bundle
from rlgpt.terminal import say


def main(arguments: argparse.Namespace) -> int:
    """Run one of the subcommands of ``rlgpt bundle``.

    :returns: 1 if ``rlgpt bundle check`` finds a fault in a source, else 0.
    """
    if arguments.action == "pull":
        bundle = pull(arguments.repository, Path(arguments.out), revision=arguments.revision)
        say(f"{arguments.out}: {len(bundle.actions)} actions, checked; rlgpt bundle check {arguments.out} lints them")
        return 0
    bundle = read_bundle(Path(arguments.bundle))
    if arguments.action == "show":
        say("\n".join(_shown(bundle)))
    elif arguments.action == "check":
        return _check(bundle)
    elif arguments.action == "pack":
        say(pack(bundle, Path(arguments.out)))
    else:
        say(push(bundle, arguments.repository, private=not arguments.public))
    return 0


def _shown(bundle: Bundle) -> Iterator[str]:
    tested = bundle.tested_on
    if tested is not None:
        results = [f"success {tested.success_rate:.2f}"] if tested.success_rate is not None else []
        results += [f"score {tested.score:.4g}"] if tested.score is not None else []
        yield f"{tested.task}: {', '.join(results) or 'not evaluated'} in {tested.episodes} episodes"
        yield f"  {tested.primitive_steps:,} primitive steps{f', written by {tested.model}' if tested.model else ''}"
    for action in bundle.actions:
        parameters = ", ".join(f"{p.name} {p.low:g}..{p.high:g}" for p in action.parameters)
        lines = len(action.source.splitlines())
        yield f"{action.name}({parameters})  {lines} lines: {' '.join(action.doc.split())[:200]}"
    for function in bundle.functions:
        yield f"{function.name}  {function.type}: {' '.join(function.doc.split())[:200]}"
    for node in () if bundle.graph is None else bundle.graph.graph.in_order:
        needs = f" (needs {', '.join(node.needs)})" if node.needs else ""
        yield f"{node.name}  sub-goal{needs}: {' '.join(node.goal.split())[:200]}"


def _check(bundle: Bundle) -> int:
    """Lint each source of the bundle. Lint needs the primitives of the bundle's task; if the task has no plugin, or its
    plugin is not installed, the sources are not linted.
    """
    from rlgpt.plugin import PluginManager
    from rlgpt.plugin.library import library_of
    from rlgpt.sandbox import Library, faults

    library, where = Library(primitives=(), view=()), ""
    if bundle.world is not None:
        say(
            "not linted: design() made this bundle for an environment without a plugin. In Python, rlgpt.extend(env, "
            "actions=BUNDLE) lints it for an environment.",
            sys.stderr,
        )
    elif bundle.tested_on is not None:
        try:
            plugin, task = PluginManager().task(bundle.tested_on.task)
            library, where = library_of(plugin, task), f" against {task.id}"
        except RlgptError as missing:
            say(f"not linted: {str(missing)[:200]}", sys.stderr)
    predicates = [] if bundle.graph is None else [node.predicate for node in bundle.graph.graph.nodes]
    sources = (*bundle.actions, *bundle.functions, *predicates)
    found = [v for code in sources for v in (faults(code, library) if where else ())]
    for verdict in found:
        say(f"{verdict.action}, line {verdict.line}: {verdict.message}")
    parts = [f"{len(bundle.actions)} actions", f"{len(bundle.functions)} functions"]
    parts += [f"{len(predicates)} sub-goals"] if predicates else []
    bad = "a bundle whose code has faults" if found else "a valid bundle"
    say(f"{bad}: {', '.join(parts)}{where}, {f'{len(found)} faults' if where else 'not linted'}")
    return int(bool(found))
