"""Sample Factory learns from the lanes of a plugin's batch simulator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.lanes import learns_from_lanes
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.rl.sample_factory.adapter import Adapter
from rlgpt.rl.sample_factory.entries import LAST
from rlgpt.rl.sample_factory.episode_tag import EPISODE_TAG
from rlgpt.rl.sample_factory.job import STEPS_FILE, Job
from rlgpt.rl.sample_factory.lanes import SampledLanes
from rlgpt.rl.sample_factory.shared_status import DECISIONS
from rlgpt.rl.step_counter import StepCounter
from rlgpt.testing.counting import BROKEN, TO_ROW, WANDER, counted, grid_spec
from rlgpt.testing.grid_lanes import lanes_spec
from sample_factory_parts import alloc_trajectory_tensors, get_rnn_size, job_of, made, opened

with warnings.catch_warnings():  # At import, the library calls torch.jit.script, which torch deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from rlgpt.rl.sample_factory.lane_runner import NO_DECISION, LaneRunner
    from sample_factory.algo.utils.shared_buffers import BufferMgr
    from sample_factory.utils.timing import Timing

SMALL = Hyperparameters(num_envs=4, num_steps=16, minibatch_size=32)
MODES = (AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP)


def lane_job(tmp_path: Path, spec: EnvSpec, **hyperparameters: Any) -> Job:
    folder = tmp_path / "train"
    folder.mkdir(parents=True, exist_ok=True)
    job = job_of(folder, spec, **hyperparameters)
    opened(job).close()
    return job


def actions_of(lane: int, decision: int) -> int:
    """The action of a lane, which depends only on the lane and on the number of its decision."""
    return int(np.random.default_rng([lane, decision]).integers(0, 7))


def test_lanes_give_the_same_transitions_as_single_environments(tmp_path: Path) -> None:
    """The same seeds and the same actions give the same observations, rewards, episodes, tags and counts."""
    single = lane_job(tmp_path / "a", grid_spec(tmp_path / "one", WANDER, TO_ROW, horizon=12), imitation_coef=0.5)
    several = lane_job(tmp_path / "b", lanes_spec(tmp_path / "lanes", WANDER, TO_ROW, horizon=12), imitation_coef=0.5)
    lanes, ready = SampledLanes(several, 0, 2), [0, 1]
    seen: list[list[Any]] = [[first] for first in lanes.reset()]
    figures: list[list[Any]] = [[], []]
    while min(map(len, figures)) < 40:
        chosen = np.array([[actions_of(lane, len(figures[lane]))] for lane in ready], np.float32)
        results = lanes.exchange(ready, chosen)
        ready = [lane for lane, _, _ in results]
        for lane, t, entries in results:
            seen[lane].append(entries)
            figures[lane].append((t.reward, t.terminated, t.truncated and not t.terminated, t.episode, t.usage))
    assert len(figures[0]) != len(figures[1]), "lanes decide at different times"
    lanes.close()
    decisions = 0
    for lane in range(2):
        env = Adapter.build(single, lane)
        (first,), _ = env.reset()
        got = [first]
        for number, want in enumerate(figures[lane]):
            (entries,), (reward,), (terminated,), (truncated,), (info,) = env.step([actions_of(lane, number)])
            ended = info.get("episode_extra_stats", {"episode": None, "usage": {}})
            assert (reward, terminated, truncated, ended["episode"], ended["usage"]) == want
            got.append(entries)
            decisions += 1
        assert EPISODE_TAG in first
        for ours, theirs in zip(seen[lane], got, strict=True):
            assert ours.keys() == theirs.keys()
            assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
        env.close()
    assert any(entries[LAST + "obs"].any() for entries in seen[0]), "some episodes are truncated"
    status = opened(several)
    assert status.spent(DECISIONS) == decisions
    status.close()
    for job, file in ((single, "one"), (several, "lanes")):
        with StepCounter(job.folder / STEPS_FILE, 2) as counter:
            assert counter.total == counted(tmp_path / file)
            assert min(counter.cells) > 0


def test_violations_in_a_lane_mask_the_action_in_the_next_episodes_of_all_lanes(tmp_path: Path) -> None:
    job = lane_job(tmp_path, lanes_spec(tmp_path / "count", BROKEN, WANDER, horizon=3))
    lanes, broken = SampledLanes(job, 0, 2), 5
    assert all(seen["action_mask"][broken] == 1 for seen in lanes.reset())
    for actions in ((broken, broken), (broken, 0)):
        results = lanes.exchange([0, 1], np.array(actions, np.float32)[:, None])
        assert all(seen["action_mask"][broken] == 1 for _, _, seen in results), "masks change between episodes"
    results = lanes.exchange([0, 1], np.zeros((2, 1), np.float32))
    assert all(t.truncated for _, t, _ in results)
    assert [list(seen["action_mask"][broken:]) for _, _, seen in results] == [[0, 1]] * 2
    lanes.close()


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # Sample Factory reads the variable, which its runner sets.


@contextmanager
def runner_of(job: Job) -> Iterator[tuple[Any, Any, Any]]:
    """A runner of lanes whose actions the test writes instead of the policy."""
    learner, info, cfg = made(job)
    buffers = BufferMgr(cfg, info)
    runner = LaneRunner(cfg, info, 2, 0, 0, buffers, "cpu", [None])
    runner.init(Timing())
    yield runner, buffers, learner
    runner.close()


def test_each_decision_of_a_lane_is_in_exactly_one_rollout(tmp_path: Path) -> None:
    job = lane_job(tmp_path, lanes_spec(tmp_path / "count", WANDER, TO_ROW))
    rng, asked = np.random.default_rng(0), dict[int, list[float]]({0: [], 1: []})
    kept = dict[int, list[float]]({0: [], 1: []})
    following: dict[int, np.ndarray] = {}
    sizes, carried = [], 0
    with runner_of(job) as (runner, buffers, learner):
        rollouts = 0
        while rollouts < 12:
            assert runner.update_trajectory_buffers(Timing())
            ((_, request),) = runner.generate_policy_request().items()
            for lane, agent, _, _ in request:
                output = np.zeros_like(runner.policy_output_tensors[lane, agent])
                output[0] = rng.choice(7, p=[0.12] * 5 + [0.2, 0.2])
                output[1:] = len(asked[lane])
                asked[lane].append(float(output[0]))
                runner.policy_output_tensors[lane, agent] = output
            finished, _ = runner.advance_rollouts(0, Timing())
            if not finished:
                continue
            rollouts += 1
            stored = runner.traj_tensors
            taken = [part["length"] for part in finished]
            assert sum(taken) >= 8 or max(taken) == 8
            for lane, part in enumerate(finished):
                index, length = part["traj_buffer_idx"], part["length"]
                assert (stored["policy_id"][index, :length] == 0).all()
                assert (stored["policy_id"][index, length:] == NO_DECISION).all()
                first = len(kept[lane])
                assert list(stored["values"][index, :length]) == list(range(first, first + length))
                kept[lane] += stored["actions"][index, :length].ravel().tolist()
                assert (stored["obs"]["duration"][index, 1 : length + 1] >= 1).all()
                if lane in following:
                    assert np.array_equal(stored["obs"]["obs"][index, 0], following[lane])
                following[lane] = stored["obs"]["obs"][index, length].copy()
                carried += lane not in runner._ready
            before = learner.env_steps
            batch = buffers.traj_tensors_torch["cpu"]
            with torch.no_grad():
                _, size, invalid = learner._prepare_batch(batch)
            assert (size, invalid, learner.env_steps) == (sum(taken), 0, before)
            sizes.append(size)
            for part in finished:
                buffers.traj_buffer_queues["cpu"].put(part["traj_buffer_idx"])
    assert carried > 0, "some decisions are not over at the end of a rollout"
    assert len(set(sizes)) > 1
    for lane in (0, 1):
        assert kept[lane] == asked[lane][: len(kept[lane])]
        assert len(asked[lane]) - len(kept[lane]) <= 1


def test_advantages_of_lanes_use_only_their_decisions(tmp_path: Path) -> None:
    """The buffer of a lane gives the same advantages with empty rows as without them."""
    job = lane_job(tmp_path, grid_spec(tmp_path / "count", WANDER), normalize_returns=False)
    learner, info, cfg = made(job)
    torch.manual_seed(0)

    def batch(rows: int) -> Any:
        return alloc_trajectory_tensors(info, 2, rows, get_rnn_size(cfg), torch.device("cpu"), False)

    long = batch(6)
    for values in long["obs"].values():
        values.copy_(torch.rand(values.shape))
    long["obs"]["duration"].copy_(torch.randint(1, 9, (2, 7, 1)))
    for key in ("rnn_states", "actions", "policy_version", "policy_id"):
        long[key].zero_()
    for key in ("values", "rewards", "action_logits", "log_prob_actions"):
        long[key].normal_()
    long["dones"].copy_(torch.rand(2, 6) < 0.3)
    long["dones"][0, 3] = False
    long["time_outs"].copy_(long["dones"] & (torch.rand(2, 6) < 0.5))
    lengths = (4, 0)
    short = batch(4)
    for entries, others in ((short, long), (short["obs"], long["obs"])):
        for key, values in entries.items():
            if torch.is_tensor(values):
                values.copy_(others[key][:, : values.shape[1]])
    short["policy_id"][1] = NO_DECISION
    for lane, length in enumerate(lengths):
        long["policy_id"][lane, length:] = NO_DECISION
        long["rewards"][lane, length:] = float("nan")
    results = []
    for rollouts in (long, short):
        learner.actor_critic.load_state_dict(results[0][1]) if results else None
        state = {key: value.clone() for key, value in learner.actor_critic.state_dict().items()}
        results.append((learner._prepare_batch(rollouts), state))
    ((one, size, _), _), ((other, _, _), _) = results
    assert size == sum(lengths)
    for key in ("advantages", "returns", "values", "rewards", "actions"):
        assert torch.equal(one[key], other[key])
    assert torch.equal(one["normalized_obs"]["obs"], other["normalized_obs"]["obs"])
    after = {key: value[0, 4:5] for key, value in learner.actor_critic.read(short["obs"]).items()}
    alone = learner.actor_critic.values(after).detach()
    want = short["rewards"][0, 3] + cfg.gamma ** short["obs"]["duration"][0, 4, 0] * alone - short["values"][0, 3]
    assert float(one["advantages"][3]) == pytest.approx(float(want), abs=1e-5)


def test_training_with_a_reset_option_or_without_a_batch_simulator_has_no_lanes(tmp_path: Path) -> None:
    assert learns_from_lanes(lanes_spec(tmp_path))
    assert not learns_from_lanes(grid_spec(tmp_path))
    assert not learns_from_lanes(lanes_spec(tmp_path, reset_option="near"))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_training_from_lanes_counts_every_step_resumes_and_quarantines(mode: AutoresetMode, tmp_path: Path) -> None:
    counter, folder = tmp_path / "count", tmp_path / "train"
    spec = lanes_spec(counter, TO_ROW, WANDER, BROKEN, mode=mode)
    before = 0
    for budget in (1200, 2000):
        record = SampleFactory().train(spec, budget=budget, seed=0, folder=folder, hyperparameters=SMALL)
        longest = SMALL.num_envs * 6
        assert budget <= record.primitive_steps == counted(counter) == SampleFactory().spent(folder)
        assert record.primitive_steps <= budget + 50 * longest
        assert record.decisions > before
        learned = Checkpoint.load(folder).state.decisions
        assert before < learned <= record.decisions
        before = learned
    assert record.quarantined == ("broken",)
    steps = [p.primitive_steps for p in record.curve]
    assert steps == sorted(set(steps))
    assert all(point.episodes > 0 for point in record.curve)


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_parallel_training_from_lanes_counts_every_step(asynchronous: bool, tmp_path: Path) -> None:
    spec = lanes_spec(tmp_path / "count", TO_ROW, WANDER)
    how = SampleFactorySettings(mode="parallel", workers=2, splits=2, asynchronous=asynchronous, startup_grace=900)
    settings = SMALL.model_copy(update={"imitation_coef": 0.5})
    record = SampleFactory(how).train(spec, budget=2500, seed=0, folder=tmp_path / "train", hyperparameters=settings)
    assert 2500 <= record.primitive_steps == counted(tmp_path / "count")
    kept = Checkpoint.load(tmp_path / "train").imitation
    assert kept is not None
    for seen in torch.split(kept["entry obs"], kept["lengths"].tolist()):  # agent 0:2, key 2:4, door 4:6, held 6
        assert bool((seen[:, 2:6] == seen[0, 2:6]).all()), "key and door do not move in one episode"
