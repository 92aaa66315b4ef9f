"""Converts Python data to bytes and back without pickle. A saved state of an environment consists of bytes that this
module makes.

The bytes are JSON text. Containers, arrays, numpy numbers, large integers, bytes, random generators and objects of
listed classes are written with a tag that names their type. The function ``unpack`` creates objects of listed classes
without their ``__init__`` and runs no other code. References to the same object are preserved, including cyclic
references.
"""

from __future__ import annotations

import base64
import enum
import json
import random
from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from rlgpt.errors import StateError
from rlgpt.files import parse_json

MAX_STATE_BYTES = 16 << 20
"""Maximal size of a saved state, in bytes."""
_KINDS = "biufcSU"
"""Kinds of numpy types that are accepted: bool, numbers and text. Arrays of objects would need pickle."""
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_LITERAL_INT = 1 << 53

Classes = Collection[type]


def pack(value: Any, classes: Classes = (), *, advice: str = "") -> bytes:
    """Convert ``value`` to bytes.

    :param classes: classes of the objects that the converted value may contain. The attributes (``__dict__``) of
        objects of these classes are saved.
    :param advice: the end of the message about an object whose class ``classes`` could contain: what to do. The text
        ``{name}`` in the advice stands for the name of this class.
    :raises StateError: ``value`` contains an object of another class, or the result is larger than
        :data:`MAX_STATE_BYTES`.
    """
    packed = json.dumps(_Writer(classes, advice).write(value, "the state"), separators=(",", ":")).encode()
    return bounded(packed)


def unpack(data: bytes, classes: Classes = (), *, seed: int | None = None, stream: int = 0) -> Any:
    """Convert bytes that :func:`pack` returned back to the value.

    :param seed: a new seed for the random generators. With None, the random generators continue from their saved
        states.
    :param stream: a number that distinguishes several states with the same new seed, so that their random generators
        differ.
    :raises StateError: the bytes were not made by :func:`pack`, or contain a class that is not in ``classes``.
    """
    try:
        return _Reader(classes, seed, stream).read(parse_json(bounded(data).decode()))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError) as fault:
        raise StateError(f"these bytes are not a saved state: {type(fault).__name__}: {str(fault)[:200]}.") from fault


def bounded(data: bytes) -> bytes:
    """Return the bytes ``data`` unchanged if they are within the size limit.

    :raises StateError: ``data`` is not a bytes object, or is larger than :data:`MAX_STATE_BYTES`.
    """
    if not isinstance(data, bytes) or len(data) > MAX_STATE_BYTES:
        size = f"{len(data):,} bytes" if isinstance(data, bytes) else f"a {type(data).__name__}"
        raise StateError(f"a saved state is at most {MAX_STATE_BYTES:,} bytes; this one is {size}.")
    return data


def record(data: bytes, names: Collection[str], *, seed: int | None = None) -> dict[str, Any]:
    """Convert bytes that :func:`pack` returned back to a mapping that has exactly the keys ``names``.

    :param seed: as for :func:`unpack`.
    :raises StateError: the bytes do not contain such a mapping.
    """
    values = unpack(data, seed=seed)
    if not isinstance(values, dict) or values.keys() != set(names):
        raise StateError(f"these bytes are not a saved state of this environment: it has {', '.join(sorted(names))}.")
    return values


def numbers(value: Any, size: int, what: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Check that ``value`` consists of ``size`` finite numbers, and return these numbers as a flat array.

    :param what: a name of the checked value for the error message.
    :raises StateError: ``value`` does not consist of ``size`` finite numbers.
    """
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (size,):
        if np.isfinite(value).all():
            return value
        raise StateError(f"the saved state's {what} are not finite.")
    raise StateError(f"the saved state's {what} are not {size} numbers: it is of another environment or version.")


def whole(value: Any, low: int, high: int, what: str) -> int:
    """Check that ``value`` is an integer in [``low``, ``high``], and return the integer.

    :param what: a name of the checked value for the error message.
    :raises StateError: ``value`` is not such an integer.
    """
    if type(value) is int and low <= value <= high:
        return value
    raise StateError(f"the saved state's {what} is {value!r:.80}; valid: an integer from {low} to {high}.")


class _Writer:
    def __init__(self, classes: Classes, advice: str) -> None:
        self._classes, self._advice = frozenset(classes), advice
        self._seen: dict[int, tuple[int, Any]] = {}

    def write(self, value: Any, where: str) -> Any:
        if value is None or type(value) in (bool, str, float):
            return value
        if type(value) is int:
            return value if abs(value) < _LITERAL_INT else {"int": hex(value)}
        if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
            return {"scalar": _text(np.asarray(value).tobytes()), "type": value.dtype.str}
        if type(value) is bytes:
            return {"bytes": _text(value)}
        if type(value) is tuple or type(value) is frozenset:
            return {type(value).__name__: [self.write(part, where) for part in value]}
        if isinstance(value, enum.Enum) and type(value) in self._classes:
            return {"enum": value.name, "class": _name(type(value))}
        if id(value) in self._seen:
            return {"same": self._seen[id(value)][0]}
        number = len(self._seen)
        # The object is kept alive, because Python may reuse the ``id`` of a dead object.
        self._seen[id(value)] = (number, value)
        return {**self._mutable(value, where), "n": number}

    def _mutable(self, value: Any, where: str) -> dict[str, Any]:
        kind = type(value)
        if kind in (list, set):
            return {kind.__name__: [self.write(part, f"{where}[{i}]") for i, part in enumerate(value)]}
        if kind is deque:
            return {"deque": [self.write(part, where) for part in value], "most": value.maxlen}
        if kind is dict:
            return {"dict": self._pairs(value, where)}
        if kind is np.ndarray and value.dtype.kind in _KINDS:
            return {"array": _text(value.tobytes()), "type": value.dtype.str, "shape": list(value.shape)}
        if kind is np.random.Generator and type(value.bit_generator).__name__ in _GENERATORS:
            name = type(value.bit_generator).__name__
            return {"generator": name, "state": self.write(dict(value.bit_generator.state), where)}
        if kind is np.random.RandomState:
            return {"random_state": self.write(value.get_state(legacy=False), where)}
        if kind is random.Random:
            return {"random": self.write(value.getstate(), where)}
        if kind in self._classes and hasattr(value, "__dict__"):
            return {"object": _name(kind), "state": self._pairs(value.__dict__, f"{where} ({kind.__name__})")}
        advice = self._advice.format(name=kind.__name__) if hasattr(value, "__dict__") else ""
        raise StateError(f"{where} is a {_name(kind)}, which cannot be saved. {advice}".rstrip())

    def _pairs(self, value: Mapping[Any, Any], where: str) -> list[Any]:
        return [[self.write(k, where), self.write(v, f"{where}.{k}"[:300])] for k, v in value.items()]


class _Reader:
    def __init__(self, classes: Classes, seed: int | None, stream: int) -> None:
        self._classes = {_name(kind): kind for kind in classes}
        self._seed, self._stream, self._made = seed, stream, dict[int, Any]()

    def read(self, node: Any) -> Any:
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict):
            raise ValueError(f"{node!r:.80} has no tag")
        if "same" in node:
            return self._made[node["same"]]
        if "int" in node:
            return int(node["int"], 16)
        if "bytes" in node:
            return _bytes(node["bytes"])
        if "scalar" in node:
            return np.frombuffer(_bytes(node["scalar"]), _type(node["type"]))[0]
        if "enum" in node:
            return self._class(node["class"])[node["enum"]]  # type: ignore[index]
        for kind in (tuple, frozenset):
            if kind.__name__ in node:
                return kind(self._parts(node[kind.__name__]))
        return self._mutable(node, int(node["n"]))

    def _mutable(self, node: dict[str, Any], number: int) -> Any:
        """Read a container. A container is registered before its items are read, because the items may refer to the
        container.
        """
        made: Any
        if "list" in node:
            made = self._made[number] = []
            made.extend(self._parts(node["list"]))
        elif "set" in node:
            made = self._made[number] = set()
            made.update(self._parts(node["set"]))
        elif "deque" in node:
            made = self._made[number] = deque(maxlen=node["most"])
            made.extend(self._parts(node["deque"]))
        elif "dict" in node:
            made = self._made[number] = {}
            made.update(self._pairs(node["dict"]))
        elif "object" in node:
            kind = self._class(node["object"])
            made = self._made[number] = object.__new__(kind)
            made.__dict__.update(self._pairs(node["state"]))
        elif "array" in node:
            flat = np.frombuffer(_bytes(node["array"]), _type(node["type"]))
            made = self._made[number] = flat.reshape(node["shape"]).copy()
        else:
            made = self._made[number] = self._random(node, number)
        return made

    def _random(self, node: dict[str, Any], number: int) -> Any:
        sequence = None if self._seed is None else np.random.SeedSequence([self._seed, number, self._stream])
        if "generator" in node:
            if node["generator"] not in _GENERATORS:
                raise ValueError(f"unknown generator {node['generator']!r:.80}")
            bits = getattr(np.random, node["generator"])(sequence)
            if sequence is None:
                bits.state = self.read(node["state"])
            return np.random.Generator(bits)
        if "random_state" in node:
            if sequence is not None:
                return np.random.RandomState(np.random.MT19937(sequence))
            legacy = np.random.RandomState()
            legacy.set_state(self.read(node["random_state"]))
            return legacy
        plain = random.Random()
        if sequence is not None:
            plain.seed(int(sequence.generate_state(1)[0]))
        else:
            plain.setstate(self.read(node["random"]))
        return plain

    def _parts(self, nodes: Any) -> list[Any]:
        if not isinstance(nodes, list):
            raise ValueError(f"{nodes!r:.80} is not a list")
        return [self.read(node) for node in nodes]

    def _pairs(self, nodes: Any) -> dict[Any, Any]:
        return {self.read(key): self.read(value) for key, value in nodes}

    def _class(self, name: Any) -> type:
        if name not in self._classes:
            raise ValueError(f"the class {name!r:.80} is none of {sorted(self._classes)}")
        return self._classes[name]


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _type(name: Any) -> np.dtype[Any]:
    kind = np.dtype(str(name))
    if kind.kind not in _KINDS or kind.itemsize == 0:
        raise ValueError(f"{name!r:.80} is not a type of numbers or text")
    return kind


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: Any) -> bytes:
    return base64.b64decode(text, validate=True)
