"""Converts observations of any gymnasium space to a view for code, which has JSON-like values with documented names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.domain import Plain
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin.actions import names
from rlgpt.plugin.colours import COLOURS, ColourView, rows_of
from rlgpt.plugin.parts import LONG, MAX_VIEW_NUMBERS, Part, parts, shown
from rlgpt.plugin.pictures import MOST, as_bytes, frame, is_colour, is_stack, rgb, shapes
from rlgpt.plugin.types import Context, ViewKey

MOST_TEXT = 1_000
"""Maximal number of characters of a text in a view."""

_BOUNDLESS = "no bounds"

Read = Callable[[Any], Plain]


@dataclass(frozen=True)
class _OfContext:
    """A value of the view that needs more than the newest observation."""

    read: Callable[[Context], Plain]

    def __call__(self, whole: Any) -> Plain:
        raise TypeError("it is read from the context")


class ObservationCodec:
    """Makes the views for one observation space of an environment.

    ========================  ======================================================================================
    space                     keys
    ========================  ======================================================================================
    Box, MultiDiscrete,       ``NAME``, a number or a list of numbers; if labels are given, one key for each number
    MultiBinary
    bytes, three axes         ``NAME_grid``, the numbers of a small array, as nested lists; ``NAME`` is an image for
                              a policy's encoder
    picture in grey           ``NAME_shapes``, regions that differ from the background (:mod:`rlgpt.plugin.pictures`),
                              only for code; if a picture is a stack of frames, ``NAME_shapes`` describes the newest
                              frame and ``NAME_shapes_before`` the previous frame
    picture in colour         ``NAME_shapes``, ``NAME_moving``, ``NAME_map``, regions of one colour that did not move in
                              the last step, regions that moved, and a coarse map (:mod:`rlgpt.plugin.colours`); only
                              for code
    very long array           ``NAME``, ``{"shape", "mean", "low", "high"}``, only for code; if several arrays together
                              exceed the sandbox's limit for a view, the largest of them count as very long
    Discrete                  ``NAME``, the number, for code; ``NAME_onehot`` for a policy (only up to 512 values)
    Text                      ``NAME``, the text, cut to 1,000 characters, only for code
    Dict, Tuple               the keys of the parts, with names joined by underscores
    ========================  ======================================================================================

    In the names of keys, ``NAME`` is the name of a part in a Dict or Tuple, and ``observation`` for any other
    observation space. Other observation spaces (Graph, Sequence, OneOf) have no key in the view. If no key of the view
    has numbers for a policy, the view has a key ``time`` with the share of the horizon that has passed.

    :param labels: for a one-dimensional Box, a list of names, or a dict from the name of each number to its meaning
        with its unit (or to an empty text). For a Dict or Tuple, ``labels`` is a dict from the name of a part to its
        meaning, or to a dict from the names of the part's numbers to their meanings. The keys of these numbers are
        ``PART_NAME``.
    :ivar alone: names (as in :func:`rlgpt.plugin.parts.shown`) of pictures and long arrays. No key of the view has
        their numbers, so a policy gets them from the observation.
    :raises ConfigError: the labels do not fit the space.
    """

    def __init__(
        self,
        space: spaces.Space[Any],
        labels: Sequence[str] | Mapping[str, str | Mapping[str, str]] | None = None,
    ) -> None:
        self._made_of = (space, labels)
        self.alone: tuple[str, ...] = ()
        self._keys: list[ViewKey] = []
        self._reads: list[Read] = []
        if labels is not None and not isinstance(space, spaces.Dict | spaces.Tuple):
            self._named(space, labels)
        else:
            leaves = _documented(parts(space), labels) if labels is not None else list(_all(parts(space)))
            distinct = names([key.name for key, _ in leaves])
            self._keys = [replace(key, name=name) for (key, _), name in zip(leaves, distinct, strict=True)]
            self._reads = [read for _, read in leaves]
            self.alone = tuple(name for name, part in shown(space, self._keys).items() if part.alone)
        self._values: dict[str, Callable[[Context], Plain]] = {
            key.name: _observed(read) for key, read in zip(self._keys, self._reads, strict=True)
        }
        if not self.alone and not any(k.size for k in self._keys):
            self._keys.append(ViewKey("time", "share of the horizon that is gone, 0 to 1", size=1))
            self._values["time"] = _time

    def __reduce__(self) -> tuple[Any, ...]:
        return ObservationCodec, self._made_of

    @property
    def keys(self) -> tuple[ViewKey, ...]:
        return tuple(self._keys)

    def view(self, ctx: Context) -> dict[str, Plain]:
        """The value of each key in :attr:`keys` in the state ``ctx``. In the view, NaN becomes 0, infinity becomes
        1e30, and minus infinity becomes -1e30.
        """
        return {name: read(ctx) for name, read in self._values.items()}

    def value(self, ctx: Context, key: str) -> Plain:
        """The value of one key. No other key is computed."""
        return self._values[key](ctx)

    def _named(self, space: spaces.Space[Any], labels: Sequence[str] | Mapping[str, Any]) -> None:
        if not isinstance(space, spaces.Box) or len(space.shape) != 1:
            keys = ", ".join(key.name for key in ObservationCodec(space).keys)
            raise ConfigError(
                f"names of observations are for the numbers of a one-dimensional Box, or for the parts of a Dict; this "
                f"observation is {space!s:.200}, and code sees it as {keys:.300}. Leave the names out; what the parts "
                "mean goes into docs."
            )
        for i, (key, name) in enumerate(
            zip(_numbered(space, labels, "the observation"), names(list(labels)), strict=True)
        ):
            self._keys.append(replace(key, name=name))
            self._reads.append(_nth(i))


def _all(every: Sequence[Part]) -> Iterator[tuple[ViewKey, Read]]:
    for part in every:
        yield from _leaves(part)


def _documented(every: Sequence[Part], labels: Sequence[str] | Mapping[str, Any]) -> list[tuple[ViewKey, Read]]:
    """The view keys of all parts of a Dict or Tuple, with the names and meanings that ``labels`` gives."""
    known = {str(part.path[0]): part.name for part in every if len(part.path) == 1} | {p.name: p.name for p in every}
    meanings: dict[str, Any] = {}
    given = labels if isinstance(labels, Mapping) else dict.fromkeys(labels, "")
    for name, meaning in given.items():
        if name not in known:
            hint = "Give part -> meaning, or part -> names of its numbers: {'achieved_goal': ['x', 'y', 'z']}."
            raise UnknownNameError("part of the observation", name, known, hint)
        meanings[known[name]] = meaning
    found: list[tuple[ViewKey, Read]] = []
    for part in every:
        meaning = meanings.get(part.name, "")
        if isinstance(meaning, str):
            found += [(replace(k, doc=f"{meaning}; {k.doc}" if meaning else k.doc), read) for k, read in _leaves(part)]
            continue
        if not isinstance(part.space, spaces.Box) or len(part.space.shape) != 1:
            raise ConfigError(
                f"observations[{part.name!r}] names numbers, and this part is {part.space!s:.120}: only the numbers of "
                "a one-dimensional Box have names. Give its meaning as a text."
            )
        for i, (key, name) in enumerate(
            zip(_numbered(part.space, meaning, part.name), names(list(meaning)), strict=True)
        ):
            found.append((replace(key, name=f"{part.name}_{name}"[:40]), _part_nth(part.read, i)))
    return found


def _numbered(space: spaces.Box, labels: Sequence[str] | Mapping[str, str], where: str) -> Iterator[ViewKey]:
    """The view keys of a one-dimensional Box, one for each number. The name of a key is the label of its number."""
    size = space.shape[0]
    if len(labels) != size or len(set(labels)) != size:
        of = "" if where == "the observation" else f" for {where!r}"
        raise ConfigError(f"{space} needs {size} different observation labels{of}, got {len(labels)}: {list(labels)}")
    meanings = labels if isinstance(labels, Mapping) and any(labels.values()) else {}
    for i, label in enumerate(labels):
        span = _span(space.low[i], space.high[i])
        doc = f"{meanings.get(label) or label}, {span}" if span != _BOUNDLESS or not meanings else meanings[label]
        yield ViewKey(label, doc, size=1)


def _observed(read: Read) -> Callable[[Context], Plain]:
    if isinstance(read, _OfContext):
        return read.read
    return lambda ctx: read(ctx.observation)


def _time(ctx: Context) -> float:
    return min(1.0, ctx.step / ctx.task.horizon)


def _nth(index: int) -> Read:
    return lambda whole: _numbers(np.asarray(whole)[index])


def _part_nth(read: Callable[[Any], Any], index: int) -> Read:
    return lambda whole: _numbers(np.asarray(read(whole))[index])


def _leaves(part: Part) -> Iterator[tuple[ViewKey, Read]]:
    space, name, get = part.space, part.name, part.read
    if isinstance(space, spaces.Discrete):
        yield from _discrete(space, name, get)
    elif part.kind == "text":
        yield ViewKey(name, "text"), lambda whole: str(get(whole))[:MOST_TEXT]
    elif part.kind == "picture":
        yield from _colours(space, name, get) if is_colour(space) else _picture(space, name, get)
    elif isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        size = int(np.prod(space.shape))
        if part.kind == "cells":
            key = ViewKey(f"{name[:35]}_grid", _doc(space), size=size, shape=tuple(space.shape))
            yield key, lambda whole: _numbers(get(whole))
        elif part.kind == "long":
            yield (
                ViewKey(name, f"array of shape {list(space.shape)}: its shape, mean, low and high"),
                lambda whole: _sum_up(get(whole)),
            )
        else:
            yield ViewKey(name, _doc(space), size=size, shape=tuple(space.shape)), lambda whole: _numbers(get(whole))


def _picture(space: spaces.Space[Any], name: str, get: Callable[[Any], Any]) -> Iterator[tuple[ViewKey, Read]]:
    height, width = frame(np.zeros(space.shape or (), np.uint8)).shape
    which = "its newest frame" if is_stack(space) else "it"
    doc = (
        f"[x, y, width, height, brightness] of each region of {which} that stands out from the background, the largest "
        f"first, at most {MOST}; (x, y) is its centre, in pixels from the top left of {width} x {height}, y downwards; "
        "brightness is 0 to 255"
    )
    turn = as_bytes(space)

    def pixels(whole: Any) -> Any:
        return turn(get(whole))

    yield ViewKey(f"{name[:26]}_shapes", doc), _shapes(pixels, 0)
    if is_stack(space):
        doc = "the same of the frame before the newest: what moved, and how far"
        yield ViewKey(f"{name[:26]}_shapes_before", doc), _shapes(pixels, 1)


def _colours(space: spaces.Space[Any], name: str, get: Callable[[Any], Any]) -> Iterator[tuple[ViewKey, Read]]:
    height, width = frame(np.zeros(space.shape or (), np.uint8)).shape
    rows, columns = rows_of(height, width)
    turn = as_bytes(space)

    def frame_of(back: int) -> Callable[[Any], Any]:
        return lambda whole: rgb(turn(get(whole)), back)

    view = ColourView(name, frame_of(0), frame_of(1) if is_stack(space) else None)
    doc = (
        f"[x, y, width, height, colour] of each region of one colour that stands still, the largest first, at most "
        f"{MOST}, without the background; (x, y) is its centre, in pixels from the top left of {width} x {height}, y "
        "downwards"
    )
    yield ViewKey(f"{name[:26]}_shapes", doc), _OfContext(view.still)
    doc = (
        "[x, y, width, height, colour, dx, dy] of each region that moved in the last primitive step, by dx, dy pixels "
        "(0, 0: it is new); empty at an episode's start"
    )
    yield ViewKey(f"{name[:26]}_moving", doc), _OfContext(view.moving)
    letters = ", ".join(f"{letter} {colour}" for letter, colour in COLOURS.items())
    doc = f"{rows} rows of {columns} letters: the most common colour of each cell of the picture ({letters})"
    yield ViewKey(f"{name[:26]}_map", doc), _OfContext(view.map)


def _shapes(get: Callable[[Any], Any], back: int) -> Read:
    return lambda whole: [list[Plain](shape) for shape in shapes(frame(get(whole), back))]


def _discrete(space: spaces.Discrete, name: str, get: Callable[[Any], Any]) -> Iterator[tuple[ViewKey, Read]]:
    start, n = int(space.start), int(space.n)
    many = n > MAX_VIEW_NUMBERS
    doc = f"one of {n} states, {start} to {start + n - 1}"
    yield ViewKey(name, doc, size=int(many)), lambda whole: int(get(whole))
    if not many:
        yield (
            ViewKey(f"{name[:33]}_onehot", f"1 at the place of {name}, else 0", size=n),
            lambda whole: [int(i + start == int(get(whole))) for i in range(n)],
        )


def _doc(space: spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary) -> str:
    if isinstance(space, spaces.MultiBinary):
        return f"{int(np.prod(space.shape))} numbers, each 0 or 1"
    if isinstance(space, spaces.MultiDiscrete):
        span = _span(np.min(space.start), np.max(space.start + space.nvec - 1))
    else:
        span = _span(np.min(space.low), np.max(space.high))
    what = "a number" if space.shape == () else f"{int(np.prod(space.shape))} numbers"
    shape = f" of shape {list(space.shape)}" if len(space.shape) > 1 else ""
    return f"{what}{shape}, {span}"


def _span(low: Any, high: Any) -> str:
    return f"{low + 0.0:g} to {high + 0.0:g}" if low > -1e6 and high < 1e6 else _BOUNDLESS


def _numbers(value: Any) -> Plain:
    array = np.asarray(value)
    if array.dtype.kind != "f":
        whole: Plain = array.tolist()
        return whole
    finite: Plain = np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30).tolist()
    return _short(finite) if array.size > LONG else finite


def _short(plain: Plain) -> Plain:
    return [_short(p) for p in plain] if isinstance(plain, list) else float(f"{plain:.5g}")


def _sum_up(value: Any) -> Plain:
    finite = np.nan_to_num(np.asarray(value, np.float64), nan=0.0, posinf=1e30, neginf=-1e30)
    low, mean, high = float(finite.min()), float(finite.mean()), float(finite.max())
    return {"shape": list(finite.shape), "mean": mean, "low": low, "high": high}
