"""Builds the observation of a policy, which is one vector with the values of the RLSetup's observation keys, and
separate images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rlgpt.errors import PluginError, UnknownNameError
from rlgpt.plugin.columns import table_of
from rlgpt.plugin.parts import flattenable, shown
from rlgpt.plugin.pictures import is_image
from rlgpt.plugin.types import ViewKey


class ObservationBuilder:
    """Builds ``obs`` (float32, ``(D,)``) and ``image_KEY`` entries from an observation and a view.

    An observation key is first searched in the base observation. The keys of a base observation from a Dict space are
    the keys of the Dict; any other base observation has the only key ``observation``. If the base observation does not
    have the key, the key is searched among the numbers of the plugin's view. Parts of the base observation are
    flattened as gymnasium flattens them (a Discrete is one-hot).

    :param view_keys: the plugin's view keys. The values of view keys that are marked ``alone`` come from the plugin's
        ``policy_view``, the other values from the plugin's ``view``.
    :param keys: observation keys of the RLSetup, in order.
    :raises UnknownNameError: an observation key is neither in the base observation nor in the view.
    :raises PluginError: a value in the plugin's view does not have the documented size.
    """

    def __init__(self, space: gymnasium.Space[Any], view_keys: Sequence[ViewKey], keys: Sequence[str]) -> None:
        seen = shown(space, view_keys)
        base = {name: part.space for name, part in seen.items()}
        sizes = {k.name: k.size for k in view_keys if k.size > 0}
        self._alone = {k.name for k in view_keys if k.alone}
        self._base: dict[str, gymnasium.Space[Any]] = {}
        self._view: dict[str, int] = {}
        self.images: dict[str, gymnasium.Space[Any]] = {}
        self._order: list[str] = []
        for key in dict.fromkeys(keys):
            if key in base and is_image(base[key]):
                self.images[key] = base[key]
                continue
            self._order.append(key)
            if key in base and flattenable(base[key]):
                self._base[key] = base[key]
            elif key in sizes:
                self._view[key] = sizes[key]
            else:
                hint = "Keys of the view whose size is 0 are for code alone."
                raise UnknownNameError("observation key", key, {*base, *sizes}, hint)
        self._reads = {key: seen[key].read for key in (*self._base, *self.images)}
        widths = [self._width(key) for key in self._order]
        ends = np.cumsum([0, *widths]).tolist()
        kinds = [self._box_type(key) for key in self._order]
        self._places = list(zip(self._order, map(slice, ends[:-1], ends[1:]), kinds, strict=True))
        starts = dict(zip(self._order, ends, strict=False))
        self._single = {key: starts[key] for key, size in self._view.items() if size == 1}
        self._single_of_view = {key: at for key, at in self._single.items() if key not in self._alone}
        self._single_of_policy = {key: at for key, at in self._single.items() if key in self._alone}
        self.names = tuple(f"{k}[{i}]" for k, width in zip(self._order, widths, strict=True) for i in range(width))
        """A name for each number of ``obs``. A warm start matches weights by these names."""
        self.spaces: dict[str, gymnasium.Space[Any]] = {"obs": spaces.Box(-np.inf, np.inf, (sum(widths),), np.float32)}
        self.spaces |= {f"image_{key}": image for key, image in self.images.items()}

    @property
    def needs_view(self) -> bool:
        """Whether :meth:`build` reads the view. A view that the policy's observation does not use need not be built."""
        return bool(self._view.keys() - self._alone)

    @property
    def policy_keys(self) -> tuple[str, ...]:
        """The keys that :meth:`build` reads and that are not in the view, because only a policy observes them."""
        return tuple(key for key in self._view if key in self._alone)

    def build(self, observation: Any, view: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Build the policy's observation, with an entry for each space in :attr:`spaces`.

        :param view: the values of all view keys, including the keys that only a policy observes.
        """
        return self.build_each([observation], [view], [view])[0]

    def build_each(
        self,
        observations: Sequence[Any],
        views: Sequence[Mapping[str, Any]],
        numbers: Sequence[Mapping[str, Any]],
    ) -> list[dict[str, NDArray[Any]]]:
        """The results of :meth:`build` for several environments. The values of one key are read for all environments in
        one operation.

        :param views: the view of each environment; an empty list is valid if :attr:`needs_view` is False.
        :param numbers: for each environment, the values of the keys that only a policy observes; an empty list is valid
            if :attr:`policy_keys` is empty.
        """
        count = len(observations)
        vectors = np.empty((count, len(self.names)), np.float32)
        places = self._places
        if self._fill(vectors, views, numbers):
            places = [place for place in places if place[0] not in self._single]
        for key, place, box in places:
            if key in self._base:
                vectors[:, place] = [self._flat(key, observation, box) for observation in observations]
            else:
                vectors[:, place] = self._seen(key, numbers if key in self._alone else views)
        images = [{f"image_{k}": np.asarray(self._reads[k](o)) for k in self.images} for o in observations]
        return [{"obs": vector} | image for vector, image in zip(vectors, images, strict=True)]

    def _fill(
        self, vectors: NDArray[np.float32], views: Sequence[Mapping[str, Any]], numbers: Sequence[Mapping[str, Any]]
    ) -> bool:
        """Write the values of all view keys of size 1 in one conversion, and return whether every value is a number."""
        try:
            for keys, rows in ((self._single_of_view, views), (self._single_of_policy, numbers)):
                if keys and (table := table_of(rows)) is not None:
                    for key, at in keys.items():
                        vectors[:, at] = table[key]
                elif keys:
                    vectors[:, [*keys.values()]] = [[row[key] for key in keys] for row in rows]
        except (KeyError, TypeError, ValueError):
            return False
        return True

    def _flat(self, key: str, observation: Any, box: np.dtype[Any] | None) -> NDArray[Any]:
        part = self._reads[key](observation)
        return np.asarray(spaces.flatten(self._base[key], part)) if box is None else np.asarray(part, box).reshape(-1)

    def _seen(self, key: str, rows: Sequence[Mapping[str, Any]]) -> NDArray[np.float32]:
        """The numbers of a view key in all environments, ``(environments, size)``."""
        try:
            values = [row[key] for row in rows]
        except KeyError:
            where = "policy_view()" if key in self._alone else "view()"
            raise PluginError(f"{where} of the plugin gives no {key!r}, which view_keys() documents.") from None
        size = self._view[key]
        try:
            found = np.asarray(values, np.float32).reshape(len(rows), -1)
        except ValueError:  # The rows have different sizes.
            found = np.empty((len(rows), 0), np.float32)
        if found.shape[1] != size:
            wrong = next(n for value in values if (n := np.size(np.asarray(value, np.float32))) != size)
            raise PluginError(
                f"view key {key!r} is documented with size {size} and has {wrong} numbers; correct view_keys()."
            )
        return found

    def _box_type(self, key: str) -> np.dtype[Any] | None:
        """The dtype of a part of the base observation that is a Box, else None. If the dtype is known, gymnasium's
        slower ``flatten`` is not called at each step.
        """
        space = self._base.get(key)
        return space.dtype if isinstance(space, spaces.Box) else None

    def _width(self, key: str) -> int:
        return self._view[key] if key in self._view else int(gymnasium.spaces.flatdim(self._base[key]))
