"""The vector environment of a task, compared with single environments with the same seeds and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rlgpt import CodedAction, extend, extend_vector
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.options.simulator import infos_of
from rlgpt.plugin.states import same
from rlgpt.plugin.types import Context
from rlgpt_minecraft.actions import BaseActions
from rlgpt_minecraft.columns import rounded
from rlgpt_minecraft.moves import SPACE
from rlgpt_minecraft.plugin import MinecraftPlugin
from rlgpt_minecraft.vector import MinecraftVector

COUNT, HORIZON = 2, 8
PLUGIN = MinecraftPlugin()
WALK = CodedAction(
    name="go",
    doc="Walk.",
    source="def can_start(view):\n    return view['life'] > 0\n\ndef run():\n    yield walk(metres=0.7)\n",
)


def task_of(name: str, **settings: str) -> Task:
    task = PLUGIN.tasks()[f"minecraft/{name}"]
    return task.model_copy(update={"settings": {**task.settings, **settings}, "horizon": HORIZON})


def random_actions(rng: np.random.Generator, hands: int) -> list[np.ndarray]:
    """Base choices for the first environment; for the second one MineDojo's own numbers, as primitives yield them."""
    low = rng.integers(SPACE.nvec)
    low[3:5], low[5] = rng.integers(11, 14, 2), rng.choice([0, 1, 3, 3, 3, low[5]])
    return [np.array([rng.choice([0, 1, 5, 8, 9, 10, 11]), rng.integers(hands)]), low]


def assert_same_readings(ours: Context, theirs: Context, view: Any, numbers: Any) -> None:
    """The view, the policy's numbers and the reward terms are equal, and so is what primitives read."""
    expected = PLUGIN.view(theirs)
    assert list(view) == list(expected)
    assert [repr(view[key]) for key in expected] == [repr(value) for value in expected.values()]
    assert PLUGIN.view(ours) == expected
    assert same(dict(numbers), PLUGIN.policy_view(theirs))
    for term in PLUGIN.reward_terms(theirs.task):
        assert term.value(ours) == term.value(theirs), term.name
    mine, other = (ctx.model.read(ctx.observation) for ctx in (ours, theirs))
    for thing, sight in other.sights.items():
        assert mine.sights[thing] == sight
        assert np.array_equal(mine.sights[thing].hits, sight.hits)
    assert (mine.crosshair, mine.hand, mine.inventory) == (other.crosshair, other.hand, other.inventory)


@pytest.mark.parametrize(
    ("name", "settings"), [("harvest_milk", {}), ("furnace", {"tier": "paper"}), ("harvest_log", {"actions": "paper"})]
)
def test_each_environment_of_the_vector_equals_a_single_environment(name: str, settings: dict[str, str]) -> None:
    task, rng = task_of(name, **settings), np.random.default_rng(0)
    venv = PLUGIN.make_vector(task, count=COUNT, seed=0)
    assert isinstance(venv, MinecraftVector)
    envs = [PLUGIN.make_env(task, seed=0) for _ in range(COUNT)]
    rows, infos = venv.reset(seed=7)
    alone = [env.reset(seed=7 + i) for i, env in enumerate(envs)]
    for step in range(HORIZON + 3):
        parts = infos_of(infos, COUNT)
        ours = [Context(task, rows[i], parts[i], step, rng, PLUGIN.lane_model(venv, i)) for i in range(COUNT)]
        theirs = [Context(task, *alone[i], step, rng, PLUGIN.model(envs[i])) for i in range(COUNT)]
        for i, (view, numbers) in enumerate(zip(PLUGIN.views(ours), PLUGIN.policy_views(ours), strict=True)):
            assert same(parts[i], alone[i][1])
            assert_same_readings(ours[i], theirs[i], view, numbers)
            assert same(dict(rows[i]), alone[i][0])
        actions = random_actions(rng, venv.single_action_space.nvec[1])
        rows, rewards, terminated, truncated, infos = venv.step(actions)
        results = [env.step(action) for env, action in zip(envs, actions, strict=True)]
        assert [result[1:4] for result in results] == list(zip(rewards, terminated, truncated, strict=True))
        alone = [(result[0], result[4]) for result in results]
        if (over := terminated | truncated).any():
            rows, infos = venv.reset(seed=[step + 50, step + 60], options={"reset_mask": over})
            for i in np.flatnonzero(over):
                alone[i] = envs[i].reset(seed=step + 50 + 10 * int(i))
    assert step > HORIZON
    assert rows in venv.observation_space


def test_a_coded_action_gives_the_same_decisions_in_lanes_as_in_a_single_environment() -> None:
    """Primitives yield MineDojo's numbers, so lanes with base choices and lanes with such numbers move in one call."""
    task = task_of("harvest_log").model_copy(update={"horizon": 200})
    venv, more = PLUGIN.make_vector(task, count=COUNT, seed=0), {"plugin": PLUGIN, "task": task}
    more["reward_weights"] = PLUGIN.default_setup(task).reward_weights
    assert venv is not None
    lanes = extend_vector(venv, [WALK], **more)

    def choice(lane: int, number: int) -> Any:
        return lanes.extension.write("go") if (lane + number) % 2 == 0 else (0, 1, 2)

    lanes.reset(seed=7)
    decided: list[list[Any]] = [[] for _ in range(COUNT)]
    lanes.send({lane: choice(lane, 0) for lane in range(COUNT)})
    while min(map(len, decided)) < 3:
        arrived = lanes.recv()
        for a in arrived:
            decided[a.lane].append((a.reward, a.info["duration"], a.info["action"], a.info["reward_terms"]))
        lanes.send({a.lane: choice(a.lane, len(decided[a.lane])) for a in arrived})
    lanes.close()
    for lane, decisions in enumerate(decided):
        env = extend(PLUGIN.make_env(task, seed=0), [WALK], **more)
        env.reset(seed=7 + lane)
        for number, expected in enumerate(decisions):
            _, reward, _, _, info = env.step(choice(lane, number))
            assert (reward, info["duration"], info["action"], info["reward_terms"]) == expected
        env.close()
    assert max(duration for decisions in decided for _, duration, *_ in decisions) > 1


def test_tasks_with_pictures_and_in_minedojo_have_no_vector() -> None:
    assert PLUGIN.make_vector(task_of("harvest_milk_rgb"), count=1, seed=0) is None
    assert PLUGIN.make_vector(task_of("harvest_log", backend="minedojo"), count=1, seed=0) is None


def test_rounded_equals_round_for_halves_and_for_values_beside_them() -> None:
    halves = np.arange(-400, 400) / 8 + 0.05
    values = np.concatenate([halves, np.nextafter(halves, 100), np.nextafter(halves, -100), [0.125, 2.675, -0.04]])
    for digits in (0, 1, 2, 4):
        assert [repr(v) for v in rounded(values, digits)] == [repr(round(v, digits)) for v in values.tolist()]


@pytest.mark.parametrize("wrong", [[[12, 0], [0, 0]], [[0, 0]], [[0.0, 0.0], [1.0, 0.0]]])
def test_pairs_outside_the_action_space_are_refused(wrong: list[list[float]]) -> None:
    actions = BaseActions(("no_op", "attack"))
    with pytest.raises(ConfigError, match="2 pairs"):
        actions.translate_each(np.array(wrong), np.zeros((2, 36), np.int64))
