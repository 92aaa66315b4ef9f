"""The two values of the fork environment, compared with value iteration over the real environment."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from rlgpt.testing.smdp import CELLS, FORWARD, GAMMA, TAKE, TASK, ForkEnv, ForkPlugin, values


def _step(cell: int, action: int) -> tuple[int, float, bool]:
    env = ForkEnv()
    env.reset(seed=0)
    for _ in range(cell):
        env.step(np.int64(FORWARD))
    _, reward, terminated, _, _ = env.step(np.int64(action))
    return env.cell, reward, terminated


def _walk(cell: int) -> tuple[int, int]:
    return CELLS, CELLS - cell


@pytest.mark.parametrize("semi_markov", [True, False])
def test_values_of_the_fork_environment_equal_value_iteration(semi_markov: bool) -> None:
    model = {(c, a): _step(c, a) for c in range(CELLS + 1) for a in (FORWARD, TAKE)}
    value = np.zeros(CELLS + 1)
    for _ in range(200):
        q = {k: r + (0.0 if done else GAMMA * value[c]) for k, (c, r, done) in model.items()}
        for cell in range(CELLS + 1):
            options = [q[cell, FORWARD], q[cell, TAKE]]
            if cell < CELLS:
                end, steps = _walk(cell)
                options.append(GAMMA ** (steps if semi_markov else 1) * value[end])
            value[cell] = max(options)
    walk = GAMMA ** (CELLS if semi_markov else 1) * value[CELLS]
    assert {"take": q[0, TAKE], "walk": walk} == pytest.approx(values(semi_markov=semi_markov))


def test_best_choice_in_the_fork_environment_depends_on_the_semi_markov_discount() -> None:
    proper, naive = values(semi_markov=True), values(semi_markov=False)
    assert proper["take"] > proper["walk"] + 0.2
    assert naive["walk"] > naive["take"] + 0.2


def test_fork_environment_passes_check_env_of_gymnasium() -> None:
    check_env(ForkPlugin().make_env(TASK, seed=0), skip_render_check=True)


def test_fork_environment_ends_with_success_when_the_near_reward_is_taken() -> None:
    env = ForkEnv()
    env.reset(seed=0)
    assert env.step(np.int64(TAKE))[1:] == (0.6, True, False, {"success": True})
