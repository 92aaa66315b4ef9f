"""Makes the model card of a bundle, which is a page in Markdown, from the bundle's record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlgpt.domain import Bundle, CodedAction
from rlgpt.terminal import visible

_LONG = 500


def card(bundle: Bundle) -> str:
    """Return the model card of ``bundle``, with the YAML header that the Hugging Face hub reads. Text from language
    models is escaped in the model card, so that it cannot act as markup.
    """
    return "\n".join(_lines(bundle)) + "\n"


def _lines(bundle: Bundle) -> Iterator[str]:
    tested = bundle.tested_on
    task = tested.task if tested else "an environment"
    yield from ("---", "library_name: rlgpt", "tags: [rlgpt, reinforcement-learning, options]", "---", "")
    yield from (f"# Coded actions for {_text(task)}", "")
    yield (
        "A bundle of rlgpt: programs that become extra actions of a "
        "reinforcement-learning policy. They run in a sandbox."
    )
    yield from (
        "",
        "```python",
        'env = rlgpt.extend(gymnasium.make(ENV_ID), actions="FOLDER_OF_THIS_BUNDLE")',
        "```",
        "",
    )
    if tested is not None:
        yield from ("## Result", "", "| | |", "|---|---|", f"| task | `{tested.task}` |")
        if tested.success_rate is not None:
            yield f"| success | {tested.success_rate:.2f} in {tested.episodes} fresh episodes |"
        if tested.score is not None:
            yield f"| mean score | {tested.score:.4g} in {tested.episodes} fresh episodes |"
        yield f"| primitive steps of the run | {tested.primitive_steps:,} |"
        if tested.model:
            yield f"| written by | {_text(tested.model)} |"
        yield from (f"| {_text(name)} | {_text(version)} |" for name, version in tested.versions.items())
        yield ""
    yield from ("## Actions", "", "| action | parameters | what it does |", "|---|---|---|")
    yield from (f"| `{a.name}` | {_parameters(a)} | {_text(a.doc)} |" for a in bundle.actions)
    if bundle.functions:
        yield from ("", "## Functions", "", "| function | kind | what it does |", "|---|---|---|")
        yield from (f"| `{f.name}` | {f.type} | {_text(f.doc)} |" for f in bundle.functions)
    if bundle.plan is not None:
        yield from ("", "## Plan", "")
        yield from (f"1. `{s.name}` ({s.kind}): {_text(s.description)}" for s in bundle.plan.sub_actions)


def _parameters(action: CodedAction) -> str:
    shown = (f"`{p.name}` {p.low:g} to {p.high:g}{f' {_text(p.unit)}' if p.unit else ''}" for p in action.parameters)
    return ", ".join(shown) or "none"


def _text(text: str) -> str:
    """Return untrusted text as one line in which nothing is Markdown or HTML."""
    line = " ".join(visible(text).split())
    line = line if len(line) <= _LONG else f"{line[:_LONG]}…"
    return re.sub(
        r"([\\`*_{}\[\]()#+!|~:@$-])", r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )
