"""The setting ``trainer.device``: the same trainings on the CPU, on a simulated GPU, and on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from rlgpt.domain import Parameter, TrainingRecord
from rlgpt.errors import ConfigError, TrainerError
from rlgpt.rl.base import EnvSpec, Hyperparameters, Trainer
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.device import Device, resolved
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.rl.sac import SAC
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.testing.counting import TO_ROW, WANDER, action, counted, grid_spec
from rlgpt.testing.smdp import SETUP, TASK, WALK, fork_plugin
from sight import HORIZON, spec
from simulated_gpu import simulated_gpu

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA")
FORK = EnvSpec(TASK, SETUP, (WALK,), factory=fork_plugin)
REACH = action(
    "reach", "def run(x=0.5):\n    yield use()\n", parameters=(Parameter(name="x", low=0, high=1, default=0.5),)
)
SMALL = Hyperparameters(
    num_envs=4, num_steps=16, minibatch_size=32, update_epochs=2, learning_rate=1e-3, imitation_minibatches=2
)


@pytest.fixture(params=["cpu", "simulated", pytest.param("gpu", marks=needs_gpu)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """The values of ``trainer.device``. The value ``gpu`` is tested with a simulated GPU and with a real GPU."""
    if request.param != "simulated":
        yield request.param
        return
    with simulated_gpu(monkeypatch):
        yield "gpu"


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=needs_gpu)])
def real_device(request: pytest.FixtureRequest) -> Literal["cpu", "gpu"]:
    """The devices that Sample Factory's own processes can use."""
    device: Literal["cpu", "gpu"] = request.param
    return device


def sample_factory(device: Device, **settings: Any) -> SampleFactory:
    return SampleFactory(SampleFactorySettings(device=device, **settings))


def sac(device: Device, *, overlap: bool = False) -> SAC:
    return SAC(segments=2, device=device, overlap=overlap, first_update=100)


def train(trainer: Trainer, recipe: EnvSpec, folder: Path, budget: int, **changes: Any) -> TrainingRecord:
    settings = SMALL.model_copy(update=changes)
    return trainer.train(recipe, budget=budget, seed=0, folder=folder, hyperparameters=settings)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return Checkpoint.load(folder).weights


def differ(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> set[str]:
    return {key for key in one if not torch.equal(one[key], other[key])}


def learns_the_fork(trainer: Trainer, folder: Path) -> None:
    untrained = trainer.untrained(FORK, seed=0, hyperparameters=SMALL)
    before = evaluate(untrained, FORK, seeds=range(20), greedy=False).success_rate
    record = train(trainer, FORK, folder, 1500, num_steps=32, update_epochs=8)
    assert record.curve[-1].success > 0.9 > before


def learns_images(trainer: Trainer, folder: Path) -> None:
    """Check that the mean reward of a step, which is 0.5 for a random policy, rises above 0.7."""
    recipe = spec(16, first=True, coded=True)
    record = train(trainer, recipe, folder, 700, update_epochs=4, imitation_coef=0.1)
    assert record.curve[-1].total_reward / HORIZON > 0.7
    kept = Checkpoint.load(folder).imitation
    assert kept is not None
    assert (kept["entry image_eye"].dtype, kept["entry image_eye"].device.type) == (torch.uint8, "cpu")


def moves_to_the_cpu(trainer: Trainer, on_the_cpu: Trainer, folder: Path, **changes: Any) -> None:
    """Check that a training on a device resumes on the CPU, and that its policy acts on the CPU."""
    recipe = grid_spec(folder / "count", TO_ROW)
    first = train(trainer, recipe, folder / "train", 300, **changes)
    content = torch.load(folder / "train" / "policy.pt", weights_only=True)
    moments = [value for state in content["optimizer"]["state"].values() for value in state.values()]
    tensors = [*content["weights"].values(), *content.get("imitation", {}).values(), *moments]
    assert {tensor.device.type for tensor in tensors if isinstance(tensor, torch.Tensor)} == {"cpu"}
    more = train(on_the_cpu, recipe, folder / "train", 600, **changes)
    assert more.curve[: len(first.curve)] == first.curve
    assert more.primitive_steps == counted(folder / "count") >= 600
    env = build(recipe, seed=0)
    observation, _ = env.reset()
    policy = on_the_cpu.load(folder / "train", recipe)
    assert env.action_space.contains(policy.act(observation, greedy=True, rng=np.random.default_rng(0)))
    env.close()


# -- the built-in trainers --------------------------------------------------------------------------------------------


def test_ppo_learns_on_each_device(device: Device, tmp_path: Path) -> None:
    learns_the_fork(PPO(segments=3, device=device), tmp_path)


@pytest.mark.slow
def test_sac_learns_on_each_device(device: Device, tmp_path: Path) -> None:
    learns_the_fork(sac(device), tmp_path)


@pytest.mark.slow
def test_ppo_with_worker_processes_learns_on_each_device(device: Device, tmp_path: Path) -> None:
    learns_the_fork(PPO(segments=3, device=device, workers=2), tmp_path)


@pytest.mark.slow
def test_ppo_learns_from_images_with_self_imitation_on_each_device(device: Device, tmp_path: Path) -> None:
    learns_images(PPO(segments=3, device=device), tmp_path)


def test_ppo_training_moves_from_each_device_to_the_cpu(device: Device, tmp_path: Path) -> None:
    moves_to_the_cpu(PPO(segments=3, device=device), PPO(segments=3), tmp_path, imitation_coef=0.1)


def test_sac_training_moves_from_each_device_to_the_cpu(device: Device, tmp_path: Path) -> None:
    moves_to_the_cpu(sac(device), sac("cpu"), tmp_path)


def test_training_resumes_on_each_device(device: Device, tmp_path: Path) -> None:
    recipe = grid_spec(tmp_path / "count", TO_ROW)
    first = train(PPO(segments=3), recipe, tmp_path / "train", 300, imitation_coef=0.1)
    before = weights(tmp_path / "train")
    more = train(PPO(segments=3, device=device), recipe, tmp_path / "train", 600, imitation_coef=0.1)
    assert more.curve[: len(first.curve)] == first.curve
    assert "output.weight" in differ(before, weights(tmp_path / "train"))


@pytest.mark.parametrize("overlap", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["numbers", "images", "search", "warm start", "sac"])
def test_training_on_a_gpu_computes_the_same_as_on_the_cpu(
    kind: str, overlap: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, changes, warm = grid_spec(tmp_path / "count", TO_ROW), {"imitation_coef": 0.1}, None
    if kind == "images":
        recipe = spec(16, first=False, coded=True)
    elif kind == "search":
        recipe, changes = grid_spec(tmp_path / "count", TO_ROW, REACH, plan_prior=0.9), {}
    elif kind == "sac":
        changes = {}
    elif kind == "warm start":
        train(PPO(), grid_spec(tmp_path / "count", WANDER), tmp_path / "earlier", 100)
        warm = tmp_path / "earlier"

    def weights_on(device: Device) -> dict[str, torch.Tensor]:
        trainer = sac(device, overlap=overlap) if kind == "sac" else PPO(segments=2, device=device, overlap=overlap)
        folder, settings = tmp_path / device, SMALL.model_copy(update=changes)
        trainer.train(recipe, budget=200, seed=0, folder=folder, hyperparameters=settings, warm_start=warm)
        return weights(folder)

    on_the_cpu = weights_on("cpu")
    with simulated_gpu(monkeypatch):
        on_the_gpu = weights_on("gpu")
    assert differ(on_the_cpu, on_the_gpu) == set()


def test_each_image_is_copied_to_the_gpu_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With images, each decision needs one image, and so does each end of an episode (its last observation)."""
    with simulated_gpu(monkeypatch) as simulated:
        record = train(PPO(segments=1, device="gpu"), spec(16, first=True), tmp_path, 128, update_epochs=4)
    images = [shape[0] for shape, dtype in simulated.uploads if dtype == torch.uint8]
    episodes = sum(point.episodes for point in record.curve)
    assert sum(images) == SMALL.num_envs + record.decisions + episodes


def test_auto_is_the_gpu_for_images_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (False, True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert resolved("auto", images=False) == "cpu"
        assert resolved("auto", images=True) == ("gpu" if there else "cpu")
        assert resolved("cpu", images=True) == "cpu"


@pytest.mark.parametrize("make", [PPO, SAC, lambda device: sample_factory(device)])
def test_trainers_without_cuda_refuse_the_gpu_before_a_run_begins(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    trainer = make(device="gpu")
    with pytest.raises(TrainerError, match=r"^device=gpu needs CUDA.*device=cpu"):
        trainer.check(FORK, SMALL)
    make(device="auto").check(FORK, SMALL)


def test_ppo_refuses_an_unknown_device() -> None:
    with pytest.raises(ConfigError, match=r"trainer.device=gpus cannot be used. Valid: cpu, gpu, auto; gpu is"):
        PPO(device="gpus")  # type: ignore[arg-type]
    with pytest.raises((ConfigError, ValueError), match="'cpu', 'gpu' or 'auto'"):
        SampleFactorySettings.model_validate({"device": "gpus"})


# -- Sample Factory ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"mode": "parallel", "workers": 2}], ids=["serial", "parallel"])
def test_sample_factory_learns_on_each_device(
    settings: dict[str, Any], real_device: Literal["cpu", "gpu"], tmp_path: Path
) -> None:
    learns_the_fork(sample_factory(real_device, **settings), tmp_path)


@pytest.mark.slow
def test_sample_factory_learns_from_images_with_self_imitation_on_each_device(
    real_device: Literal["cpu", "gpu"], tmp_path: Path
) -> None:
    learns_images(sample_factory(real_device), tmp_path)


@pytest.mark.slow
def test_sample_factory_training_moves_from_each_device_to_the_cpu(
    real_device: Literal["cpu", "gpu"], tmp_path: Path
) -> None:
    moves_to_the_cpu(sample_factory(real_device), sample_factory("auto"), tmp_path, imitation_coef=0.1)
