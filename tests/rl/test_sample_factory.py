"""Sample Factory's parts, each by itself: distribution, advantages, adapter, board, the rules of resuming."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from rlgpt.errors import TrainerError
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import BEST, Checkpoint, TrainingState
from rlgpt.rl.distribution import BranchedDistribution
from rlgpt.rl.ledger import Ledger
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.rl.sample_factory.adapter import LAST, Adapter
from rlgpt.rl.sample_factory.board import (
    BEAT,
    BUSY,
    DECISIONS,
    FIRST_ENV,
    ITERATIONS,
    LEARNER,
    RUNNER,
    Board,
    stall,
)
from rlgpt.rl.sample_factory.job import BOARD, LEDGER, VERDICTS, Job
from rlgpt.rl.sample_factory.lock import exclusive
from rlgpt.rl.sample_factory.processes import child_environment, end_group, members, tail
from rlgpt.rl.sample_factory.resume import resumable
from rlgpt.testing.counting import BROKEN, WANDER, counted, grid_spec
from rlgpt.testing.smdp import SETUP, TASK, WALK, fork_plugin

with warnings.catch_warnings():  # the library scripts functions as it is imported, which torch deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from rlgpt.rl.sample_factory.learner import OptionLearner
    from rlgpt.rl.sample_factory.model import OptionActorCritic
    from rlgpt.rl.sample_factory.session import configuration
    from sample_factory.algo.utils.env_info import EnvInfo, extract_env_info
    from sample_factory.algo.utils.make_env import NonBatchedVecEnv
    from sample_factory.algo.utils.model_sharing import ParameterServer
    from sample_factory.algo.utils.rl_utils import gae_advantages
    from sample_factory.algo.utils.shared_buffers import alloc_trajectory_tensors
    from sample_factory.model.model_utils import get_rnn_size

FORK = EnvSpec(TASK, SETUP, (WALK,), factory=fork_plugin)


def job_of(folder: Path, spec: EnvSpec = FORK, **hyperparameters: Any) -> Job:
    settings = Hyperparameters(envs=2, rollout=4, minibatch=3, **hyperparameters)
    return Job(spec, 0, 100, folder, settings, SampleFactorySettings(), 0)


def opened(job: Job) -> Board:
    return Board.open_session(job.folder / BOARD, job.hyperparameters.envs, len(job.coded))


def made(job: Job) -> tuple[OptionLearner, EnvInfo, Any]:
    """A learner as the child makes it, without the processes around it."""
    from sample_factory.algo.utils.context import global_model_factory

    global_model_factory().register_actor_critic_factory(OptionActorCritic)
    opened(job).close()
    cfg = configuration(job)
    probe = Adapter(job.spec.build(seed=0), job, 0)
    cfg.layout, cfg.observation_names = probe.env.layout, probe.env.observation_names
    info = extract_env_info(NonBatchedVecEnv(probe), cfg)
    versions = torch.zeros(1, dtype=torch.int32)
    learner = OptionLearner(cfg, info, versions, 0, ParameterServer(0, versions, True))
    learner.init()
    return learner, info, cfg


# -- distribution and advantages --------------------------------------------------------------------------------------


def test_stored_logits_are_the_masked_policy(tmp_path: Path) -> None:
    learner, _, _ = made(job_of(tmp_path))
    model = learner.actor_critic.double()
    model.network.output.weight.data.normal_()
    seen = {"obs": torch.randn(64, 3, dtype=torch.float64), "action_mask": (torch.rand(64, 3) < 0.6).double()}
    seen["action_mask"][:, 0] = 1
    head = model.forward_head(seen)
    result = model.forward_tail(head, values_only=False, sample_actions=True)
    direct: BranchedDistribution = model.network.distribution(seen)
    stored = model.distribution(result["action_logits"])
    for got, want in (
        (result["log_prob_actions"], direct.log_prob(result["actions"])),
        (stored.entropy(), direct.entropy()),
        (stored.kl(direct), torch.zeros(64)),
        (result["values"], model.network.scaled_value(seen)),
    ):
        assert float((got - want).detach().abs().max()) < 1e-6
    assert seen["action_mask"].gather(1, result["actions"][:, :1].long()).min() == 1


def random_rollouts(seed: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    rewards, values, last = draw(3, 9), draw(3, 10), draw(3, 9)
    dones = torch.rand(3, 9, generator=generator) < 0.3
    cut = dones & (torch.rand(3, 9, generator=generator) < 0.5)
    durations = torch.randint(1, 20, (3, 9), generator=generator).double()
    return rewards, values, last, durations, dones, cut


@pytest.mark.parametrize("seed", range(5))
def test_advantages_are_the_direct_sum(seed: int, tmp_path: Path) -> None:
    learner, _, cfg = made(job_of(tmp_path))
    rewards, values, last, durations, dones, cut = random_rollouts(seed)
    following = torch.where(cut, last, values[:, 1:])
    got, targets = learner.advantages(rewards, values[:, :-1], following, durations, dones, cut)
    want = torch.zeros_like(rewards)
    for env in range(3):
        for t in range(9):
            weight = 1.0
            for i in range(t, 9):
                discount = cfg.gamma ** float(durations[env, i])
                bootstrap = 0.0 if dones[env, i] and not cut[env, i] else discount * float(following[env, i])
                want[env, t] += weight * (float(rewards[env, i]) + bootstrap - float(values[env, i]))
                if dones[env, i]:
                    break
                weight *= discount * cfg.gae_lambda
    assert float((got - want).abs().max()) < 1e-6
    assert float((targets - want - values[:, :-1]).abs().max()) < 1e-6


@pytest.mark.parametrize("semi_markov", [True, False])
def test_single_steps_give_the_librarys_own_advantages(semi_markov: bool, tmp_path: Path) -> None:
    learner, _, cfg = made(job_of(tmp_path, semi_markov=semi_markov))
    rewards, values, _, durations, dones, _ = random_rollouts(0)
    durations = torch.ones_like(durations) if semi_markov else durations
    got, _ = learner.advantages(rewards, values[:, :-1], values[:, 1:], durations, dones, torch.zeros_like(dones))
    own = gae_advantages(rewards, dones, values, torch.ones(3, 10), cfg.gamma, cfg.gae_lambda)
    assert float((got - own).abs().max()) < 1e-6


def test_a_batch_is_bootstrapped_from_the_last_observation_where_a_time_limit_cut(tmp_path: Path) -> None:
    learner, info, cfg = made(job_of(tmp_path, normalize_returns=False, normalize_observations=False))
    batch = alloc_trajectory_tensors(info, 2, cfg.rollout, get_rnn_size(cfg), torch.device("cpu"), False)
    for key, shape in (("obs", (2, 5, 3)), (LAST + "obs", (2, 5, 3))):
        batch["obs"][key].copy_(torch.randn(shape))
    batch["obs"]["action_mask"].fill_(1)
    batch["obs"]["duration"].copy_(torch.randint(1, 9, (2, 5, 1)))
    for key in ("rnn_states", "actions", "log_prob_actions", "policy_version", "policy_id"):
        batch[key].zero_()
    batch["action_logits"].normal_()
    batch["rewards"].normal_()
    for key in ("dones", "time_outs", "valids"):
        batch[key].fill_(False)
    batch["dones"][0, 1] = batch["time_outs"][0, 1] = batch["dones"][1, 2] = True
    values = learner.actor_critic.values({"obs": batch["obs"]["obs"].reshape(10, 3)}).detach().view(2, 5)
    batch["values"].copy_(values)
    rewards, lasts = batch["rewards"].clone(), batch["obs"][LAST + "obs"].clone()
    durations = batch["obs"]["duration"][:, 1:, 0].clone()
    buffer, size, invalid = learner._prepare_batch(batch)
    assert (size, invalid) == (8, 0)
    cut_value = learner.actor_critic.values({"obs": lasts[0, 2:3]}).item()
    want = rewards[0, 1] + cfg.gamma ** durations[0, 1] * cut_value - values[0, 1]
    assert float(buffer["advantages"][1]) == pytest.approx(float(want), abs=1e-5)
    assert float(buffer["advantages"][4 + 2]) == pytest.approx(float(rewards[1, 2] - values[1, 2]), abs=1e-5)


def test_minibatches_cover_a_rollout_once_whatever_their_size(tmp_path: Path) -> None:
    learner, _, _ = made(job_of(tmp_path))
    learner.cfg.num_batches_per_epoch = 3
    parts = learner._get_minibatches(3, 8)
    assert sorted(np.concatenate(parts)) == list(range(8))
    assert max(map(len, parts)) <= 3


# -- adapter ----------------------------------------------------------------------------------------------------------


def test_the_adapter_keeps_what_the_library_would_lose(tmp_path: Path) -> None:
    job = job_of(tmp_path / "train", grid_spec(tmp_path / "count", WANDER, horizon=8))
    job.folder.mkdir()
    opened(job).close()
    env = Adapter.build(job, 1)
    (first,), _ = env.reset(seed=3)
    assert not first[LAST + "obs"].any()
    ends = steps = 0
    for _ in range(12):
        (seen,), _, (terminated,), (truncated,), (info,) = env.step([5])
        assert env.observation_space.contains(seen)
        steps += int(seen["duration"][0])
        assert truncated == bool(seen[LAST + "obs"].any())
        assert ("episode_extra_stats" in info) == (terminated or truncated)
        ends += terminated or truncated
    assert ends > 0
    with Ledger(job.folder / LEDGER, 2) as ledger:
        assert steps == ledger.total == counted(tmp_path / "count")
    board = Board(job.folder / BOARD)
    assert (board.get(FIRST_ENV + 1, DECISIONS), board.get(FIRST_ENV + 1, BUSY)) == (12, 0)
    board.close()
    env.close()


def test_streams_of_episodes_differ_between_environments_and_sessions(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    later = dataclasses.replace(job, carried=500)
    assert len({job.draw(3), job.draw(4), later.draw(3), dataclasses.replace(job, seed=1).draw(3)}) == 4


def test_violations_of_all_environments_add_up_to_a_quarantine(tmp_path: Path) -> None:
    job = job_of(tmp_path / "train", grid_spec(tmp_path / "count", BROKEN, WANDER))
    job.folder.mkdir()
    board = opened(job)
    one, two = Adapter.build(job, 0), Adapter.build(job, 1)
    (seen,), _ = one.reset()
    two.reset()
    broken = 5
    assert seen["action_mask"][broken] == 1
    for env in (one, one, two):
        env.step([broken])
    assert board.violations() == [3, 0]
    for env in (one, two):
        (seen,), _ = env.reset()
        assert list(seen["action_mask"][broken:]) == [0, 1]
    assert [json.loads(line)["kind"] for line in (job.folder / VERDICTS).read_text().splitlines()] == ["error"] * 3


# -- board ------------------------------------------------------------------------------------------------------------


def test_a_new_session_carries_over_what_was_counted(tmp_path: Path) -> None:
    path = tmp_path / BOARD
    for session in (1, 2, 3):
        board = Board.open_session(path, 3, 1)
        board.add(FIRST_ENV + 2, DECISIONS, 10)
        board.add(LEARNER, ITERATIONS)
        board.violation(FIRST_ENV, 0)
        assert (board.spent(DECISIONS), board.iterations(), board.violations()) == (10 * session, session, [session])
        assert board.get(LEARNER, ITERATIONS) == 1
        board.close()


def test_a_damaged_board_or_one_of_other_actions_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / BOARD
    Board.open_session(path, 2, 1).close()
    with pytest.raises(TrainerError, match="1 coded actions; this one has 2"):
        Board.open_session(path, 2, 2)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(TrainerError, match="damaged"):
        Board.open_session(path, 2, 1)
    path.write_bytes(b"")
    with pytest.raises(TrainerError, match="cannot be read"):
        Board.open_session(path, 2, 1)


@pytest.mark.parametrize(
    ("beats", "busy", "serial", "said"),
    [
        ({RUNNER: 1, LEARNER: 1, FIRST_ENV: 1}, [], False, None),
        ({RUNNER: 1, LEARNER: 30, FIRST_ENV: 1}, [], False, None),
        ({RUNNER: 1, LEARNER: 30, FIRST_ENV: 1}, [LEARNER], False, "the learner has been busy for 30 s"),
        ({RUNNER: 1, LEARNER: 1, FIRST_ENV: 40}, [FIRST_ENV], True, "environment 0 has been busy for 40 s"),
        ({RUNNER: 50, LEARNER: 1, FIRST_ENV: 1}, [], False, "the runner"),
        ({RUNNER: 50, LEARNER: 1, FIRST_ENV: 1}, [LEARNER], True, None),
        ({RUNNER: 1, LEARNER: 30, FIRST_ENV: 30}, [], False, "neither"),
    ],
)
def test_who_hangs(tmp_path: Path, beats: dict[int, int], busy: list[int], serial: bool, said: str | None) -> None:
    board, now = Board.open_session(tmp_path / BOARD, 1, 0), 10**12
    for row, age in beats.items():
        board.put(row, BEAT, now - age * 10**9)
    for row in busy:
        board.put(row, BUSY, 1)
    found = stall(board, now=now, timeout=25, serial=serial)
    assert found is None if said is None else found is not None and said in found
    board.close()


# -- resuming ---------------------------------------------------------------------------------------------------------


def saved(folder: Path, state: dict[int, Any]) -> None:
    content = TrainingState(hyperparameters=Hyperparameters(), axis_names={})
    Checkpoint(content, {}, {"state": state, "param_groups": []}, torch.get_rng_state()).save(folder)


def test_a_resume_never_begins_at_zero_in_silence(tmp_path: Path) -> None:
    assert resumable(tmp_path, iterations=0) is None
    saved(tmp_path, {})
    assert resumable(tmp_path, iterations=0) is not None
    with pytest.raises(TrainerError, match="begin anew"):
        resumable(tmp_path, iterations=4)
    saved(tmp_path, {0: {"step": torch.tensor(32.0)}})
    assert resumable(tmp_path, iterations=4) is not None


def test_the_learner_keeps_the_best_moment_and_remembers_how_good_it_was(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    learner, _, _ = made(job)
    assert not learner.save_best(0, "", None)
    assert not (tmp_path / BEST).exists()
    bias = learner.actor_critic.network.output.bias.data
    for value, score, kept in ((1.0, (0.5, 1.0), 1.0), (2.0, (0.5, 1.0), 2.0), (3.0, (0.4, 9.0), 2.0)):
        bias.fill_(value)
        assert learner.save_best(0, "", score) == (kept == value)
        assert float(Checkpoint.load(tmp_path, BEST).weights["output.bias"][0]) == kept
    learner.save()

    resumed, _, _ = made(job)
    assert float(resumed.actor_critic.network.output.bias.data[0]) == 3.0
    assert not resumed.save_best(0, "", (0.4, 9.0))
    assert resumed.save_best(0, "", (0.5, 1.0))

    resumed.actor_critic.network.output.bias.data.fill_(4.0)
    resumed.save()
    (tmp_path / "warm").mkdir()
    warm, _, _ = made(dataclasses.replace(job, folder=tmp_path / "warm", warm_start=tmp_path))
    assert float(warm.actor_critic.network.output.bias.data[0]) == 3.0
    assert warm.save_best(0, "", (0.0, 0.0)), "another training's score is not its own"


def test_steps_without_a_checkpoint_are_an_error(tmp_path: Path) -> None:
    with Ledger(tmp_path / LEDGER, 2) as ledger:
        assert resumable(tmp_path, iterations=0) is None
        ledger.add(1)
    with pytest.raises(TrainerError, match="no trained policy"):
        resumable(tmp_path, iterations=0)


def test_one_training_at_a_time_in_a_folder(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path),
        pytest.raises(TrainerError, match="another training runs"),
        exclusive(tmp_path, patience=0.05),
    ):
        pass
    with exclusive(tmp_path, patience=0):
        pass


# -- processes --------------------------------------------------------------------------------------------------------


def test_the_child_gets_no_secrets_and_few_threads() -> None:
    given = {"PATH": "/bin", "OPENAI_API_KEY": "x", "HF_TOKEN": "x", "db_password": "x", "OMP_NUM_THREADS": "8"}
    kept = child_environment(given, 1)
    assert kept["PATH"] == "/bin"
    assert kept["OMP_NUM_THREADS"] == kept["MKL_NUM_THREADS"] == "1"
    assert "x" not in kept.values()


def test_a_group_ends_with_all_its_processes() -> None:
    script = (
        "import subprocess, sys, torch\n"
        "torch.multiprocessing.set_sharing_strategy('file_system')\n"
        "kept = torch.zeros(8).share_memory_()\n"
        "subprocess.Popen(['sleep', '600'])\n"
        "print(1, flush=True)\n"
        "sys.stdin.read()\n"
    )
    leader = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdin is not None
    assert leader.stdout is not None
    leader.stdout.readline()
    below = psutil.Process(leader.pid).children()
    assert below
    assert list(Path("/dev/shm").glob(f"torch_{leader.pid}_*"))
    end_group(leader.pid)
    assert not list(Path("/dev/shm").glob(f"torch_{leader.pid}_*"))
    leader.wait()
    assert members(leader.pid) == []
    leader.stdin.close()
    leader.stdout.close()


def test_a_child_ends_with_its_parent() -> None:
    script = (
        "import os, sys, threading\n"
        "from rlgpt.rl.sample_factory.processes import die_with_parent\n"
        "stop = threading.Event()\n"
        "die_with_parent(open(0, 'rb', buffering=0), stop, patience=0.1)\n"
        "print(1, flush=True)\n"
        "stop.wait(); threading.Event().wait()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    child.stdin.close()
    assert child.wait(timeout=60) == -signal.SIGKILL
    child.stdout.close()


def test_the_tail_is_the_first_traceback_or_the_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Traceback (most recent call last)\n  old\nValueError: old\n")
    start = log.stat().st_size
    with log.open("a") as file:
        file.write("\n".join(f"line {i}" for i in range(99)))
    assert tail(log, start, 3) == "line 96\nline 97\nline 98"
    with log.open("a") as file:
        file.write("\nTraceback (most recent call last):\n" + "".join(f"  frame {i}\n" for i in range(99)))
        file.write("\x1b[31mValueError: cause\x1b[0m\nnoise\nTraceback (most recent call last):\n  late\nKeyError: 1\n")
    assert tail(log, start, 4).splitlines() == [
        "Traceback (most recent call last):",
        "  ...",
        "  frame 98",
        "ValueError: cause",
    ]


def test_without_the_package_the_message_says_how_to_install_it() -> None:
    script = (
        "import sys\n"
        "sys.modules['sample_factory'] = None\n"
        "from rlgpt.errors import TrainerError\n"
        "from rlgpt.rl.sample_factory import SampleFactory\n"
        "try: SampleFactory()\n"
        "except TrainerError as fault: print(fault)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert "uv pip install" in done.stdout
    assert "--overrides" in done.stdout


def test_a_script_without_a_main_guard_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(TrainerError, match="__main__"):
        SampleFactory().train(FORK, budget=1, seed=0, folder=tmp_path, hyperparameters=Hyperparameters())


def test_images_pass_through_the_model(tmp_path: Path) -> None:
    from gymnasium import spaces
    from sample_factory.utils.attr_dict import AttrDict

    job = job_of(tmp_path)
    box = spaces.Box(0, 255, (16, 16, 3), np.uint8)
    space = spaces.Dict({"image_eye": box, "action_mask": spaces.Box(0, 1, (3,))})
    env = FORK.build(seed=0)
    cfg = AttrDict(job=job, layout=env.layout, observation_names=())
    model = OptionActorCritic(cfg, space, None)
    seen = {"image_eye": torch.randint(0, 255, (5, 16, 16, 3), dtype=torch.uint8), "action_mask": torch.ones(5, 3)}
    result = model(model.normalize_obs(seen), torch.zeros(5, 2))
    assert result["values"].shape == (5,)
    assert result["action_logits"].shape == (5, 3)
