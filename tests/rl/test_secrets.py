"""Processes that run environments get no secrets. The main process keeps its secrets."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest
from rlgpt.domain import RLSetup
from rlgpt.executors.local import Processes
from rlgpt.rl import worker_vector
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.ppo import PPO
from rlgpt.rl.worker_vector import WorkerVector
from rlgpt.secrets import is_secret, secrets_hidden, without_secrets
from rlgpt.testing.grid import TASKS
from telling import telling

KEYS = ("OPENAI_API_KEY", "hf_token", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "SOME_CREDENTIALS")


@pytest.mark.parametrize("name", KEYS)
def test_secret_variables_are_recognised_by_name(name: str) -> None:
    assert is_secret(name)
    assert without_secrets({name: "x", "PATH": "/bin", "OMP_NUM_THREADS": "1"}) == {
        "PATH": "/bin",
        "OMP_NUM_THREADS": "1",
    }


def test_secrets_hidden_restores_the_secrets_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "s")

    def start() -> None:
        assert "MY_API_KEY" not in os.environ
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more"), secrets_hidden():
        start()
    assert os.environ["MY_API_KEY"] == "s"


@pytest.mark.slow
@pytest.mark.parametrize("guarded", [True, False])
def test_worker_processes_get_no_api_key(guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unguarded case shows that without the removal the worker processes would get the key."""
    monkeypatch.setenv("CANARY_API_KEY", "canary-31337")
    if not guarded:
        monkeypatch.setattr(worker_vector, "secrets_hidden", functools.partial(open, os.devnull))
    setup = RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=("agent", "key"))
    out = tmp_path / "environment"
    spec = EnvSpec(TASKS["grid/key"], setup, (), functools.partial(telling, out))
    with WorkerVector(spec, [0], tmp_path / "ledger", 1) as workers:
        workers.reset()
    assert ("canary-31337" in out.read_text()) is not guarded
    assert ("CANARY_API_KEY" in out.read_text()) is not guarded


@pytest.mark.slow
def test_worker_processes_of_an_executor_get_no_api_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "canary-31337")
    out = tmp_path / "environment"
    plugin = telling(out, TASKS["grid/key"])
    spec = EnvSpec(TASKS["grid/key"], plugin.default_setup(TASKS["grid/key"]), (), functools.partial(telling, out))
    settings = Hyperparameters(num_envs=1, num_steps=8)
    trainer = PPO(workers=1).on(functools.partial(Processes, jobs=1))
    trainer.train(spec, budget=10, seed=0, folder=tmp_path / "train", hyperparameters=settings)
    assert "canary-31337" not in out.read_text()
    assert "CANARY_API_KEY" not in out.read_text()
    assert os.environ["CANARY_API_KEY"] == "canary-31337"
