"""How a task is played: the settings a task carries that may be changed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationError
from rlgpt.domain import Task, Value
from rlgpt.errors import ConfigError


class Settings(Value):
    """Of one task.

    :ivar backend: the embedded world, or MineDojo itself.
    :ivar actions: ``paper``: the base actions of the paper, [12, 3], which cannot craft.
    :ivar image_size: height and width of ``rgb`` in the observation; none: no picture.
    :ivar port: where the backend ``minedojo`` finds a Malmo server that runs already; 0: it starts the game.
    :ivar biome: MineDojo's ``specified_biome``; none: all biomes of a default world.
    """

    backend: Literal["embedded", "minedojo"] = "embedded"
    actions: Literal["default", "paper"] = "default"
    image_size: tuple[int, int] | None = None
    biome: str | None = None
    port: int = Field(default=0, ge=0, le=65_535)
    source: str = ""

    @classmethod
    def of(cls, task: Task) -> Settings:
        """The settings of a task; an empty text or tuple is none.

        :raises ConfigError: a setting is unknown, or has no valid value.
        """
        said = {key: value if value not in ("", ()) else None for key, value in task.settings.items()}
        try:
            return cls(**{key: value for key, value in said.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as fault:
            told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in fault.errors())
            raise ConfigError(f"settings of {task.id}: {told}. Valid: {', '.join(cls.model_fields)}.") from None
