"""The distribution voxeldojo as gymnasium environments: registered ids, valid observations, and use without rlgpt."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import pytest
import voxeldojo
from voxeldojo.errors import UnknownNameError

IDS = sorted(env_id for env_id in gymnasium.registry if env_id.startswith("VoxelDojo/"))
STANDALONE = """
import sys
class Refuse:
    def find_spec(self, name, *_):
        if name.split(".")[0].startswith("rlgpt"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import gymnasium
env = gymnasium.make("voxeldojo:VoxelDojo/Survival-v0", mission={"layers": ("bedrock", "dirt")})
env.reset(seed=0)
env.step(env.unwrapped.no_op())
import pkgutil, voxeldojo
for module in pkgutil.walk_packages(voxeldojo.__path__, "voxeldojo."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
"""


def test_voxeldojo_environment_ids_are_registered_in_gymnasium() -> None:
    assert IDS == ["VoxelDojo/Survival-v0", "VoxelDojo/SurvivalPixels-v0"]


@pytest.mark.parametrize("env_id", IDS)
def test_registered_environment_steps_any_sampled_action(env_id: str) -> None:
    env = gymnasium.make(env_id)
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    for _ in range(10):
        assert observation in env.observation_space
        observation, *_ = env.step(env.action_space.sample())
    env.close()


def test_gymnasium_make_accepts_the_mission_as_a_dict() -> None:
    env = gymnasium.make("VoxelDojo/Survival-v0", mission={"image_size": (32, 48), "layers": ("bedrock", "grass")})
    observation, info = env.reset(seed=0)
    assert observation["rgb"].shape == (3, 32, 48)
    assert info["inventory"][0]["name"] == "air"
    with pytest.raises(UnknownNameError, match=r"unknown biome 'forrest'.*forest"):
        gymnasium.make("VoxelDojo/Survival-v0", mission={"biome": "forrest"})


def test_every_exported_name_of_voxeldojo_is_importable() -> None:
    for name in voxeldojo.__all__:
        assert getattr(voxeldojo, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = voxeldojo.nothing


def test_every_module_of_voxeldojo_can_be_imported_without_rlgpt() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", STANDALONE], check=True)
