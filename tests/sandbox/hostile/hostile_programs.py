"""The corpus: hostile programs as data, one file for each kind, each program with its expected verdict.

Fields of a program:

``verdict``
    A kind of :class:`rlgpt.domain.Verdict`. Or ``returned``, for a program that does nothing forbidden and has no
    effect. ``says``
    A part of the verdict's message, which shows what stopped the program, because an ``error`` can have any cause. Only
    the kinds of :data:`SPEAKS_FOR_ITSELF` need no message. ``@NAME@`` in the message is replaced as in ``source``.
``source``
    The program. ``@NAME@`` in the program is replaced by the part of the host that it attacks (:class:`Targets`).
``generate``
    Instead of a source: ``[head, opening, middle, closing, n]``, openings and closings repeated n times.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"

APP = "__builtins__['__import__'].__globals__['sys'].modules['app'].__dict__"
SYS = "__builtins__['__import__'].__globals__['sys']"
BENIGN = "\ndef run():\n    yield use()\n"

SPEAKS_FOR_ITSELF = {"fuel", "memory", "yields", "returned", "episode"}
"""Kinds of endings that need no message, because one limit was exceeded or nothing stopped the program."""

KINDS: dict[str, tuple[str, ...]] = {
    "imports": ("imports/*",),
    "eval and compile": ("eval_and_compile/eval", "eval_and_compile/compile", "eval_and_compile/exec*"),
    "made-up code and objects": (
        "eval_and_compile/bytecode_*",
        "eval_and_compile/marshal",
        "eval_and_compile/a_tree_nobody_wrote",
        "eval_and_compile/an_object_made_of_bytes",
        "eval_and_compile/all_the_memory_searched",
    ),
    "file reads": ("files/read", "files/the_real_open", "files/without_the_hook", "files/list"),
    "file writes": ("files/write", "files/posix", "files/delete", "files/rename", "files/a_descriptor_*"),
    "keys, processes, sockets, clocks": (
        "environment/environ",
        "environment/system",
        "environment/kill_the_host",
        "environment/a_socket_module",
        "environment/entropy",
        "environment/a_sleep",
    ),
    "sub-class walks": ("subclass_walks/*",),
    "str.format": ("format/str_format", "format/format_map", "format/formatter"),
    "f-strings": ("format/f_string", "format/f_string_that_acts", "format/a_format_of_its_own", "format/t_string"),
    "frames of generators": ("frames/generator_frame", "frames/the_adapters_generator"),
    "frames of async code": ("frames/async_generator", "frames/coroutine", "frames/async_run"),
    "frames of tracebacks": ("frames/up_to_the_caller", "frames/traceback_of_a_request"),
    "AttributeError.obj": ("attributes/attribute_error_obj", "attributes/of_a_request", "attributes/of_a_name"),
    "match patterns": (
        "attributes/match_class_pattern",
        "attributes/match_attribute_pattern",
        "attributes/match_args",
        "attributes/match_that_never_ends",
    ),
    "annotations": (
        "attributes/annotation_that_runs",
        "attributes/annotation_as_text",
        "attributes/annotate_function",
        "attributes/forward_reference",
    ),
    "metaclasses": ("classes/metaclass", "classes/prepare", "exits/error_with_a_name_that_lies"),
    "decorators": ("classes/decorator", "classes/decorated_run"),
    "closures": ("classes/closure_cell", "classes/closure_with_another_name"),
    "module chains": ("module_chains/*",),
    "monkeypatching the adapter": ("adapter/encoder", "adapter/exports_gone", "adapter/state_of_another_action"),
    "forged replies": ("forged_replies/success", "forged_replies/reward", "forged_replies/primitive"),
    "deep replies": ("forged_replies/deep_lists", "forged_replies/deep_objects"),
    "huge replies": ("forged_replies/ten_megabytes", "forged_replies/just_too_long", "floods/a_long_argument"),
    "replies that are no number": (
        "forged_replies/not_a_number",
        "forged_replies/infinity",
        "forged_replies/beyond_every_float",
    ),
    "floats as bytes": ("floats/torn", "floats/a_length_that_lies", "floats/not_a_number", "floats/views_changed_*"),
    "replies on no list": ("forged_replies/not_on_the_list", "forged_replies/choice_that_is_a_list"),
    "shared state": ("shared_state/constants", "shared_state/builtins", "shared_state/keep_between_calls"),
    "memories": ("shared_state/a_memory_*", "shared_state/a_forged_memory"),
    "random state": ("shared_state/seed", "shared_state/random_replaced", "shared_state/random_state"),
    "SystemExit": ("exits/system_exit", "exits/quit", "exits/exit_at_load"),
    "KeyboardInterrupt and its like": ("exits/keyboard_interrupt", "exits/generator_exit"),
    "swallowed timeouts": ("exits/a_timeout_swallowed", "exits/memory_errors_swallowed"),
    "generators that ignore close": (
        "exits/ignores_close",
        "exits/clean_up_without_end",
        "exits/clean_up_that_asks",
        "exits/clean_up_that_is_met_by_the_episodes_end",
    ),
    "endless loops": ("endless/while_true", "endless/at_load", "endless/in_can_start", "endless/between_two_yields"),
    "loops in C": ("endless/sum_in_c", "endless/deque_in_c", "endless/membership_in_c"),
    "big integers": ("big_numbers/*",),
    "regular expressions": ("patterns/*",),
    "doubling strings": ("memory/doubling_text", "memory/doubling_text_without_a_trap", "memory/doubling_bytes"),
    "recursion": ("nesting/recursion", "nesting/recursion_swallowed", "nesting/yield_from_itself"),
    "deep nesting": ("nesting/deep_*", "nesting/parentheses", "nesting/signs", "nesting/brackets"),
    "print floods": ("floods/print", "floods/stdout"),
    "views asked for without end": ("floods/observe", "floods/observe_in_chunks"),
    "slow turns and clean-ups": ("slow/a_slow_*", "slow/a_clean_up_*", "slow/a_finaliser_*"),
    "the memory that crosses": ("exchange/*",),
    "attacks on other actions": (
        "neighbours/loading_*",
        "neighbours/answers_*",
        "neighbours/turns_*",
        "neighbours/code_*",
        "neighbours/no_*",
        "neighbours/modules_*",
        "neighbours/rubbish_*",
    ),
}
"""The required content of the corpus: kind of attack -> its programs (``*``: at least one)."""


@dataclass(frozen=True)
class Targets:
    """The targets of attacks: a file with a secret, the path of a file that no program may create, a port, an
    environment variable, and a process.
    """

    canary: Path
    new: Path
    port: int
    key: str
    pid: int

    @property
    def _pattern(self) -> str:
        """Return a regular expression that matches the secret and not the text of the expression."""
        secret = self.canary.read_text()
        return f"{secret[:-1]}[{secret[-1]}]"

    def aim(self, source: str) -> str:
        """Return ``source`` with each ``@NAME@`` replaced. Every program can access the guest's own program."""
        marks = {
            "CANARY": self.canary,
            "NEW": self.new,
            "PORT": self.port,
            "KEY": self.key,
            "PID": self.pid,
            "APP": APP,
            "SYS": SYS,
            "SECRET": self._pattern,
        }
        for mark, value in marks.items():
            source = source.replace(f"@{mark}@", str(value))
        return source


@dataclass(frozen=True)
class Program:
    """One hostile program and its expected ending."""

    name: str
    source: str
    verdict: str
    says: str = ""


def programs(folder: Path = FOLDER) -> list[Program]:
    """Return all programs, named ``file/name``.

    :raises ValueError: a program that is stopped has no ``says``.
    """
    found = []
    for path in sorted(folder.glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text()).items():
            verdict, says = entry["verdict"], entry.get("says", "")
            if not says and verdict not in SPEAKS_FOR_ITSELF:
                raise ValueError(f"{path.name}: [{name}] ends in {verdict!r}; add words of its message: says = ...")
            source = entry.get("source") or _generated(*entry["generate"])
            found.append(Program(f"{path.stem}/{name}", source, verdict, says))
    return found


def _generated(head: str, opening: str, middle: str, closing: str, n: int) -> str:
    return head + opening * n + middle + closing * n + BENIGN
