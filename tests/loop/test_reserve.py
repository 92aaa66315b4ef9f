"""The reserve for evaluations: a budget without learning is refused; one that is mostly reserved gives a warning."""

import pytest
from rlgpt.agents.build import Agents, build_agents
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.loop import LoopSettings
from rlgpt.loop.reserve import check_budget, max_iterations, reserve, warning
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM


def task(horizon: int) -> Task:
    plugin = GridPlugin()
    return next(iter(plugin.tasks().values())).model_copy(update={"horizon": horizon})


def agents(kind: str, *, supports_vision: bool = False) -> Agents:
    return build_agents(kind, FakeLLM({}, supports_vision=supports_vision), GridPlugin(), task(1000))


def test_budget_without_learning_is_refused_with_advice() -> None:
    settings = LoopSettings(budget=4000)
    with pytest.raises(ConfigError, match="leaves nothing for learning: evaluations may take 10,000") as caught:
        check_budget(settings, task(1000), agents("rl_only"))
    message = str(caught.value)
    for way in (
        "accepted budget is budget=11112",
        "budget=20000 or more",
        "selection_episodes=2 or fewer",
        "horizon of 200 or less",
    ):
        assert way in message
    assert "iterations" not in message


def test_run_with_code_gets_a_warning() -> None:
    settings = LoopSettings(budget=60_000)
    check_budget(settings, task(3000), agents("slow_fast_critic"))
    message = warning(settings, task(3000), agents("slow_fast_critic"))
    assert "evaluations may take 90,000" in message
    assert "iterations=1" in message


def test_settings_that_the_message_advises_are_just_enough() -> None:
    for fit in ({"budget": 20_000}, {"budget": 4000, "selection_episodes": 2}):
        settings = LoopSettings(**fit)
        check_budget(settings, task(1000), agents("rl_only"))
        assert warning(settings, task(1000), agents("rl_only")) == ""
    assert warning(LoopSettings(budget=4000, selection_episodes=3), task(1000), agents("rl_only"))
    check_budget(LoopSettings(budget=11_112), task(1000), agents("rl_only"))
    with pytest.raises(ConfigError):
        check_budget(LoopSettings(budget=11_111), task(1000), agents("rl_only"))


def test_reserve_includes_frames_for_a_critic_with_vision() -> None:
    """One episode before each further iteration. Message and advice include it."""
    seeing, few = agents("slow_fast_critic", supports_vision=True), LoopSettings(iterations=3, selection_episodes=4)
    assert [reserve(few, task(1000), seeing, n) for n in (1, 2, 3)] == [4000, 13_000, 22_000]
    assert reserve(few, task(1000), agents("slow_fast_critic"), 3) == 20_000
    assert reserve(few, task(1000), agents("slow_fast", supports_vision=True), 3) == 20_000, "it has no critic"

    tight = few.model_copy(update={"budget": 30_000})
    message = warning(tight, task(1000), seeing)
    assert "22,000 ((5 x selection_episodes=4 + 2 for the critic's frames) x horizon=1,000)" in message
    assert "budget=44000 or more, or selection_episodes=2 or fewer, or a horizon of 681 or less" in message
    for change in ({"budget": 44_000}, {"selection_episodes": 2}):
        assert warning(tight.model_copy(update=change), task(1000), seeing) == ""
    assert warning(tight, task(681), seeing) == ""
    for change in ({"budget": 43_999}, {"selection_episodes": 3}):
        assert warning(tight.model_copy(update=change), task(1000), seeing)
    assert warning(tight, task(682), seeing)
    assert "selection_episodes=2" in warning(tight, task(1000), seeing)
    assert "or fewer" not in warning(tight.model_copy(update={"budget": 4000}), task(1000), seeing)


@pytest.mark.parametrize("kind", ["code_only", "untrained"])
def test_run_without_training_accepts_any_budget(kind: str) -> None:
    settings = LoopSettings(budget=1)
    check_budget(settings, task(1000), agents(kind))
    assert warning(settings, task(1000), agents(kind)) == ""


def test_run_with_one_selection_episode_gets_a_warning() -> None:
    settings = LoopSettings(budget=600, iterations=1, selection_episodes=1)
    check_budget(settings, task(1000), agents("slow_fast_critic"))
    assert warning(settings, task(1000), agents("slow_fast_critic")).startswith("warning: budget=600 leaves nothing")


@pytest.mark.parametrize(
    ("budget", "horizon", "episodes"),
    [
        (60_000, 280, 10),
        (200_000, 3000, 10),
        (60_000, 400, 10),
        (20_000, 1000, 10),
        (20_000, 1000, 5),
        (24_000, 280, 10),
    ],
    ids=["kitchen", "minecraft", "car", "furniture", "breakout", "demo"],
)
def test_budgets_of_benchmarks_and_demo_are_accepted(budget: int, horizon: int, episodes: int) -> None:
    settings = LoopSettings(budget=budget, iterations=1, selection_episodes=episodes)
    everyone = agents("slow_fast_critic")
    check_budget(settings, task(horizon), everyone)
    assert reserve(settings, task(horizon), everyone, max_iterations(settings, everyone)) == episodes * horizon
