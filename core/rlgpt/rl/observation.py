"""Builds the observation of a policy: one vector with the values of the RLSetup's observation keys, and
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
from rlgpt.plugin.parts import shown
from rlgpt.plugin.pictures import is_image
from rlgpt.plugin.types import ViewKey


class ObservationBuilder:
    """Builds ``obs`` (float32, ``(D,)``) and ``image_KEY`` entries from an observation and a view.

    A key is searched first in the base observation, whose keys are those of a Dict, or just ``observation`` for other
    spaces. Then it is searched among the numbers of the plugin's view. Parts of the base observation are flattened as
    gymnasium flattens them (a Discrete is one-hot).

    :param view_keys: the plugin's view keys. Keys marked ``alone`` come from the plugin's ``policy_view``, the others
        from its ``view``.
    :param keys: observation keys of the RLSetup, in order.
    :raises UnknownNameError: a key is neither in the base observation nor in the view.
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
            if key in base and base[key].is_np_flattenable:
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
        self.names = tuple(f"{k}[{i}]" for k, width in zip(self._order, widths, strict=True) for i in range(width))
        """A name for each number of ``obs``. A warm start matches weights by them."""
        self.spaces: dict[str, gymnasium.Space[Any]] = {"obs": spaces.Box(-np.inf, np.inf, (sum(widths),), np.float32)}
        self.spaces |= {f"image_{key}": image for key, image in self.images.items()}

    @property
    def needs_view(self) -> bool:
        """Whether :meth:`build` reads the view (building one may be slow)."""
        return bool(self._view.keys() - self._alone)

    @property
    def policy_keys(self) -> tuple[str, ...]:
        """The keys that :meth:`build` reads and only a policy can see."""
        return tuple(key for key in self._view if key in self._alone)

    def build(self, observation: Any, view: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """The observation: one entry for each space in :attr:`spaces`.

        :param view: the values of all view keys, those for a policy alone included.
        """
        vector = np.empty(len(self.names), np.float32)
        for key, place, box in self._places:
            if box is not None:
                vector[place] = np.asarray(self._reads[key](observation), box).reshape(-1)
            elif key in self._base:
                vector[place] = np.asarray(spaces.flatten(self._base[key], self._reads[key](observation)))
            else:
                vector[place] = self._seen(key, view)
        return {"obs": vector} | {f"image_{key}": np.asarray(self._reads[key](observation)) for key in self.images}

    def _seen(self, key: str, view: Mapping[str, Any]) -> NDArray[np.float32]:
        if key not in view:
            where = "policy_view()" if key in self._alone else "view()"
            raise PluginError(f"{where} of the plugin gives no {key!r}, which view_keys() documents.")
        flat = np.asarray(view[key], np.float32).reshape(-1)
        if flat.size != self._view[key]:
            raise PluginError(
                f"view key {key!r} is documented with size {self._view[key]} and has {flat.size} numbers; "
                "correct view_keys()."
            )
        return flat

    def _box_type(self, key: str) -> np.dtype[Any] | None:
        """The dtype of a part that is a Box, else None. A known dtype avoids gymnasium's slower flatten
        at each step.
        """
        space = self._base.get(key)
        return space.dtype if isinstance(space, spaces.Box) else None

    def _width(self, key: str) -> int:
        return self._view[key] if key in self._view else int(gymnasium.spaces.flatdim(self._base[key]))
