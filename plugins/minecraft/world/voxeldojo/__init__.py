"""voxeldojo is a voxel world with the rules of Minecraft 1.11, as a gymnasium environment with MineDojo's observation
and action spaces.

>>> import gymnasium
>>> import voxeldojo
>>> env = gymnasium.make("VoxelDojo/Survival-v0", mission={"biome": "plains"})

The import of voxeldojo registers the environments with gymnasium. The import loads neither the world nor its compiler;
both are loaded when a name of the package is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gymnasium.envs.registration import register, registry

if TYPE_CHECKING:
    from voxeldojo.env import MineDojoEnv
    from voxeldojo.errors import VoxelDojoError
    from voxeldojo.mission import Box, Mission, Placement, Stack
    from voxeldojo.vector import MineDojoVectorEnv

__all__ = ["Box", "MineDojoEnv", "MineDojoVectorEnv", "Mission", "Placement", "Stack", "VoxelDojoError"]

_MODULES: Final = {
    "Box": "mission",
    "MineDojoEnv": "env",
    "MineDojoVectorEnv": "vector",
    "Mission": "mission",
    "Placement": "mission",
    "Stack": "mission",
    "VoxelDojoError": "errors",
}
_VOXELS: Final = {"xmin": -1, "ymin": -1, "zmin": -1, "xmax": 1, "ymax": 1, "zmax": 1}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def _register() -> None:
    missions: dict[str, dict[str, Any]] = {
        "VoxelDojo/Survival-v0": {},
        "VoxelDojo/SurvivalPixels-v0": {"image_size": (160, 256), "voxels": _VOXELS},
    }
    for env_id, mission in missions.items():
        if env_id not in registry:
            register(
                env_id,
                entry_point="voxeldojo.env:MineDojoEnv",
                vector_entry_point="voxeldojo.vector:MineDojoVectorEnv",
                kwargs={"mission": mission, "strict": False},
            )


_register()
