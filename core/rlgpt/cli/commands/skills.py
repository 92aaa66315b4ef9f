"""The command ``rlgpt skills`` lists, shows, tests and removes skills of a skill library."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rlgpt.config.skills import library_at, retest_in_plugin
from rlgpt.errors import ConfigError, RlgptError
from rlgpt.plugin import PluginManager
from rlgpt.plugin.origin import installed
from rlgpt.skills import Skill, SkillId, SkillLibrary, SkillTest
from rlgpt.skills.record import Result
from rlgpt.terminal import say


def main(arguments: argparse.Namespace) -> int:
    """Run one of the subcommands of ``rlgpt skills``.

    :returns: 1 if a tested skill fails or cannot be tested, else 0.
    """
    library = library_at(arguments.folder)
    if arguments.action == "list":
        return _list(library, arguments.json)
    if arguments.action == "show":
        return _show(_skill(library, arguments.skill), arguments.json)
    if arguments.action == "remove":
        name, version = _parse(arguments.skill)
        gone = library.remove(name, version)
        say(f"removed {', '.join(map(str, gone)) or name} from {library.folder}")
        return 0
    if arguments.episodes < 1:
        raise ConfigError(f"--episodes {arguments.episodes}: the number must be at least 1.")
    return _test(library, arguments)


def _list(library: SkillLibrary, as_json: bool) -> int:
    found = [skill for name in library.names() if (skill := next(library.skills(name), None)) is not None]
    if as_json:
        _print([_plain(skill) for skill in found if isinstance(skill, Skill)])
        return 0
    if not found:
        say(f"{library.folder} contains no skill yet. A run with skills={library.folder} adds a skill if it succeeds.")
    for skill in found:
        if isinstance(skill, Skill):
            say(f"{skill.id}  {_result(skill.record)}  {skill.record.goal}")
            if why := _standing(skill):
                say(f"  not offered: {why}")
        else:
            say(f"rlgpt: a skill is left out of the list: {skill}", sys.stderr)
    return 0


def _show(skill: Skill, as_json: bool) -> int:
    if as_json:
        _print(_plain(skill))
    else:
        say("\n".join(_lines(skill)))
    return 0


def _lines(skill: Skill) -> Iterator[str]:
    record = skill.record
    yield f"{skill.id}  {record.goal}"
    yield f"  {_result(record)}, in {record.task}" + "".join(f", {k}={v}" for k, v in record.settings.items())
    acts = "code, in this order" if record.mode == "code" else f"a policy ({record.mode})"
    judge = f"the predicate {record.predicate}" if record.predicate else "the task's own rule"
    yield f"  acts by {acts}; judged by {judge}"
    yield (
        f"  made {record.created} with {record.plugin} {record.version_of_plugin}"
        + (f" by {record.model}" if record.model else "")
        + f", {record.spent_steps:,} primitive steps, {record.spent_tokens:,} tokens"
    )
    if record.made_from:
        yield f"  made from {', '.join(map(str, record.made_from))}"
    needs = [p.name for p in record.needs.primitives] + [k.name for k in record.needs.view]
    yield f"  needs {', '.join(needs) or 'nothing'}"
    for event in skill.events:
        if isinstance(event, SkillTest):
            yield f"  tested {event.time} with {event.plugin} {event.version_of_plugin}: " + (
                f"fails: {event.failure}" if event.failure else _result(event)
            )
        else:
            yield f"  served {event.task} {event.time}" + (f", which made {event.made}" if event.made else "")
    if why := _standing(skill):
        yield f"  not offered: {why}"
    for action in skill.bundle.actions:
        parameters = ", ".join(f"{p.name} {p.low:g}..{p.high:g}" for p in action.parameters)
        yield from ("", f"{action.name}({parameters}): {' '.join(action.doc.split())}")
        yield from (f"    {line}" for line in f"{action.shared}{action.source}".strip().splitlines())
    for function in skill.bundle.functions:
        yield from ("", f"{function.name}, {function.type}: {' '.join(function.doc.split())}")
        yield from (f"    {line}" for line in function.source.strip().splitlines())


def _test(library: SkillLibrary, arguments: argparse.Namespace) -> int:
    manager, failed = PluginManager(), False
    rows: list[dict[str, Any]] = []
    for name in arguments.skills or library.names():
        try:
            skill = _skill(library, name)
            done = retest_in_plugin(skill, manager, episodes=arguments.episodes, trust=arguments.trust)
            library.note(skill.id, done)
        except RlgptError as fault:
            if name in arguments.skills and not arguments.json:
                raise
            rows.append({"skill": name, "passed": None, "failure": str(fault)})
            failed = True
            say(f"rlgpt: {name} cannot be tested: {fault}", sys.stderr)
            continue
        failed = failed or bool(done.failure)
        rows.append({"skill": str(skill.id), "passed": not done.failure, "failure": done.failure, **_figures(done)})
        if not arguments.json:
            with_ = f"with {done.plugin} {done.version_of_plugin}"
            say(f"{skill.id}  " + (f"fails {with_}: {done.failure}" if done.failure else f"{_result(done)} {with_}"))
    if arguments.json:
        _print(rows)
    return int(failed)


def _skill(library: SkillLibrary, given: str) -> Skill:
    name, version = _parse(given)
    if version is None:
        return library.newest(name)
    library.versions(name)
    return library.load(SkillId(name=name, version=version))


def _parse(given: str) -> tuple[str, int | None]:
    name, slash, version = given.partition("/")
    if slash and not re.fullmatch(r"[1-9][0-9]{0,4}", version):
        raise ConfigError(f"{given!r}: write NAME, or NAME/VERSION with a number.")
    return name, int(version) if slash else None


def _standing(skill: Skill) -> str:
    here = installed(skill.record.plugin)
    if here is None:
        return f"{skill.record.plugin or 'its plugin'} is not installed"
    return skill.standing(*here)


def _result(result: Result) -> str:
    parts = [f"success {result.success}"] if result.success is not None else []
    parts += [f"score {result.mean_score}"] if result.mean_score is not None else []
    return f"{', '.join(parts)} in {len(result.starts)} episodes of {result.steps:,.0f} steps"


def _figures(result: Result) -> dict[str, Any]:
    return {
        "success": None if result.success is None else result.success.model_dump(),
        "score": None if result.mean_score is None else result.mean_score.model_dump(),
        "episodes": len(result.starts),
        "steps": result.steps,
    }


def _plain(skill: Skill) -> dict[str, Any]:
    record = skill.record.model_dump(mode="json", exclude={"id", "starts", "seal", "score", "schema_version"})
    return {
        "name": skill.id.name,
        "version": skill.id.version,
        **record,
        **_figures(skill.record),
        "offered": not _standing(skill),
        "why_not": _standing(skill),
        "seeds": [start.seed for start in skill.record.starts],
        "events": [event.model_dump(mode="json", exclude={"starts"}) for event in skill.events],
        "actions": [action.model_dump(mode="json") for action in skill.bundle.actions],
        "functions": [function.model_dump(mode="json") for function in skill.bundle.functions],
    }


def _print(value: Sequence[Any] | dict[str, Any]) -> None:
    print(json.dumps(value, indent=1))
