"""What a mission begins with and shows: the values that Malmo's mission XML and MineDojo's options carry."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from voxeldojo.errors import UnknownNameError
from voxeldojo.names import BIOMES, ITEMS
from voxeldojo.world.blocks import ID as BLOCKS
from voxeldojo.world.state import SLOTS

MAX_IMAGE_SIDE_PX: Final = 2_048
Side = Annotated[int, Field(ge=1, le=MAX_IMAGE_SIDE_PX)]
"""Pixels of one side of a picture."""
Weather = Literal["normal", "clear", "rain", "thunder"]
Ray = tuple[float, float, float]
"""Pitch and yaw (radians, from where the player looks) and length (blocks) of a ray of the lidar."""

MAX_VOXELS = 65_536
"""Blocks of the largest box of voxels."""
MAX_RAY_BLOCKS = 256.0


class Value(BaseModel):
    """A frozen value. An unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Stack(Value):
    """Things in a slot at the beginning. Slots: 0 the hand, 1-35, 36-39 feet, legs, chest, head, 40 the off hand."""

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
    """Where the player stands (middle of the feet, blocks) and looks (degrees)."""

    x: float
    y: float
    z: float
    yaw: float = 0.0
    pitch: Annotated[float, Field(ge=-90, le=90)] = 0.0


class Box(Value):
    """The voxels shown: blocks from the block of the player's feet, both ends included; y is up."""

    xmin: int = -1
    ymin: int = -1
    zmin: int = -1
    xmax: int = 1
    ymax: int = 1
    zmax: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Blocks along x, y and z."""
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
    """How a world begins and what is seen of it.

    :ivar inventory: at most one stack a slot.
    :ivar start: without it the player begins on safe ground near the middle of the world.
    :ivar health: half hearts. :ivar food: half drumsticks.
    :ivar layers: blocks of a level world, the lowest first; without them the land is as the seed has it.
    :ivar time: ticks since sunrise (0 to 23,999; 6,000 is noon, 13,000 night).
    :ivar biome: fills the surroundings; without it the land is mixed. :ivar weather: it stays as it is; "normal" is
        that of the world, which is clear. (The game's own changes by itself.)
    :ivar break_speed: by how much blocks break faster. :ivar seed: of the land; without it every reset has its own.
    :ivar image_size: height and width of the picture; without it there is none.
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
