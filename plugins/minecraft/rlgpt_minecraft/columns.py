"""The views of several environments of a vector, computed key by key for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.domain import Task
from rlgpt.plugin.columns import Columns
from rlgpt.plugin.types import Context
from voxeldojo.masks import CRAFT
from voxeldojo.names import CRAFTS
from voxeldojo.scalars import FLAGS, FLOATS
from voxeldojo.world.items import ID
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.lidar import ENTITIES
from voxeldojo.world.voxels import NAMES

from rlgpt_minecraft.crafts import possible
from rlgpt_minecraft.hits import read_hit
from rlgpt_minecraft.rays import elevation
from rlgpt_minecraft.scenes import Scene, counts_of
from rlgpt_minecraft.tasks import spec_of
from rlgpt_minecraft.things import FLUIDS

_NUMBER = {name: FLOATS.index(name) for name in FLOATS}
_POSITION = [_NUMBER[axis] for axis in "xyz"]
_NEAR_TIE = 1e-6

Column = Callable[["Rows"], Sequence[Any]]


class Rows:
    """The rows of some environments in a scene, and their contexts."""

    def __init__(self, scene: Scene, contexts: Sequence[Context]) -> None:
        self.scene, self.contexts = scene, contexts
        self.lanes = np.array([ctx.observation.lane for ctx in contexts])

    def numbers(self, name: str) -> NDArray[np.float64]:
        return np.asarray(self.scene.numbers[self.lanes, _NUMBER[name]], np.float64)

    def here(self, name: str) -> NDArray[Any]:
        return np.asarray(self.scene.here[name][self.lanes])

    def sights(self, index: int, name: str) -> NDArray[Any]:
        return np.asarray(self.scene.sights[name][self.lanes, index])


def rounded(values: NDArray[np.float64], digits: int, exact: Callable[[int], float] | None = None) -> list[Any]:
    """Return the results of ``round(value, digits)``.

    :param exact: returns the exact value of a row. The function ``exact`` is called only for a row whose value is so
        close to the middle between two roundings that a floating-point error could change the last digit.
    """
    scaled = values * 10.0**digits
    whole = np.rint(scaled)
    results: list[Any] = (whole / 10.0**digits).tolist()
    for row in np.flatnonzero(np.abs(scaled - whole) > 0.5 - _NEAR_TIE).tolist():
        results[row] = round(float(values[row]) if exact is None else exact(row), digits)
    return results


def _lists(values: Any) -> list[Any]:
    return list(np.asarray(values).tolist())


def _elevation(index: int, rows: Rows) -> list[Any]:
    def exact(row: int) -> float:
        sight = rows.scene.sights[rows.lanes[row], index]
        return elevation(np.array([sight["x"], sight["y"], sight["z"]])) if sight["visible"] else 0.0

    return rounded(rows.sights(index, "elevation"), 1, exact)


def _position(rows: Rows) -> list[Any]:
    places = rows.scene.numbers[rows.lanes][:, _POSITION].astype(np.float64).tolist()
    starts = (ctx.info["start"] for ctx in rows.contexts)
    return [[round(a - b, 2) for a, b in zip(*pair, strict=True)] for pair in zip(places, starts, strict=True)]


def _heading_vector(rows: Rows) -> list[Any]:
    pairs = zip(rounded(rows.here("sine"), 4), rounded(rows.here("cosine"), 4), strict=True)
    return [list(pair) for pair in pairs]


def _hit(name: str, rows: Rows) -> list[Any]:
    yaws = rows.numbers("yaw").tolist()
    return [read_hit(ctx, yaw)[name] for ctx, yaw in zip(rows.contexts, yaws, strict=True)]


_BODY: dict[str, Column] = {
    "position": _position,
    "height": lambda rows: rounded(rows.numbers("y"), 2),
    "heading": lambda rows: rounded(rows.numbers("yaw"), 1),
    "heading_vector": _heading_vector,
    "elevation": lambda rows: rounded(0.0 - rows.numbers("pitch"), 1),
    "on_ground": lambda rows: _lists(rows.here("on_ground").astype(int)),
    "in_water": lambda rows: _lists(rows.here("in_water").astype(int)),
    "life": lambda rows: rounded(rows.numbers("life"), 1),
    "food": lambda rows: rounded(rows.numbers("food"), 1),
    "breath": lambda rows: [round(value) for value in rows.numbers("oxygen").tolist()],
    "daylight": lambda rows: rounded(rows.numbers("sun_brightness"), 3),
    "time": lambda rows: [round(ctx.step / ctx.task.horizon, 4) for ctx in rows.contexts],
}
_SURROUNDINGS: dict[str, Column] = {
    "aim_block": lambda rows: [str(NAMES[block]) if block else "" for block in rows.here("block").tolist()],
    "aim_entity": lambda rows: [str(ENTITIES[kind]) if kind else "" for kind in rows.here("entity").tolist()],
    "aim_distance": lambda rows: rounded(rows.here("distance"), 2),
    "aim_reach": lambda rows: _lists(rows.here("reach").astype(int)),
    "dig_ticks": lambda rows: [int(ctx.info["dig_ticks"]) for ctx in rows.contexts],
}
_HIT: dict[str, Column] = {name: partial(_hit, name) for name in ("hit_ticks", "hit_amount", "hit_kind", "hit_bearing")}
_HAND: Column = lambda rows: [ITEM_NAMES[item] for item in rows.scene.seen.scalars.kinds[rows.lanes, 0, 0].tolist()]  # noqa: E731
_WAYS: dict[str, Column] = {
    "feet_blocked": lambda rows: _lists(rows.here("feet")),
    "head_blocked": lambda rows: _lists(rows.here("head")),
    "descent": lambda rows: _lists(rows.here("descent")),
    "water_ahead": lambda rows: _lists(rows.here("water")),
    "lava_ahead": lambda rows: _lists(rows.here("lava")),
}


def _sight(name: str, index: int) -> dict[str, Column]:
    columns: dict[str, Column] = {
        f"{name}_seen": lambda rows: _lists(rows.sights(index, "visible").astype(int)),
        f"{name}_distance": lambda rows: rounded(rows.sights(index, "distance"), 2),
        f"{name}_bearing": lambda rows: rounded(rows.sights(index, "bearing"), 1),
        f"{name}_elevation": partial(_elevation, index),
        f"{name}_aimed": lambda rows: _lists(rows.sights(index, "aimed").astype(int)),
    }
    if name in FLUIDS:
        del columns[f"{name}_aimed"]
    return columns


def _count(item: str, rows: Rows) -> list[Any]:
    return _lists(counts_of((item,), rows.scene.seen.scalars.counts[rows.lanes])[:, 0])


def _in_hand(item: int, rows: Rows) -> list[Any]:
    return _lists((rows.scene.seen.scalars.kinds[rows.lanes, 0, 0] == item).astype(int))


def _possible(item: str, rows: Rows) -> list[Any]:
    scalars, lanes = rows.scene.seen.scalars, rows.lanes
    counts, mask = scalars.counts[lanes], scalars.masks[lanes, CRAFT.start + CRAFTS.index(item)]
    found = possible(item, mask, lambda name: counts[:, ID[name]], lambda tool: scalars.flags[lanes, FLAGS.index(tool)])
    return _lists(found.astype(int))


def _near(flag: int, rows: Rows) -> list[Any]:
    return _lists(rows.scene.seen.scalars.flags[rows.lanes, flag].astype(int))


def surroundings(task: Task) -> dict[str, Column]:
    """Return the columns of the surroundings, in the order of the view."""
    columns = {**_SURROUNDINGS, "hand": _HAND, **_WAYS}
    for index, name in enumerate(spec_of(task).sights):
        columns |= _sight(name, index)
    return columns


def policy_view(task: Task) -> dict[str, Column]:
    """Return the columns of the surroundings that are numbers."""
    names = ("aim_block", "aim_entity", "hand")
    return {name: column for name, column in surroundings(task).items() if name not in names}


def whole_view(task: Task, *, blind: bool) -> dict[str, Column]:
    """Return the columns of the view, in its order."""
    spec = spec_of(task)
    columns = {**_BODY, **({"hand": _HAND} if blind else {**_HIT, **surroundings(task)})}
    columns["inventory"] = lambda rows: [dict(ctx.observation.parsed.inventory) for ctx in rows.contexts]
    columns |= {f"{item}_count": partial(_count, item) for item in spec.counted}
    columns |= {f"{item}_in_hand": partial(_in_hand, ID[item]) for item in spec.equips}
    columns |= {f"{item}_possible": partial(_possible, item) for item in spec.makeable}
    if spec.places or spec.smelts:
        columns |= {f"{tool}_near": partial(_near, FLAGS.index(tool)) for tool in ("table", "furnace")}
    return columns


def rows_of(columns: Mapping[str, Column], contexts: Sequence[Context]) -> list[Mapping[str, Any]]:
    """Return one mapping for each context. When a key is read in one mapping, it is computed for all environments of
    the scene.
    """
    scenes: dict[int, list[int]] = {}
    for i, ctx in enumerate(contexts):
        scenes.setdefault(id(ctx.observation.scene), []).append(i)
    found: list[Mapping[str, Any]] = [{}] * len(contexts)
    for places in scenes.values():
        rows = Rows(contexts[places[0]].observation.scene, [contexts[i] for i in places])
        table = Columns(tuple(columns), lambda key, rows=rows: columns[key](rows))  # type: ignore[misc]
        for i, row in zip(places, table.rows(len(places)), strict=True):
            found[i] = row
    return found
