"""Divides an observation space into parts. Code gets the parts of an observation as numbers in the view; a policy gets
the parts unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from rlgpt.plugin.actions import FreeNames, slug
from rlgpt.plugin.pictures import as_image, is_colour, is_image, is_picture
from rlgpt.plugin.types import ViewKey
from rlgpt.sandbox.limits import DEFAULT

LONG = 64
"""Length above which the numbers of a vector are rounded to five significant digits."""

MAX_VIEW_NUMBERS = 512
"""Maximal length of an array whose numbers are in the view. The view contains only a summary of a longer array; a
policy gets all its numbers.
"""

MOST_NUMBERS = 16_384
"""Maximal number of elements of an array that a policy sees."""

ROOT = "observation"
"""The name of an observation that is not a Dict."""

Kind = Literal["numbers", "long", "cells", "picture", "discrete", "text", "unreadable"]


@dataclass(frozen=True)
class Part:
    """A space within an observation space. A part is neither a Dict nor a Tuple.

    :ivar path: the keys and indices that lead from the observation to the part.
    :ivar name: the name of the part, which consists of the keys and indices of ``path``, joined by underscores.
    :ivar read: a function that returns the value of the part in an observation.
    :ivar kind: the kind of the part. ``cells`` is a small image whose numbers are in the view, and ``long`` is an array
        of which the view contains only a summary.
    """

    path: tuple[Any, ...]
    name: str
    space: spaces.Space[Any]
    read: Callable[[Any], Any]
    kind: Kind


@dataclass(frozen=True)
class Shown:
    """A part of the observation that a policy may observe.

    :ivar read: a function that returns the value of the part in an observation; the value is an element of ``space``.
    :ivar alone: True if no key of the view contains the numbers of this part, so that a policy gets them only from the
        part itself.
    """

    space: spaces.Space[Any]
    read: Callable[[Any], Any]
    alone: bool


def parts(space: spaces.Space[Any]) -> list[Part]:
    """All parts of ``space``, in order. If the numbers of all arrays together exceed the sandbox's limit for a view,
    the largest arrays are marked ``long``.
    """
    every = _every(space)
    sizes = [_bytes(part) for part in every]
    total = sum(sizes)
    arrays = [i for i, part in enumerate(every) if part.kind == "numbers" and part.space.shape]
    for i in sorted(arrays, key=lambda i: -sizes[i]):
        if total <= DEFAULT.view_bytes:
            break
        every[i] = replace(every[i], kind="long")
        total += _bytes(every[i]) - sizes[i]
    return every


def shown(space: spaces.Space[Any], keys: Iterable[ViewKey] = ()) -> dict[str, Shown]:
    """The parts of the observation that a policy may observe, as a dict from name to part.

    The parts of a Dict have its keys as names; any other observation space has the name ``observation``. If a part is
    itself a Dict or Tuple that contains pictures or long arrays, these pictures and arrays replace the part, each named
    by its path. The other inner parts are in the view. Pictures are converted to images for an encoder of the policy.

    :param keys: keys of the view. If the view key of an array has no numbers, only a policy can use the array.
    """
    summed = {key.name for key in keys if not key.size}
    every = [replace(p, kind="long") if p.kind == "numbers" and p.name in summed else p for p in _every(space)]
    found: dict[str, Shown] = {}
    if not isinstance(space, spaces.Dict):
        _show_all(found, FreeNames(found), ROOT, space, _whole, every)
        return found
    inner: dict[Any, list[Part]] = {key: [] for key in space.spaces}
    for part in every:
        inner[part.path[0]].append(part)
    free = FreeNames(space.spaces, found)
    for key, sub in space.spaces.items():
        _show_all(found, free, key, sub, _at(_whole, key), inner[key])
    return found


def flattenable(space: spaces.Space[Any]) -> bool:
    """Whether gymnasium can convert the values of a space to numbers. A space from another package that does not say
    whether it can be converted (the space of MiniGrid's missions) counts as not convertible.
    """
    try:
        return bool(space.is_np_flattenable)
    except NotImplementedError:
        return False


def unusable(space: spaces.Space[Any]) -> list[str]:
    """An error message for each part of the observation that neither code nor a policy can use. The message also states
    what to do.
    """
    faults = []
    every = parts(space)
    for part in every:
        where = "the observation" if part.name == ROOT else f"the observation's part {part.name!r}"
        size = int(np.prod(part.space.shape or ()))
        if part.kind == "unreadable":
            faults.append(
                f"{where} is {_short(part.space)}, which neither code nor a policy can read. Valid: Box, Discrete, "
                "MultiDiscrete, MultiBinary, Text, and Dict and Tuple of these. Turn it into numbers with "
                "gymnasium.wrappers.TransformObservation; a Dict's part can be left out with FilterObservation."
            )
        elif part.kind == "long" and size > MOST_NUMBERS:
            faults.append(
                f"{where} is an array of shape {list(part.space.shape or ())} with {size} numbers; the maximum for a "
                f"policy is {MOST_NUMBERS}. If it is a picture, use bytes (uint8, height x width x channels) or finite "
                "bounds; else make it smaller with gymnasium.wrappers.TransformObservation."
            )
    if not faults and all(part.kind == "text" or _size(part) == 0 for part in every):
        faults.append(
            f"{_short(space)} contains nothing that a policy can observe. Add numbers to the observation with "
            "gymnasium.wrappers.TransformObservation."
        )
    return faults


def _every(space: spaces.Space[Any]) -> list[Part]:
    """All parts of the observation space ``space``, each with a unique name. For example, a part ``b`` within ``a`` and
    an outermost part ``a_b`` must not both have the name ``a_b``. The outermost parts keep their keys as names, because
    a policy observes them under these names.
    """
    outer = {slug(f"_{key}") for key in space.spaces} if isinstance(space, spaces.Dict) else set()
    given: set[str] = set()
    outermost, inner = FreeNames(given), FreeNames(given, outer)
    every = []
    for part in _walk(space, (), "", _whole):
        name = (outermost if len(part.path) == 1 else inner).next(part.name)
        given.add(name)
        every.append(replace(part, name=name))
    return every


def _whole(observation: Any) -> Any:
    return observation


def _at(read: Callable[[Any], Any], key: Any) -> Callable[[Any], Any]:
    return lambda observation: read(observation)[key]


def _walk(space: spaces.Space[Any], path: tuple[Any, ...], name: str, read: Callable[[Any], Any]) -> Iterator[Part]:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        inner = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        root = ROOT if isinstance(space, spaces.Tuple) and not name else name
        for key, sub in inner:
            yield from _walk(sub, (*path, key), slug(f"{root}_{key}"), _at(read, key))
        return
    yield Part(path, name or ROOT, space, read, _kind(space))


def _kind(space: spaces.Space[Any]) -> Kind:
    if isinstance(space, spaces.Discrete):
        return "discrete"
    if is_picture(space):
        return "picture"
    if is_image(space):
        return "cells"
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return "long" if int(np.prod(space.shape)) > MAX_VIEW_NUMBERS else "numbers"
    text = isinstance(space, spaces.Text) or (space.dtype is not None and np.dtype(space.dtype).kind == "U")
    return "text" if text else "unreadable"


def _show_all(
    found: dict[str, Shown],
    free: FreeNames,
    key: str,
    space: spaces.Space[Any],
    read: Callable[[Any], Any],
    inner: list[Part],
) -> None:
    """Add the part ``space`` to the dict ``found`` under the name ``key``. If the part is a Dict or Tuple that contains
    pictures or long arrays, only these are added instead.

    :param inner: the inner parts of the part.
    """
    alone = [part for part in inner if part.kind in ("picture", "long")]
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        found[key] = _show(inner[0])
    elif not alone:
        found[key] = Shown(space, read, False)
    else:
        for part in alone:
            found[free.next(part.name)] = _show(part)


def _show(part: Part) -> Shown:
    if part.kind != "picture":
        return Shown(part.space, part.read, part.kind == "long")
    space, turn = as_image(part.space)
    return Shown(space, lambda observation: turn(part.read(observation)), True)


def _size(part: Part) -> int:
    return int(part.space.n) if isinstance(part.space, spaces.Discrete) else int(np.prod(part.space.shape or ()))


def _bytes(part: Part) -> int:
    """Approximate maximal number of bytes of the part in the JSON text of a view, including commas and brackets."""
    space, size = part.space, _size(part)
    if part.kind == "discrete":
        return 3 * size if size <= MAX_VIEW_NUMBERS else 20
    if part.kind not in ("numbers", "cells"):
        return 150 if part.kind != "picture" else 2_500 if is_colour(space) else 1_500
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        each = 13 if size > LONG else 24
    elif isinstance(space, spaces.Box):
        each = 2 + max((len(str(int(end))) for ends in (space.low, space.high) for end in ends.reshape(-1)), default=0)
    else:
        each = 3 if isinstance(space, spaces.MultiBinary) else 8
    return len(part.name) + 6 + each * size


def _short(space: spaces.Space[Any]) -> str:
    text = " ".join(str(space).split())
    return text if len(text) <= 120 else f"{text[:117]}..."
