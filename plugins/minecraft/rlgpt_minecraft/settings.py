"""Defines the settings of a task that a user can change."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationError
from rlgpt.domain import Task, Value
from rlgpt.errors import ConfigError, UnknownNameError
from voxeldojo.mission import Side
from voxeldojo.names import BIOMES

from rlgpt_minecraft.tasks import spec_of


class Settings(Value):
    """The settings of one Minecraft task.

    :ivar backend: whether the task runs in the embedded world or in MineDojo itself.
    :ivar actions: the set of base actions; ``paper`` means the base actions of the paper, [12, 3], which cannot craft.
    :ivar tier: what code can do and see; with ``paper``, code has MineDojo's low-level actions and does not see blocks
        and animals (see the module ``paper``).
    :ivar image_size: the height and width of ``rgb`` in the observation, 1 to 2,048 pixels; with None, the observation
        has no ``rgb``.
    :ivar port: the port of a running Malmo server for the backend ``minedojo``; with 0, the backend starts the game.
    :ivar biome: MineDojo's ``specified_biome``; with None, the world has all biomes of MineDojo's default world.
    """

    backend: Literal["embedded", "minedojo"] = "embedded"
    actions: Literal["default", "paper"] = "default"
    tier: Literal["default", "paper"] = "default"
    image_size: tuple[Side, Side] | None = None
    biome: str | None = None
    port: int = Field(default=0, ge=0, le=65_535)
    source: str = ""

    @classmethod
    def of(cls, task: Task) -> Settings:
        """Read the settings of a task. An empty text or tuple means None.

        :raises ConfigError: a setting is unknown, has no valid value, or contradicts another setting.
        :raises UnknownNameError: the biome does not exist.
        """
        given = {key: value if value not in ("", ()) else None for key, value in task.settings.items()}
        try:
            settings = cls(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as fault:
            problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in fault.errors())
            raise ConfigError(f"settings of {task.id}: {problems}. Valid: {', '.join(cls.model_fields)}.") from None
        if settings.biome is not None and settings.biome not in BIOMES:
            raise UnknownNameError(
                "biome", settings.biome, BIOMES, "An empty one means all biomes: task_settings.biome=''."
            )
        if settings.port and settings.backend == "embedded":
            raise ConfigError(
                f"settings of {task.id}: port={settings.port} has no effect on backend=embedded, which has no server. "
                "Set task_settings.backend=minedojo, or leave the port out."
            )
        return settings

    def check_ground(self) -> None:
        """Check that the embedded world has the biome of the settings.

        :raises UnknownNameError: the embedded world does not have the biome, for example a biome of the Nether or of
            the End.
        """
        from voxeldojo.world.biomes import ID

        if self.biome is not None and self.biome not in ID:
            raise UnknownNameError("biome", self.biome, ID, "The world has the biomes of the Overworld.")


def pixels(task: Task) -> tuple[int, int] | None:
    """Return height and width of the picture that a task's policies observe instead of lidar and voxels; None for tasks
    whose policies observe numbers.

    Tasks whose policies observe numbers may show a picture of ``image_size`` in addition to the numbers.
    """
    return Settings.of(task).image_size if spec_of(task).pixels else None


def is_blind(task: Task) -> bool:
    """Return whether the task has the tier ``paper``, in which code sees no blocks and no animals.

    The function ``is_blind`` does not check the settings, because views call it at each step.
    """
    return task.settings.get("tier") == "paper"
