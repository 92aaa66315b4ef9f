"""A WorkerEnv behaves like the environment that its worker runs."""

from __future__ import annotations

import functools
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from rlgpt.envs import Recipe, WorkerEnv
from rlgpt.errors import WorkerError

from .conftest import Recipes
from .test_spaces import same
from .worlds import everything

Made = Callable[..., WorkerEnv]


@pytest.fixture
def env(recipe: Recipes) -> Iterator[Made]:
    made = []

    def make(*args: Any, render_mode: str | None = None, **known: Any) -> WorkerEnv:
        made.append(WorkerEnv(recipe(*args, **known), render_mode=render_mode))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.filterwarnings("ignore:.*Box observation space m", "ignore:.*not having a spec")
def test_worker_env_passes_check_env_of_gymnasium(env: Made) -> None:
    check_env(env("everything", render_mode="rgb_array", text=False))


def test_worker_env_returns_the_same_steps_as_the_environment_without_a_worker(env: Made) -> None:
    plain, worker = everything(), env("everything")
    assert worker.observation_space == plain.observation_space
    assert worker.action_space == plain.action_space
    assert list(worker.observation_space.spaces) == list(plain.observation_space.spaces)  # type: ignore[attr-defined]
    plain.action_space.seed(5)
    left_out = {"object", "numbered"}
    for seed in (3, 8):
        first, second = (e.reset(seed=seed, options={"steps": 30}) for e in (plain, worker))
        assert same(first, second)
        for _ in range(30):
            action = plain.action_space.sample()
            (*a, known), (*b, told) = plain.step(action), worker.step(action)
            assert same(tuple(a), tuple(b))
            assert set(known) - set(told) == left_out
            assert told["array"] == [0, 1, 2]
            assert (told["scalar"], told["none"], told["nested"]) == (0.5, None, {"list": [1, "two", [3.0]]})


def test_cartpole_in_a_worker_plays_the_same_episode(env: Made) -> None:
    worker = env("gymnasium:make", of={"factory": "gymnasium:make"}, id="CartPole-v1")
    plain = gymnasium.make("CartPole-v1")
    for seed in (1, 2):
        assert same(plain.reset(seed=seed), worker.reset(seed=seed))
        over = False
        while not over:
            a, b = plain.step(seed % 2), worker.step(seed % 2)
            assert same(a, b)
            over = a[2] or a[3]
    plain.close()


def test_worker_env_returns_rendered_frames(env: Made) -> None:
    worker = env("everything", render_mode="rgb_array")
    worker.reset(seed=0)
    assert worker.metadata == {"render_modes": ["rgb_array"], "render_fps": 12}
    assert np.array_equal(worker.render(), everything().render())
    silent = env("gymnasium:make", of={"factory": "gymnasium:make"}, id="CartPole-v1")
    silent.reset(seed=0)
    assert silent.render() is None


@pytest.mark.parametrize(("truncated", "ends"), [(False, (True, False)), (True, (False, True))])
def test_worker_env_converts_an_environment_of_gym_0_21(env: Made, truncated: bool, ends: tuple[bool, bool]) -> None:
    worker = env("make", file="old_gym.py", limit=2, truncated=truncated)
    check = worker.observation_space
    assert isinstance(check, spaces.Dict)
    assert list(check.spaces) == ["z", "a", "range", "name"]
    assert check["range"] == spaces.Discrete(7, start=2)
    assert worker.metadata == {"render_modes": ["human", "rgb_array"], "render_fps": 20}
    seen, info = worker.reset(seed=11)
    assert check.contains(seen)
    assert seen["name"].tolist() == ["a cow", "seed 11"]
    assert info == {}
    assert worker.reset()[0]["name"].tolist() == ["a cow", "seed 11"]
    _, reward, *over, info = worker.step(np.array([2, 3]))
    assert (reward, over, info) == (5.0, [False, False], {})
    frame = worker.render()
    assert frame is not None
    assert (frame.shape, int(frame[0, 0, 0])) == ((2, 3, 3), 1)
    seen, _, terminated, ended, info = worker.step(np.array([0, 0]))
    assert (terminated, ended) == ends
    assert seen["a"] == 2
    assert info == ({"TimeLimit.truncated": truncated})
    with pytest.raises(WorkerError, match="has no parameter options"):
        worker.reset(options={"a": 1})


def test_worker_env_sends_no_invalid_action_to_the_worker(env: Made) -> None:
    worker = env("trouble", how="none", when="never")
    worker.reset(seed=0)
    for action in (np.zeros(3), "left", 0.5):
        with pytest.raises(ValueError, match="action has"):
            worker.step(action)
    assert worker.step(1)[0].tolist() == [1]
    assert worker.restarts == 0


def test_worker_process_has_only_the_environment_variables_of_its_recipe(
    recipe: Recipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "sk-secret")
    monkeypatch.setenv("NAMED", "1")
    of = {"environment": {"GIVEN": "x"}, "passed": ("PATH", "NAMED", "ABSENT"), "folder": "/", "paths": ("/a/b",)}
    with pytest.raises(WorkerError) as error:
        WorkerEnv(recipe("variables", of=of))
    names = set(str(error.value).split("ValueError: ")[1].split(" cwd=")[0].split())
    assert {"GIVEN", "NAMED", "PATH"} <= names
    assert not {"SECRET_KEY", "ABSENT", "HOME"} & names
    assert "cwd=/ path=/a/b" in str(error.value)


def test_worker_recipe_can_be_pickled_and_refuses_invalid_factories_and_arguments(recipe: Recipes) -> None:
    made = recipe("trouble", how="die", when="never")
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.python == sys.executable
    for wrong in ("worlds", "worlds.py", "a b:c", "worlds:", ""):
        with pytest.raises(ValueError, match="factory"):
            Recipe(factory=wrong)
    with pytest.raises(ValueError, match="arguments"):
        Recipe(factory="a:b", arguments={"f": print})  # type: ignore[dict-item]


def test_each_process_of_an_async_vector_env_starts_its_own_worker(recipe: Recipes) -> None:
    made = [functools.partial(WorkerEnv, recipe("trouble", how="", when="never")) for _ in range(2)]
    several = gymnasium.vector.AsyncVectorEnv(made, context="spawn")
    _, info = several.reset(seed=4)
    assert len({os.getpid(), *info["pid"].tolist()}) == 3
    assert several.step(np.array([1, 0]))[0].tolist() == [[1], [1]]
    several.close()


def test_worker_imports_its_factory_from_the_paths_of_the_recipe(tmp_path: Path, recipe: Recipes) -> None:
    (tmp_path / "faraway.py").write_text((Path(__file__).parent / "worlds.py").read_text())
    of = {"factory": "faraway:trouble", "paths": (str(tmp_path),), "folder": str(tmp_path)}
    env = WorkerEnv(recipe("x", of=of, how="", when="never"))
    assert env.reset(seed=0)[0].tolist() == [0]
    env.close()
