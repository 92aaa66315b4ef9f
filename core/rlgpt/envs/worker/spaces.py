"""Describes spaces of gym, gymnasium and MineDojo as JSON."""

from __future__ import annotations

import base64
from typing import Any, Dict  # noqa: UP035 (evaluated at runtime by Python 3.8)

import numpy as np

Described = Dict[str, Any]  # noqa: UP006


class Unusable(ValueError):
    """The error of a space, a value or a message that cannot be sent to the other process."""


def describe(space: Any) -> Described:
    """Describe a space as JSON. The class name identifies the kind of space, because several packages define their own
    classes of spaces.

    :raises Unusable: spaces of this class cannot be sent.
    """
    names = {kind.__name__ for kind in type(space).__mro__}
    if "Dict" in names:
        return {"kind": "dict", "parts": [[text_key(k), describe(s)] for k, s in space.spaces.items()]}
    if "Tuple" in names:
        return {"kind": "tuple", "parts": [describe(s) for s in space.spaces]}
    if "Sequence" in names:
        return {"kind": "sequence", "of": describe(space.feature_space), "stack": bool(space.stack)}
    if "Discrete" in names and "Enum" not in names:
        start = int(getattr(space, "start", getattr(space, "begin", 0)))
        return {"kind": "discrete", "n": int(space.n), "start": start, **_numbers(space)}
    if "MultiDiscrete" in names:
        starts = getattr(space, "start", np.zeros_like(space.nvec))
        return {"kind": "multi_discrete", "nvec": space.nvec.tolist(), "start": starts.tolist(), **_numbers(space)}
    if "MultiBinary" in names:
        return {"kind": "multi_binary", "n": np.array(space.n).tolist(), **_numbers(space)}
    if "Box" in names:
        return {"kind": "box", "low": _bound(space.low), "high": _bound(space.high), **_numbers(space)}
    if "Text" in names and hasattr(space, "max_length"):
        characters = "".join(sorted(space.character_set))
        return {"kind": "text", "low": space.min_length, "high": space.max_length, "characters": characters}
    if names & {"Text", "TextArray"} and space.shape is not None:
        return {"kind": "text_array", "shape": [int(n) for n in space.shape]}
    raise Unusable(
        f"a space of class {type(space).__module__}.{type(space).__name__} cannot be sent. Valid: Dict, Tuple, "
        "Sequence of numbers, Discrete, MultiDiscrete, MultiBinary, Box, Text, arrays of text. Wrap the environment "
        "in its factory."
    )


def text_key(key: Any) -> str:
    """Check that a key of a dict is text, and return the key.

    :raises Unusable: the key is not text.
    """
    if not isinstance(key, str):
        raise Unusable(f"the key {key!r} of a dict is not text and cannot be sent")
    return key


def encoded(array: Any) -> str:
    """The bytes of an array (little endian) as base64 text."""
    return base64.b64encode(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()).decode()


def _numbers(space: Any) -> Described:
    dtype = np.dtype(space.dtype)
    if dtype.kind not in "biuf":
        raise Unusable(f"a {type(space).__name__} space of dtype {dtype} cannot be sent")
    return {"dtype": dtype.newbyteorder("<").str, "shape": [int(n) for n in space.shape or ()]}


def _bound(values: Any) -> str:
    """The bounds of a Box space as base64 text. If all bounds of the Box are equal, the text has only one number."""
    flat = np.ravel(values)
    same = flat.size > 0 and bool((flat == flat[0]).all())
    return encoded(flat[:1] if same else flat)
