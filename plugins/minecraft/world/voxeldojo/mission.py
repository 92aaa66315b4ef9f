"""A mission states the initial state of a world and the content of the observation, as Malmo's mission XML and
MineDojo's options do.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, field_validator, model_validator

from voxeldojo.errors import UnknownNameError
from voxeldojo.names import BIOMES, ITEMS
from voxeldojo.world.blocks import ID as BLOCKS
from voxeldojo.world.state import SLOTS

MAX_IMAGE_SIDE_PX: Final = 2_048
Side = Annotated[int, Field(ge=1, le=MAX_IMAGE_SIDE_PX)]
"""Pixels of one side of a picture."""
Weather = Literal["normal", "clear", "rain", "thunder"]
Ray = tuple[float, float, float]
"""A ray of the lidar: pitch and yaw (radians, relative to the view direction) and length (blocks)."""

MAX_VOXELS = 65_536
"""Maximal number of blocks of the box of voxels."""
MAX_RAY_BLOCKS = 256.0


class Value(BaseModel):
    """Base of frozen models. An unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Stack(Value):
    """The items in a slot at the start. Slot 0 is the hand, slots 1 to 35 are the rest of the inventory, slots 36 to 39
    are the armour of feet, legs, chest and head, and slot 40 is the off hand.
    """

    slot: Annotated[int, Field(ge=0, lt=SLOTS)]
    name: str
    quantity: Annotated[int, Field(ge=1, le=64)] = 1
    variant: Annotated[int, Field(ge=0, le=120)] = 0

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in ITEMS:
            raise UnknownNameError("item", name, ITEMS)
        return name


class Placement(Value):
    """The initial position of the player (the centre of the feet, in blocks) and the view direction (yaw and pitch, in
    degrees).
    """

    x: FiniteFloat
    y: FiniteFloat
    z: FiniteFloat
    yaw: FiniteFloat = 0.0
    pitch: Annotated[float, Field(ge=-90, le=90)] = 0.0


class Box(Value):
    """The box of blocks that the observation ``voxels`` contains, in blocks relative to the block of the player's feet.
    The box includes both corners; y is up.
    """

    xmin: int = -1
    ymin: int = -1
    zmin: int = -1
    xmax: int = 1
    ymax: int = 1
    zmax: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of blocks of the box along x, y and z."""
        return self.xmax - self.xmin + 1, self.ymax - self.ymin + 1, self.zmax - self.zmin + 1

    @model_validator(mode="after")
    def _ordered(self) -> Box:
        x, y, z = self.shape
        if min(x, y, z) < 1:
            raise ValueError(f"a box of voxels whose min lies above its max: {self!r}")
        if x * y * z > MAX_VOXELS:
            raise ValueError(f"{x * y * z} voxels; at most {MAX_VOXELS}")
        return self


class Mission(Value):
    """The initial state of a world and the content of the observation.

    :ivar inventory: at most one stack for each slot.
    :ivar start: the initial position of the player; by default, a safe position near the centre of the world.
    :ivar health: the initial health of the player in half hearts.
    :ivar food: the initial food of the player in half drumsticks.
    :ivar time: the initial time of day in ticks since sunrise (0 to 23,999; 6,000 is noon, and night begins at 13,000).
    :ivar biome: the biome of the whole world; by default, the world has many biomes.
    :ivar layers: the blocks of a flat world, the lowest layer first; by default, the terrain is generated from the
        seed.
    :ivar weather: the weather, which does not change during an episode (it changes in the game). "normal" means clear.
    :ivar break_speed: the factor by which the player digs faster than in the game.
    :ivar time_passes: whether the time of day advances.
    :ivar mobs_spawn: whether the world has mobs.
    :ivar seed: the seed of the terrain; by default, each reset has a new seed.
    :ivar image_size: the height and width of the observation ``rgb`` in pixels; by default, the observation has no
        ``rgb``.
    :ivar voxels: the box of blocks that is observed.
    :ivar rays: the rays of the lidar.
    """

    inventory: tuple[Stack, ...] = ()
    start: Placement | None = None
    health: Annotated[float, Field(gt=0, le=20)] = 20.0
    food: Annotated[int, Field(ge=0, le=20)] = 20
    time: Annotated[int, Field(ge=0, le=24_000)] = 0
    biome: str | None = None
    layers: tuple[str, ...] = ()
    weather: Weather = "normal"
    break_speed: Annotated[float, Field(gt=0, le=1_000)] = 1.0
    time_passes: bool = True
    mobs_spawn: bool = True
    seed: int | None = None
    image_size: tuple[Side, Side] | None = None
    voxels: Box | None = None
    rays: tuple[Ray, ...] = ()

    @field_validator("inventory")
    @classmethod
    def _one_a_slot(cls, inventory: tuple[Stack, ...]) -> tuple[Stack, ...]:
        slots = [stack.slot for stack in inventory]
        twice = sorted({slot for slot in slots if slots.count(slot) > 1})
        if twice:
            raise ValueError(f"slots named more than once: {twice}")
        return inventory

    @field_validator("biome")
    @classmethod
    def _biome(cls, biome: str | None) -> str | None:
        if biome is not None and biome not in BIOMES:
            raise UnknownNameError("biome", biome, BIOMES)
        return biome

    @field_validator("layers")
    @classmethod
    def _layers(cls, layers: tuple[str, ...]) -> tuple[str, ...]:
        for name in layers:
            if name not in BLOCKS:
                raise UnknownNameError("block", name, BLOCKS)
        return layers

    @field_validator("rays")
    @classmethod
    def _rays(cls, rays: tuple[Ray, ...]) -> tuple[Ray, ...]:
        long = [ray for ray in rays if not 0 < ray[2] <= MAX_RAY_BLOCKS]
        if long:
            raise ValueError(f"rays are above 0 and at most {MAX_RAY_BLOCKS:g} blocks long, not {long[0][2]:g}")
        return rays
