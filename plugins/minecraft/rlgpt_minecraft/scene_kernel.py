"""Finds the things, the cross-hair's target and the obstacles in the observations of many worlds, and follows the
progress of their episodes, in one call of compiled code.

The results are those of ``observation.ParsedObservation``, ``ground.Ground`` and ``progress.Progress``, computed by the
same operations in the same order.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from voxeldojo.scalars import FLOATS
from voxeldojo.world.blocks import BLOCKS_MOVEMENT, LIQUID
from voxeldojo.world.constants import BLOCK_REACH, ENTITY_REACH, EYE_HEIGHT
from voxeldojo.world.jit import jit, part
from voxeldojo.world.voxels import NAMES

from rlgpt_minecraft.ground import MAX_DESCENT_BLOCKS, SIDES, STEP_M, VOXELS
from rlgpt_minecraft.observation import SAME
from rlgpt_minecraft.rays import CENTRE, DISTANCE, RAYS

SIGHT: Final = np.dtype(
    [
        ("visible", np.bool_),
        ("aimed", np.bool_),
        ("beside", np.bool_),  # whether the thing is found among the voxels, not by a ray
        ("distance", np.float64),
        ("bearing", np.float64),
        ("elevation", np.float64),
        ("length", np.float64),  # of ``middle`` if ``beside``
        *((name, np.float64) for name in ("x", "y", "z")),  # the mean of the rays, or the offset from the eyes
    ],
    align=True,
)
PLACE: Final = np.dtype(
    [
        ("block", np.int64),  # the block under the cross-hair; 0, which is air, for none
        ("entity", np.int64),  # the index into ``lidar.ENTITIES``; 0 for none
        ("reach", np.bool_),
        ("distance", np.float64),
        *((name, np.int64) for name in ("x", "y", "z")),
        *((name, np.int64, 3) for name in ("feet", "head", "descent", "water")),  # to the three sides
        ("lava", np.int64),
        ("on_ground", np.bool_),
        ("in_water", np.bool_),
        *((name, np.float64) for name in ("sine", "cosine")),  # of the heading
    ],
    align=True,
)
FOLLOWED: Final = np.dtype(
    [("has_place", np.bool_), ("ticks", np.int64), *((name, np.int64) for name in ("x", "y", "z"))], align=True
)

YAW, X, Z = FLOATS.index("yaw"), FLOATS.index("x"), FLOATS.index("z")
PITCH, Y = FLOATS.index("pitch"), FLOATS.index("y")
LOW_X, LOW_Y, LOW_Z = VOXELS["xmin"], VOXELS["ymin"], VOXELS["zmin"]
WATER, LAVA = 1, 2
FLUID: Final = np.array([WATER * ("water" in str(name)) + LAVA * ("lava" in str(name)) for name in NAMES])
ANGLES: Final = np.array(list(SIDES.values()))
_PITCHES, _YAWS = (np.array([ray[i] for ray in RAYS]) for i in (0, 1))
SIN_PITCH, COS_PITCH, SIN_YAW, COS_YAW = np.sin(_PITCHES), np.cos(_PITCHES), np.sin(_YAWS), np.cos(_YAWS)
IS_AIR: Final = NAMES == "air"


@part
def _solid(ids: NDArray[np.int64], dx: int, dy: int, dz: int) -> bool:
    return bool(BLOCKS_MOVEMENT[ids[dx - LOW_X, dy - LOW_Y, dz - LOW_Z]])


@part
def _fluid(ids: NDArray[np.int64], kind: int, dx: int, dz: int) -> bool:
    for dy in range(1, -5, -1):
        if FLUID[ids[dx - LOW_X, dy - LOW_Y, dz - LOW_Z]] & kind:
            return True
        if dy < 1 and _solid(ids, dx, dy, dz):
            return False
    return False


@part
def _ground(ids: NDArray[np.int64], x: float, y: float, z: float, yaw: float, here: Any) -> None:
    cell_x, cell_y, cell_z = math.floor(x), math.floor(y), math.floor(z)
    for side in range(3):
        turn = math.radians(yaw + ANGLES[side])
        dx, dz = math.floor(x - STEP_M * math.sin(turn)) - cell_x, math.floor(z + STEP_M * math.cos(turn)) - cell_z
        here.feet[side], here.head[side] = _solid(ids, dx, 0, dz), _solid(ids, dx, 1, dz)
        depth = 0
        while depth < MAX_DESCENT_BLOCKS and not (_solid(ids, dx, -depth, dz) or _solid(ids, dx, -depth - 1, dz)):
            depth += 1
        here.descent[side] = depth
        here.water[side] = _fluid(ids, WATER, dx, dz)
        if ANGLES[side] == 0.0:
            here.lava = _fluid(ids, LAVA, dx, dz)
    here.on_ground = False
    for corner in range(4):
        dx = math.floor(x + (0.3 if corner & 1 else -0.3)) - cell_x
        dz = math.floor(z + (0.3 if corner & 2 else -0.3)) - cell_z
        here.on_ground = here.on_ground or _solid(ids, dx, -1, dz)
    here.on_ground = here.on_ground and y - cell_y < 0.01
    here.in_water = (FLUID[ids[-LOW_X, -LOW_Y, -LOW_Z]] & WATER) > 0


@part
def _crosshair(found: NDArray[np.int64], distances: NDArray[np.float64], places: NDArray[np.int64], here: Any) -> None:
    block, entity = found[CENTRE, 0], found[CENTRE, 2]
    here.x, here.y, here.z = places[CENTRE, 0], places[CENTRE, 1], places[CENTRE, 2]
    here.block, here.entity, here.distance, here.reach = 0, entity, DISTANCE, False
    if entity != 0:
        here.distance = np.float64(np.float32(distances[CENTRE, 1]))
        here.reach = here.distance <= ENTITY_REACH
    elif not IS_AIR[block]:
        far = np.float64(np.float32(distances[CENTRE, 0]))
        here.block, here.distance = block, min(far, DISTANCE)
        here.reach = far <= BLOCK_REACH and not LIQUID[block]


@part
def _direct(sight: Any, yaw: float) -> None:
    """Compute bearing and elevation from the vector."""
    heading = math.degrees(math.atan2(-sight.x, sight.z))
    sight.bearing = (heading - yaw + 180.0) % 360.0 - 180.0
    sight.elevation = math.degrees(math.atan2(sight.y, math.hypot(sight.x, sight.z)))


@part
def _by_ray(
    found: NDArray[np.int64],
    distances: NDArray[np.float64],
    places: NDArray[np.int64],
    thing: int,
    is_entity: bool,
    bits: NDArray[np.int64],
    yaw: float,
    pitch: float,
    reach: bool,
    sight: Any,
) -> None:
    """Find the nearest thing that a ray hits. The direction is the mean of the rays that hit it."""
    column, wanted, first = int(is_entity), 1 << thing, -1
    for ray in range(len(found)):
        if bits[ray] & wanted and (
            first < 0 or np.float32(distances[ray, column]) < np.float32(distances[first, column])
        ):
            first = ray
    if first < 0:
        return
    a, b = math.radians(yaw), math.radians(pitch)
    look_x, look_y, look_z = -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)
    limit = np.float32(np.float32(distances[first, 1]) + np.float32(SAME))
    count, x, y, z = 0, 0.0, 0.0, 0.0
    for ray in range(len(found)):
        if not bits[ray] & wanted:
            continue
        if is_entity:
            same = np.float32(distances[ray, 1]) <= limit
        else:
            same = (
                places[ray, 0] == places[first, 0]
                and places[ray, 1] == places[first, 1]
                and places[ray, 2] == places[first, 2]
            )
        if same:
            lifted = look_y * COS_PITCH[ray] + look_z * SIN_PITCH[ray]
            along = look_z * COS_PITCH[ray] - look_y * SIN_PITCH[ray]
            x += look_x * COS_YAW[ray] + along * SIN_YAW[ray]
            y += lifted
            z += along * COS_YAW[ray] - look_x * SIN_YAW[ray]
            count += 1
            sight.aimed = sight.aimed or (ray == CENTRE and reach)
    sight.visible, sight.distance = True, min(np.float64(np.float32(distances[first, column])), DISTANCE)
    sight.x, sight.y, sight.z = x / count, y / count, z / count
    _direct(sight, yaw)


@part
def _beside(
    ids: NDArray[np.int64],
    of_block: NDArray[np.int64],
    thing: int,
    x: float,
    y: float,
    z: float,
    yaw: float,
    at: Any,
) -> None:
    """Find the nearest block among the voxels."""
    best = -1.0
    for i in range(ids.shape[0]):
        for j in range(ids.shape[1]):
            for k in range(ids.shape[2]):
                if not of_block[ids[i, j, k]] & (1 << thing):
                    continue
                dx = math.floor(x) + LOW_X + i + 0.5 - x
                dy = math.floor(y) + LOW_Y + j + 0.5 - y - EYE_HEIGHT
                dz = math.floor(z) + LOW_Z + k + 0.5 - z
                length = math.sqrt(dx * dx + dy * dy + dz * dz)
                if best < 0.0 or length < best:
                    best, at.x, at.y, at.z = length, dx, dy, dz
    if best >= 0.0:
        at.visible, at.beside, at.length, at.distance = True, True, best, max(0.0, best - 0.5)
        _direct(at, yaw)


@jit
def read_scenes(
    reading: NDArray[np.bool_],
    begun: NDArray[np.bool_],
    attacks: NDArray[np.bool_],
    numbers: NDArray[np.float32],
    found: NDArray[np.int64],
    distances: NDArray[np.float64],
    places: NDArray[np.int64],
    ids: NDArray[np.int64],
    of_block: NDArray[np.int64],
    of_entity: NDArray[np.int64],
    is_entity: NDArray[np.bool_],
    bits: NDArray[np.int64],
    sights: NDArray[Any],
    here: NDArray[Any],
    followed: NDArray[Any],
    nearest: NDArray[np.float64],
    dug: NDArray[np.int64],
) -> None:
    """Read the observations of the worlds for which ``reading`` is True.

    :param begun: whether the episode of a world has just begun.
    :param attacks: whether the last action of a world attacked.
    :param numbers: the numbers of the observations, within their bounds (``voxeldojo.observe.clipped``).
    :param found, distances, places, ids: the fields of ``voxeldojo.batch.Seen`` with these names.
    :param of_block, of_entity: for each block and each entity, bit i is set if its name is that of thing i.
    :param is_entity: whether a thing is an entity.
    :param bits: an output array ``(worlds, rays)``; bit i is set if the ray hits thing i.
    :param sights: an output array, SIGHT ``(worlds, things)``.
    :param here: an output array, PLACE ``(worlds,)``.
    :param followed: the state of the progress, FOLLOWED ``(worlds,)``, which is updated in place.
    :param nearest, dug: the numbers of the progress, ``(worlds, things)``, which are updated in place.
    """
    things = len(is_entity)
    for i in range(len(reading)):
        if not reading[i]:
            continue
        yaw, pitch = np.float64(numbers[i, YAW]), np.float64(numbers[i, PITCH])
        x, y, z = np.float64(numbers[i, X]), np.float64(numbers[i, Y]), np.float64(numbers[i, Z])
        place = here[i]
        place.sine, place.cosine = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
        _ground(ids[i], x, y, z, yaw, place)
        _crosshair(found[i], distances[i], places[i], place)
        hits = 0
        for ray in range(found.shape[1]):
            entity = found[i, ray, 2]
            bits[i, ray] = of_block[found[i, ray, 0]] if entity == 0 else of_entity[entity]
            hits |= bits[i, ray]
        for thing in range(things):
            sight = sights[i, thing]
            sight.visible = sight.aimed = sight.beside = False
            sight.distance, sight.bearing, sight.elevation = DISTANCE, 0.0, 0.0
            if hits & (1 << thing):
                _by_ray(
                    found[i],
                    distances[i],
                    places[i],
                    thing,
                    is_entity[thing],
                    bits[i],
                    yaw,
                    pitch,
                    place.reach,
                    sight,
                )
            elif not is_entity[thing]:
                _beside(ids[i], of_block, thing, x, y, z, yaw, sight)
        state = followed[i]
        if begun[i]:
            state.has_place, state.ticks = False, 0
            for thing in range(things):
                nearest[i, thing], dug[i, thing] = DISTANCE, 0
        else:
            aims = place.block != 0 and place.reach
            if not (attacks[i] and aims):
                state.ticks = 0
            else:
                same = state.has_place and state.x == place.x and state.y == place.y and state.z == place.z
                state.ticks = state.ticks + 1 if same else 1
                for thing in range(things):
                    if of_block[place.block] & (1 << thing):
                        dug[i, thing] = max(dug[i, thing], state.ticks)
            state.has_place, state.x, state.y, state.z = aims, place.x, place.y, place.z
        for thing in range(things):
            if sights[i, thing].visible and sights[i, thing].distance < nearest[i, thing]:
                nearest[i, thing] = sights[i, thing].distance
