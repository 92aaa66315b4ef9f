"""The entry point of the command line, which parses the arguments, calls a command, and converts an error to a message
and an exit status.
"""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rlgpt.errors import ConfigError, RlgptError, UnknownNameError
from rlgpt.terminal import say

INTERRUPTED = 130

DESCRIPTION = """A language model writes options, PPO learns with them, in any gymnasium environment.

  rlgpt tasks                                       the tasks of the installed plugins
  rlgpt train task=PLUGIN/TASK                      one run; replays a recording that the plugin ships
  rlgpt train task=PLUGIN/TASK llm.model=openai/gpt-5   asks this language model
  rlgpt design ENV_ID --goal TEXT llm.model=MODEL   one run in any gymnasium environment
  rlgpt train -m 'task=PLUGIN/A,PLUGIN/B' 'seed=range(5)'   a sweep"""


class Parser(argparse.ArgumentParser):
    """An argument parser that suggests the right command if a user misspells a name."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            unknown = UnknownNameError("command", str(value), map(str, action.choices))
            raise argparse.ArgumentError(None, str(unknown))

    def flags(self) -> frozenset[str]:
        """The names of the long flags, without hyphens."""
        return frozenset(text[2:] for action in self._actions for text in action.option_strings if text[:2] == "--")

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def _runs(p: argparse.ArgumentParser) -> None:
    """Add the arguments that the commands ``train`` and ``design`` share."""
    p.add_argument(
        "overrides",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="settings, such as seed=1, trainer=ppo or llm.model=openai/gpt-5",
    )
    p.add_argument("-m", "--multirun", action="store_true", help="one run for each combination of the given values")
    p.add_argument(
        "-j",
        "--jobs",
        type=int,
        metavar="N",
        help="number of runs at the same time, each in its own process (with -m, or in a study)",
    )
    p.add_argument("--cfg", action="store_true", help="print the configuration that the run would use, and exit")


def _resume(p: argparse.ArgumentParser) -> None:
    p.add_argument("run", metavar="RUN", help="a run's folder")
    p.add_argument(
        "overrides",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="changed settings, such as a larger llm.budget.dollars",
    )


def _evaluate(p: argparse.ArgumentParser) -> None:
    p.add_argument("run", metavar="RUN", help="a run's folder")
    p.add_argument(
        "overrides",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="changed settings of the task (task_settings.NAME=VALUE), or the executor (executor=processes)",
    )
    p.add_argument("--episodes", type=int, default=50, help="number of episodes in each mode (default: 50)")
    p.add_argument("--seed", type=int, default=None, help="the first seed (default: seeds that the run never used)")
    p.add_argument("--video", action="store_true", help="also write a video of the first episode")


def _report(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folders, or folders with run folders, such as that of a sweep; the page compares these runs",
    )
    p.add_argument(
        "--out",
        default=None,
        help="path of the page (default: in the first folder, report.html if one RUN is given, else comparison.html)",
    )


def _view(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "folders", nargs="*", metavar="FOLDER", help="run folders, or folders with run folders (default: runs)"
    )
    p.add_argument(
        "--port", type=int, default=None, help="port of the page on this machine (default: 8765, or a free port)"
    )
    p.add_argument("--open", action="store_true", help="open the page in the browser")


def _tasks(p: argparse.ArgumentParser) -> None:
    p.add_argument("pattern", nargs="?", default="*", help="a pattern of task names, such as 'PLUGIN/*'")
    p.add_argument("--json", action="store_true", help="print the tasks as JSON, for programs")


def _design(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "env",
        metavar="ENV_ID",
        help="the environment's registered id in gymnasium; MODULE:ENV_ID imports a module first (with PYTHONPATH=., a "
        "module in this folder)",
    )
    p.add_argument("--goal", required=True, help="the goal of the task, as one sentence")
    p.add_argument(
        "--docs",
        default=None,
        metavar="FILE",
        help="a file with expert knowledge about the environment (default: its docstring)",
    )
    form = (
        "separated by commas, or a JSON file with a list or with a meaning for each name (default: see docs/design.md)"
    )
    p.add_argument("--labels", default=None, metavar="NAMES", help=f"names of the action's parts, {form}")
    p.add_argument("--observations", default=None, metavar="NAMES", help=f"names of the observation's numbers, {form}")
    p.add_argument("--idle", default=None, metavar="ACTION", help="the action that does nothing, as a label or as JSON")
    p.add_argument(
        "--success",
        default=None,
        metavar="RULE",
        help="the return that counts as success, or a rule such as 'is_success at the end' or 'terminated and not "
        "crashed' (default: the success that the environment reports; if it reports none, the return is the score)",
    )
    p.add_argument(
        "--score", default=None, metavar="KEY", help="the word return, or a key of info; --score=-KEY if less is better"
    )
    p.add_argument("--metrics", default=None, metavar="KEYS", help="keys of info to record, separated by commas")
    p.add_argument(
        "--trial",
        type=int,
        default=3,
        metavar="N",
        help="number of random episodes that test the rules before the run (default: 3)",
    )
    p.add_argument(
        "--horizon",
        type=int,
        default=None,
        metavar="STEPS",
        help="maximal number of steps of an episode (default: the environment's own limit)",
    )
    p.add_argument("--folder", default=None, help="folder of the run; a run in this folder is resumed")
    _runs(p)


def _bundle(p: argparse.ArgumentParser) -> None:
    actions = p.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("show", "print the content of a bundle"),
        ("check", "check a bundle, and lint its sources"),
        ("pack", "write a bundle and its model card as a zip archive"),
        ("push", "upload a bundle to the Hugging Face hub"),
    ):
        action = actions.add_parser(name, help=summary, description=summary)
        action.add_argument("bundle", metavar="BUNDLE", help="a bundle's folder, a run's folder, or an archive")
        if name == "pack":
            action.add_argument("out", metavar="FILE.zip")
        elif name == "push":
            action.add_argument("repository", metavar="USER/NAME")
            action.add_argument("--public", action="store_true", help="make a new repository public")
    pulling = actions.add_parser("pull", help="download a bundle from the hub and check it")
    pulling.add_argument("repository", metavar="USER/NAME")
    pulling.add_argument("out", metavar="FOLDER", help="a new folder")
    pulling.add_argument("--revision", default=None, help="a branch, a tag or a commit (default: the newest)")


def _skills(p: argparse.ArgumentParser) -> None:
    actions = p.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("list", "list the skills of a library with their results; the list says which skills runs offer"),
        ("show", "print a skill with its purpose, its tests and its code"),
        ("test", "play skills again in the installed plugins, on their recorded starts"),
        ("remove", "delete a skill, or one version of it"),
    ):
        action = actions.add_parser(name, help=summary, description=summary)
        action.add_argument("folder", metavar="FOLDER", help="the folder of the library, as in skills=FOLDER")
        if name == "test":
            action.add_argument(
                "skills",
                nargs="*",
                metavar="NAME[/VERSION]",
                help="the skills to test (default: the newest version of each skill)",
            )
            action.add_argument(
                "--episodes", type=int, default=10, metavar="N", help="number of episodes for each skill (default: 10)"
            )
            action.add_argument(
                "--trust",
                action="store_true",
                help="approve the settings and modules of skills that somebody else made",
            )
        elif name != "list":
            of = "all versions" if name == "remove" else "the newest version"
            action.add_argument("skill", metavar="NAME[/VERSION]", help=f"the skill; without VERSION, {of}")
        if name != "remove":
            action.add_argument("--json", action="store_true", help="print the result as JSON, for programs")


def _experiments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "name",
        nargs="?",
        default=None,
        metavar="NAME",
        help="the experiment to show, with its results so far (default: list all experiments)",
    )


def _doctor(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="print the checks as JSON, for programs")


def _new_plugin(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "name",
        metavar="NAME",
        help="name of the plugin in lower case letters, digits and underscores; its task ids begin with it",
    )
    p.add_argument(
        "--folder", default=".", help="the folder in which the plugin's folder is made (default: this folder)"
    )


COMMANDS = {
    "train": ("run both loops on a task", _runs),
    "resume": ("continue a run that was stopped or killed", _resume),
    "evaluate": ("play a run's best policy on fresh seeds", _evaluate),
    "design": ("run both loops on an environment without a plugin", _design),
    "report": ("write report.html for one run or several", _report),
    "view": ("show runs on the live page", _view),
    "bundle": ("show, check, pack, push or pull a bundle of coded actions", _bundle),
    "skills": ("list, show, test or remove skills of a library", _skills),
    "tasks": ("list the tasks of the installed plugins", _tasks),
    "experiments": (
        "list the experiments that end in a table, with their recordings, costs and results so far",
        _experiments,
    ),
    "doctor": ("check this installation", _doctor),
    "new-plugin": ("make the folder of a new plugin", _new_plugin),
}


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="rlgpt", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="store_true", help="print the version")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for name, (summary, add) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        add(command)
        command.set_defaults(flags=command.flags())
    return top


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse arguments. Overrides may come before and after flags on the command line (``train task=x -m seed=1,2``)."""
    top = parser()
    arguments, rest = top.parse_known_args(argv)
    if rest and (not hasattr(arguments, "overrides") or any(r.startswith("-") for r in rest)):
        wrong = next((r for r in rest if r.startswith("-")), rest[0])
        top.exit(
            2,
            f"rlgpt: {arguments.command or ''} has no argument {wrong!r}. See "
            f"rlgpt {arguments.command or ''} --help.\n",
        )
    if rest:
        arguments.overrides = [*arguments.overrides, *rest]
    return arguments


def refuse_flags(arguments: argparse.Namespace) -> None:
    """Check that no override has the name of a flag. The folder of a run is both a flag and a setting.

    :raises ConfigError: an override has the name of a flag of its command.
    """
    for text in getattr(arguments, "overrides", ()):
        key, equals, value = text.partition("=")
        if equals and key in arguments.flags - {"folder"}:
            given = "" if isinstance(getattr(arguments, key), bool) else f" {shlex.quote(value)}"
            raise ConfigError(f"{text!r}: {key} is a flag of rlgpt {arguments.command}. Write --{key}{given}.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. The message of an error that a user can cause is printed to stderr.

    :returns: the exit status: 0 without an error, 1 after a failure during the run, 2 for invalid input, 3 if a budget
        is spent or a recording has ended, and 130 after an interrupt by the user.
    """
    arguments = parse(sys.argv[1:] if argv is None else argv)
    if arguments.version:
        from importlib.metadata import version

        print(version("rlgpt"))
        return 0
    if arguments.command is None:
        parser().print_help()
        return 0
    command = importlib.import_module(f"rlgpt.cli.commands.{arguments.command.replace('-', '_')}")
    try:
        refuse_flags(arguments)
        return int(command.main(arguments))
    except RlgptError as error:
        say(f"rlgpt: {error}", sys.stderr)
        return error.exit_status
    except KeyboardInterrupt as interrupt:
        say(f"rlgpt: {str(interrupt) or 'interrupted.'}", sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
