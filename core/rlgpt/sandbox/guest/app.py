"""The main module of the guest, which runs code of a language model in WebAssembly and exchanges JSON texts with the
host.

The host calls the methods of :class:`Calls`, which read texts from the exchange and write their reply there. The
guest's replies are JSON lists of the following forms. ``["ready"]``, ``["loaded", has_can_start, takes_memory]``,
``["ask", many, [[name, args, line], ...]]`` (or as :mod:`floats`, if all arguments are numbers), ``["done"]``,
``["answer", bool, ...]``, ``["value", value]``, ``["memory", packed]``, ``["error", kind, message, line]``. The host
trusts no reply of the guest. The restrictions in the guest program (the list of imports, the missing ``open``) exist
only for their messages, which say what to use instead. The security boundary is WebAssembly, which gives the guest no
access to files, clocks, the network or the memory of the host.
"""

import abc
import bisect
import collections
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import gc
import heapq
import inspect
import itertools
import json
import math
import operator
import random
import re
import statistics
import string
import sys
import types
import typing
from collections.abc import Callable
from types import ModuleType
from typing import Any

import annotationlib  # type: ignore[import-not-found]
import exchange  # type: ignore[import-not-found]
import floats  # type: ignore[import-not-found]
import primitives  # type: ignore[import-not-found]
import vec  # type: ignore[import-not-found]
import wit_world  # type: ignore[import-not-found]
from packing import PackingError, pack, unpack  # type: ignore[import-not-found]
from primitives import SHARED, Request, RequestError, primitive
from surroundings import BUILTINS, audit_hook  # type: ignore[import-not-found]

# Imported above so that they are in the snapshot: at run time there is no file system to import from.
_SNAPSHOT = (abc, annotationlib, bisect, copy, decimal, enum, fractions, inspect, operator, re, string)
_GIVEN: dict[str, ModuleType] = {
    m.__name__: m
    for m in (math, random, itertools, functools, collections, dataclasses, typing, json, heapq, statistics, vec)
}


class State:
    """The state of a WebAssembly instance, which is the library's functions, the loaded actions, and the generator that
    waits for a reply.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Request]] = {}
        self.sources: dict[str, str] = {}
        self.actions: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, str] = {}
        self.memories: dict[str, dict[Any, Any]] = {}
        self.running: tuple[str, types.GeneratorType[Any, Any, Any]] | None = None

    def namespace(self, action: str) -> dict[str, Any]:
        module = types.ModuleType(f"coded_{action}")
        sys.modules[module.__name__] = module
        module.__dict__.update(_GIVEN, **self.functions, __builtins__=BUILTINS)
        return module.__dict__


STATE = State()


# The encoder and the decoder are made once. json.dumps and json.loads would do this work at every call.
_pieces = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, json.JSONEncoder().default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _reply(*parts: Any) -> str | bytes:
    if parts[0] == "ask":
        _, many, requests = parts
        packed: bytes = floats.pack_requests(many, requests, _pieces)
        if packed:
            return packed
        parts = "ask", many, [(request.name, request.args, request.line) for request in requests]
    return "".join(_pieces(parts, 0))


def _read(text: str) -> Any:
    return _scan(text, 0)[0]


def _line(error: BaseException, action: str) -> int | None:
    """The number of the innermost line in the action's own source at which ``error`` was raised or passed on."""
    return _line_in(f"{action}.py", error)


def _line_in(filename: str, error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    line, tb = None, error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == filename:
            line = tb.tb_lineno
        tb = tb.tb_next
    return line


def _takes_memory(function: Any) -> bool:
    """Whether a function of the loaded code has an argument named ``memory``."""
    code = getattr(function, "__code__", None)
    return (
        isinstance(code, types.CodeType) and "memory" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    )


def _error(error: BaseException, action: str, kind: str = "error") -> str | bytes:
    if isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, RequestError | PackingError):
        kind = "type"
    elif isinstance(error, NameError) and f"{error.name}(" in STATE.sources.get(action, ""):
        valid = ", ".join(STATE.functions)
        return _reply(
            "error", "primitive", f"there is no {error.name!r} to call; valid: {valid}"[:500], _line(error, action)
        )
    line = _line_in(SHARED, error)
    text = _text(error) if line is None else f"{_text(error)[:450]} (line {line} of the shared code)"
    return _reply("error", kind, text, _line(error, action))


def _text(error: BaseException) -> str:
    """The message of an error. The method ``__str__`` of an error can fail, because the loaded code may have defined
    it.
    """
    try:
        if isinstance(error, RequestError | PackingError):
            return str(error)[:500]
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        if isinstance(error, KeyError):
            text = f"no key {text}"
        elif isinstance(error, MemoryError):
            text = "the memory is used up"
        return f"{type(error).__name__}: {text}"[:500]
    except BaseException as second:
        return f"{type(error).__name__}, whose text cannot be made: {type(second).__name__}"


def _ask(value: Any) -> str | bytes:
    many = isinstance(value, (list, tuple))
    requests = value if many else [value]
    if many and not value:
        raise RequestError("`yield []`: a list of requests must hold at least one")
    for request in requests:
        if type(request) is not Request:
            names = ", ".join(STATE.functions)
            raise RequestError(
                f"`yield` takes a request or a list of requests ({names}), got {type(request).__name__} {request!r:.80}"
            )
    return _reply("ask", many, requests)


def _value(entry: str, value: Any) -> Any:
    """The return value of a feature, reward term or predicate as plain numbers."""
    if entry == "done":
        return bool(value)
    if entry == "reward":
        return _number("`reward`", value)
    if not isinstance(value, dict):
        raise RequestError(f"`features` must return a dict of numbers, got {type(value).__name__}")
    return {str(name): _number(f"feature {str(name)[:40]!r}", number) for name, number in value.items()}


def _number(what: str, value: Any) -> float:
    if not isinstance(value, (int, float)):
        raise RequestError(f"{what} must be a number, got {type(value).__name__}")
    number = float(value)
    if not math.isfinite(number):
        raise RequestError(f"{what} must be finite, got {number}")
    return number


def _advance(action: str, generator: types.GeneratorType[Any, Any, Any], reply: Any) -> str | bytes:
    """Send ``reply`` to the generator, and run the generator to its next yield, its end or an error.

    :returns: the guest's reply to the host.
    """
    try:
        value = generator.send(reply)
    except StopIteration:
        STATE.running = None
        return _reply("done")
    except BaseException as error:
        STATE.running = None
        return _error(error, action)
    try:
        return _ask(value)
    except BaseException as error:
        line = generator.gi_frame.f_lineno if generator.gi_frame else None
        STATE.running = None
        return _reply("error", "type", _text(error), line)


class WitWorld(wit_world.WitWorld):  # type: ignore[misc]
    def ready(self) -> None:
        """Does nothing. componentize-py needs an export."""

    def prepare_library(self, library: str, seed: str) -> str | bytes:
        """Make the functions of the library, which is given as JSON. Called once, before anything else."""
        random.seed(int(seed))
        STATE.functions = {name: primitive(name, tuple(names)) for name, names in json.loads(library).items()}
        return _reply("ready")

    def load_action(self, action: str, source: str, entry: str, shared: str) -> str | bytes:
        """Run the top level of a source in a namespace of its own, after that of the shared source; it must define the
        function ``entry``.
        """
        try:
            code = compile(source, f"{action}.py", "exec", dont_inherit=True)
            before = compile(shared, SHARED, "exec", dont_inherit=True)
        except MemoryError:
            return _reply("error", "load", "the source is nested too deep", None)
        except BaseException as error:
            return _error(error, action, "load")
        try:
            STATE.sources[action] = source
            primitives.loaded_shared = primitives.loaded_shared or bool(shared)
            namespace = STATE.namespace(action)
            exec(before, namespace)
            for name in (entry, "can_start"):
                if name in namespace:
                    return _reply("error", "load", f"the shared code defines `{name}`: each action has its own", None)
            exec(code, namespace)
            if not callable(namespace.get(entry)):
                return _reply("error", "load", f"the source defines no function `{entry}`", None)
            STATE.actions[action], STATE.entries[action], STATE.memories[action] = namespace, entry, {}
            takes_memory = any(_takes_memory(namespace.get(name)) for name in ("run", "can_start"))
            return _reply("loaded", callable(namespace.get("can_start")), takes_memory)
        except BaseException as error:
            return _error(error, action, "load")

    def start_action(self, action: str, parameters: str, memory: str) -> str | bytes:
        """Call ``run(**parameters)`` and go to its first ``yield``. The memory is given to a ``run`` that takes it."""
        run = STATE.actions[action]["run"]
        arguments = _read(parameters)
        try:
            if memory:
                STATE.memories[action] = unpack(_read(memory))
                if _takes_memory(run):
                    arguments["memory"] = STATE.memories[action]
            generator = run(**arguments)
        except TypeError as error:
            return _error(error, action, "error" if _line(error, action) else "type")
        except BaseException as error:
            return _error(error, action)
        if not isinstance(generator, types.GeneratorType):
            got = type(generator).__name__
            line = getattr(getattr(run, "__code__", None), "co_firstlineno", None)
            message = f"`run` must be a generator: hand over primitives with `yield` (it returned {got})"
            return _reply("error", "type", message, line)
        STATE.running = action, generator
        return _advance(action, generator, None)

    def send_reply(self, reply: Any) -> str | bytes:
        """Send an outcome, a list of outcomes or a view to the ``yield`` that waits."""
        assert STATE.running is not None
        action, generator = STATE.running
        return _advance(action, generator, reply)

    def ask_can_start(self, asked: str, view: Any) -> str | bytes:
        """Call the ``can_start`` of some actions with a view, or with a view and the memory if it takes the memory.

        :param asked: the names of the actions in the first line. After a single name, the memory may follow.
        """
        names, _, memory = asked.partition("\n")
        loaded = STATE.actions
        try:
            if memory and _takes_memory(can_start := loaded[names]["can_start"]):
                return _reply("answer", bool(can_start(view, memory=unpack(_read(memory)))))
            flags = [",true" if loaded[name]["can_start"](view) else ",false" for name in names.split()]
            return f'["answer"{"".join(flags)}]'
        except BaseException as error:
            return _error(error, names)

    def call_function(self, name: str, view: Any) -> str | bytes:
        """Call the entry of a feature, reward or predicate with the view and its memory."""
        entry = STATE.entries[name]
        try:
            return _reply("value", _value(entry, STATE.actions[name][entry](view, STATE.memories[name])))
        except BaseException as error:
            return _error(error, name)

    def cancel_action(self) -> str | bytes:
        """Close the generator that waits, if any."""
        running, STATE.running = STATE.running, None
        if running is not None:
            try:
                running[1].close()
            except BaseException:
                # The program's own clean-up failed after the end of the call, so no reply can report the error.
                return _reply("ready")
        return _reply("ready")

    def read_memory(self, action: str) -> str | bytes:
        """The memory as the last call of ``run`` left it."""
        try:
            return _reply("memory", pack(STATE.memories[action]))
        except BaseException as error:
            return _error(error, action)


WORLD = WitWorld()


class Calls:
    """The functions that the host calls."""

    def seal(self) -> None:
        """Prepare the snapshot with which all instances begin (:mod:`rlgpt.sandbox.snapshot`)."""
        # An import that is not in the snapshot must fail, not trap on the missing file system.
        sys.path.clear()
        sys.meta_path[:] = [f for f in sys.meta_path if "PathFinder" not in repr(f)]
        sys.addaudithook(audit_hook)
        gc.collect()
        gc.freeze()

    def keep_piece(self) -> None:
        exchange.keep_piece()

    def prepare_library(self) -> None:
        exchange.send(WORLD.prepare_library(*exchange.texts(2)))

    def load_action(self) -> None:
        exchange.send(WORLD.load_action(*exchange.texts(4)))

    def start_action(self) -> None:
        exchange.send(WORLD.start_action(*exchange.texts(3)))

    def send_reply(self) -> None:
        exchange.send(WORLD.send_reply(_read(exchange.text())))

    def send_values(self) -> None:
        exchange.send(WORLD.send_reply(exchange.values()[1]))

    def learn_form(self) -> None:
        exchange.learn(lambda form: floats.reader(form, _read))

    def ask_can_start(self) -> None:
        asked, view = exchange.texts(2)
        exchange.send(WORLD.ask_can_start(asked, _read(view)))

    def ask_with_values(self) -> None:
        asked, view = exchange.values()
        exchange.send(WORLD.ask_can_start(asked or str(exchange.kept(), "utf-8"), view))

    def call_function(self) -> None:
        name, view = exchange.texts(2)
        exchange.send(WORLD.call_function(name, _read(view)))

    def call_with_values(self) -> None:
        exchange.send(WORLD.call_function(*exchange.values()))

    def cancel_action(self) -> None:
        exchange.send(WORLD.cancel_action())

    def read_memory(self) -> None:
        exchange.send(WORLD.read_memory(exchange.text()))


CALLS = Calls()
