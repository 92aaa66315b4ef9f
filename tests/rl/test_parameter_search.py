"""The parameter search, with which a training begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from rlgpt.domain import Parameter
from rlgpt.errors import ConfigError
from rlgpt.executors.local import InProcess
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.imitation import End
from rlgpt.rl.network import ActorCritic
from rlgpt.rl.parameter_search import FEWEST, FIRST, FOR_EACH, ParameterSearch, SearchState
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.rl.reach import reach
from rlgpt.rl.rollout import stack
from rlgpt.rl.sac import SAC
from rlgpt.rl.sac.network import SoftActorCritic
from rlgpt.testing.counting import TO_ROW, action, grid_spec
from rlgpt.testing.grid import TASKS

TO_COLUMN = action(
    "to_column",
    "def run(grip=3.0):\n"
    "    view = yield observe()\n"
    "    right = view['key'][1] - view['agent'][1]\n"
    "    if right:\n"
    "        yield go(direction='right' if right > 0 else 'left', cells=abs(right))\n"
    "    if grip > 5:\n"
    "        yield use()\n"
    "    else:\n"
    "        yield go(direction='up' if view['key'][0] else 'down', cells=1)\n",
    parameters=(Parameter(name="grip", low=1.0, high=9.0, default=3.0),),
)
"""With its default, this action leaves the key's cell without the key."""


def plan(folder: Path, **setup: Any) -> EnvSpec:
    return grid_spec(folder / "count", TO_ROW, TO_COLUMN, **{"plan_prior": 0.95, **setup})


def success(policy: Any, spec: EnvSpec) -> float:
    return evaluate(policy, spec, seeds=range(12), greedy=True).success_rate


def search_of(folder: Path) -> SearchState | None:
    return Checkpoint.load(folder).state.search


SETTINGS = Hyperparameters(num_envs=2, learning_rate=1e-5)


@pytest.mark.parametrize("trainer", [PPO, pytest.param(SAC, marks=pytest.mark.slow)])
def test_training_starts_from_the_parameters_that_its_search_found(trainer: Any, tmp_path: Path) -> None:
    spec, train = plan(tmp_path), trainer(parameter_search=0.8)
    untrained = train.untrained(spec, seed=0, hyperparameters=SETTINGS)
    record = train.train(spec, budget=1500, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS)
    assert success(untrained, spec) == 0.0
    assert success(train.load(tmp_path / "train", spec), spec) == 1.0
    assert record.search is not None
    assert record.search.ended is not None
    assert record.search.ended < 1200, "enough episodes for one parameter, before the steps of the search are used"
    assert 0 <= record.search.episodes - (FEWEST + FOR_EACH) < 20, "the search ends with a rollout"
    assert 0 < record.search.successes < record.search.episodes
    assert 5 < record.search.found["to_column.grip"] <= 9, "in the unit of the parameter"


def test_episodes_of_the_search_begin_at_the_start_of_the_task(tmp_path: Path) -> None:
    spec = plan(tmp_path, reset_option="after:to_row", reset_share=1.0)
    states = reach(spec, [TO_ROW], seeds=range(8), most_steps=1000).states
    assert len(states) == 8
    arguments: dict[str, Any] = {"budget": 200, "seed": 0, "hyperparameters": SETTINGS}
    late = PPO().train(replace(spec, starts=states), folder=tmp_path / "late", **arguments)
    own = PPO().train(plan(tmp_path), folder=tmp_path / "own", **arguments)
    assert late.search == own.search, "the search does not depend on the states"
    assert late.curve[0] == own.curve[0]
    assert late.curve[-1] != own.curve[-1], "the training after the search begins in the states"


def test_search_that_is_too_short_for_enough_episodes_ends_early(tmp_path: Path) -> None:
    """No episode of this task ends before its horizon."""
    spec = plan(tmp_path, task=TASKS["grid/door"].model_copy(update={"horizon": 20}))
    budget = 50 * spec.task.horizon
    record = PPO().train(spec, budget=budget, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS)
    assert record.search is not None
    assert record.search.ended is not None
    assert record.search.ended < 0.4 * budget, "not the default share of 0.5"
    assert record.search.found == {}
    assert record.primitive_steps >= budget


def test_search_can_have_a_result_if_its_shortest_episode_is_short_enough(tmp_path: Path) -> None:
    env = build(plan(tmp_path), seed=0)
    observation, _ = env.reset(seed=0)
    inputs, generator = stack([observation]), torch.Generator().manual_seed(0)
    search = ParameterSearch(ActorCritic.of(env, Hyperparameters(), seed=0), 0.6, SearchState())
    for number, steps in enumerate([100] * 9 + [50]):
        assert not search.is_over(1), f"{number} episodes do not decide"
        search.choose(inputs, [0], generator)
        search.add(SimpleNamespace(ends=((End(0, False, 0.0, steps),),)))  # type: ignore[arg-type]
    assert search.is_over(1499)
    assert not search.is_over(1500)


def test_search_takes_no_more_than_its_share_of_the_steps(tmp_path: Path) -> None:
    record = PPO(parameter_search=0.3).train(
        plan(tmp_path), budget=1000, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS
    )
    assert record.search is not None
    assert record.search.episodes < FEWEST + FOR_EACH
    assert record.search.ended is not None
    assert 300 <= record.search.ended < 320, "within one decision of each environment"


def test_search_with_enough_episodes_ends_in_the_middle_of_a_long_segment(tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"num_steps": 8})
    record = PPO(segments=1).train(
        plan(tmp_path), budget=3000, seed=0, folder=tmp_path / "train", hyperparameters=settings
    )
    assert record.search is not None
    assert 0 <= record.search.episodes - (FEWEST + FOR_EACH) <= 16, "one rollout has 16 decisions"
    assert record.search.ended is not None
    assert record.search.ended < 1500


@pytest.mark.parametrize("workers", [0, 4])
def test_a_fifth_of_the_first_episodes_of_a_search_has_the_defaults(workers: int, tmp_path: Path) -> None:
    PPO(workers=workers, segments=3).on(InProcess).train(
        plan(tmp_path),
        budget=2400,
        seed=0,
        folder=tmp_path / "train",
        hyperparameters=Hyperparameters(num_envs=8, num_steps=8, learning_rate=1e-5),
        progress=lambda point: True,
    )
    search = search_of(tmp_path / "train")
    assert search is not None
    assert len(search.points) >= FIRST
    assert 1 <= search.points[:FIRST].count((0.0,)) <= 3


def test_search_goes_on_after_the_training_was_interrupted(tmp_path: Path) -> None:
    spec, folder, found = plan(tmp_path), tmp_path / "train", list[SearchState | None]()
    arguments: dict[str, Any] = {"budget": 1000, "seed": 1, "folder": folder, "hyperparameters": SETTINGS}
    trainer = PPO(parameter_search=0.8, segments=8)
    stopped = trainer.train(spec, **arguments, progress=lambda point: True)
    found.append(search_of(folder))
    record = trainer.train(spec, **arguments)
    found.append(search_of(folder))
    assert stopped.search is not None
    assert (stopped.search.ended, stopped.search.found) == (None, {})
    assert record.search is not None
    assert record.search.episodes > stopped.search.episodes
    first, last = found
    assert first is not None
    assert last is not None
    assert (first.ended is None, last.ended is None) == (True, False)
    assert len(last.points) > len(first.points) > 0
    assert last.points[: len(first.points)] == first.points


@pytest.mark.parametrize("length", [20, 60])
def test_resumed_search_ends_when_the_unbroken_search_ends(length: int, tmp_path: Path) -> None:
    env = build(plan(tmp_path), seed=0)
    network = ActorCritic.of(env, Hyperparameters(), seed=0)
    inputs, generator = stack([env.reset(seed=0)[0]]), torch.Generator().manual_seed(0)
    search = ParameterSearch(network, 0.6, SearchState())
    for _ in range(FIRST):
        search.choose(inputs, [0], generator)
        search.add(SimpleNamespace(ends=((End(0, False, 0.0, length),),)))  # type: ignore[arg-type]
    resumed = ParameterSearch(network, 0.6, search.state)
    for end in (FEWEST * length - 1, FEWEST * length):
        assert search.is_over(end) is resumed.is_over(end) is (end < FEWEST * length)


@pytest.mark.parametrize("changes", [{"plan_prior": 0.0}, {"coded_actions": ("to_row",)}])
def test_training_has_no_search_without_a_plan_or_without_parameters(changes: dict[str, Any], tmp_path: Path) -> None:
    spec = plan(tmp_path, **changes)
    PPO().train(spec, budget=100, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS)
    assert search_of(tmp_path / "train") is None
    assert PPO().train(spec, budget=100, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS).search is None


def test_policy_that_starts_from_an_earlier_one_does_not_search(tmp_path: Path) -> None:
    spec, first, second = plan(tmp_path), tmp_path / "first", tmp_path / "second"
    PPO().train(spec, budget=100, seed=0, folder=first, hyperparameters=SETTINGS)
    PPO().train(spec, budget=100, seed=0, folder=second, hyperparameters=SETTINGS, warm_start=first)
    assert search_of(first) is not None
    assert search_of(second) is None


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_share_of_the_budget_for_the_search_is_checked(share: float) -> None:
    with pytest.raises(ConfigError, match="parameter_search"):
        PPO(parameter_search=share)


@pytest.mark.parametrize("best", [-0.7, 0.0, 0.6])
def test_search_finds_the_best_parameter_from_noisy_results(best: float, tmp_path: Path) -> None:
    env = build(plan(tmp_path), seed=0)
    network = ActorCritic.of(env, Hyperparameters(), seed=0)
    observation, _ = env.reset(seed=0)
    inputs, generator = stack([observation]), torch.Generator().manual_seed(0)
    search = ParameterSearch(network, 0.6, SearchState())
    for _ in range(60):
        tried = float(search.choose(inputs, [0], generator)[0, -1])
        result = -4 * (tried - best) ** 2 + 0.3 * float(torch.randn(1, generator=generator))
        search.add(SimpleNamespace(ends=((End(0, False, result),),)))  # type: ignore[arg-type]
    search.finish(generator)
    with torch.no_grad():
        mean = float(network.distribution(inputs).mode()[0, -1])
    assert mean == pytest.approx(best, abs=0.25)


def test_policy_that_starts_from_a_search_explores_a_quarter_as_much(tmp_path: Path) -> None:
    env = build(plan(tmp_path, plan_prior=0.96), seed=0)
    network = ActorCritic.of(env, Hyperparameters(initial_std=0.6), seed=0)
    observation, _ = env.reset(seed=0)
    inputs, generator = stack([observation] * 4000), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for plans_choice, spread in ((0.96, 0.6), (0.99, 0.15)):
            found = network.distribution(inputs)
            assert float(found.probabilities[0].max()) == pytest.approx(plans_choice, abs=0.002)
            assert float(found.sample(generator)[:, -1].std()) == pytest.approx(spread, rel=0.05)
            network.start_from(torch.zeros(1))


def test_soft_actor_critic_that_starts_from_a_search_explores_a_quarter_as_much(tmp_path: Path) -> None:
    env = build(plan(tmp_path, plan_prior=0.8), seed=0)
    network = SoftActorCritic.of(env, Hyperparameters(initial_std=0.6), seed=0, width=8, temperature=0.3)
    observation, _ = env.reset(seed=0)
    inputs, generator = stack([observation] * 4000), torch.Generator().manual_seed(0)
    for plans_choice, spread, mean in ((0.8, 0.6, None), (0.95, 0.15, 0.5)):
        with torch.no_grad():
            flat = network.distribution(inputs).sample(generator)
            probabilities = network.prior(inputs).exp()
        assert float(probabilities[0].max()) == pytest.approx(plans_choice, abs=1e-5)
        chosen = flat[:, 0] == probabilities[0].argmax()
        assert float(chosen.float().mean()) == pytest.approx(plans_choice, abs=0.02)
        parameter = flat[chosen, -1]
        median, nearer = torch.quantile(parameter * parameter.median().sign(), torch.tensor([1 / 2, 1 / 6]))
        assert float(median - nearer) == pytest.approx(spread, rel=0.1)
        assert mean is None or float(median) == pytest.approx(mean, abs=0.02)
        network.start_from(torch.tensor([0.5]))


def test_few_episodes_leave_the_default_parameters(tmp_path: Path) -> None:
    env = build(plan(tmp_path), seed=0)
    network = ActorCritic.of(env, Hyperparameters(), seed=0)
    before = network.output.bias.clone()
    search = ParameterSearch(
        network, 0.6, SearchState(points=((1.0,),) * 29, successes=(True,) * 29, returns=(1.0,) * 29)
    )
    search.finish(torch.Generator())
    assert torch.equal(network.output.bias, before)
    assert search.state.record(network.layout).found == {}


@pytest.mark.parametrize("count", [40, 150])
def test_search_without_an_effect_ends_near_the_defaults(count: int, tmp_path: Path) -> None:
    """Results that do not depend on the parameters, or only decline away from the defaults, move them little: the law
    that keeps a search from making good code worse.
    """
    settings = Hyperparameters(initial_std=0.3)
    env = build(plan(tmp_path), seed=0)
    for decline in (0.0, 0.3):
        network = ActorCritic.of(env, settings, seed=0)
        size, drawn = 1, torch.Generator().manual_seed(1)
        default = float(network.output.bias[-1].detach())
        points = torch.randn(count, size, generator=drawn, dtype=torch.float64)
        successes = torch.rand(count, generator=drawn) < 0.5 * torch.exp(-decline * points[:, 0] ** 2)
        state = SearchState(
            points=tuple(map(tuple, points.tolist())),
            successes=tuple(map(bool, successes.tolist())),
            returns=tuple(map(float, successes.tolist())),
        )
        ParameterSearch(network, settings.initial_std, state).finish(torch.Generator().manual_seed(2))
        assert abs(float(network.output.bias[-1].detach()) - default) < settings.initial_std
