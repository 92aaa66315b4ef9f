"""Environment checkers: gymnasium's checker on every extended task, and Stable-Baselines3's checker on its flat
view.
"""

from __future__ import annotations

import warnings

import pytest
from gymnasium.utils.env_checker import check_env
from rlgpt import CodedAction, Parameter, extend, flat_view
from rlgpt.options import ExtendedEnv
from rlgpt_kitchen.plugin import KitchenPlugin
from rlgpt_kitchen.tasks import make_tasks

TASKS = make_tasks()
FAST = ("kitchen/kettle", "kitchen/microwave_noisy", "kitchen/sequence_b")

ACTIONS = (
    CodedAction(
        name="shift",
        doc="Moves the hand along x.",
        source="def run(dx):\n    yield move_by(dx=dx)\n",
        parameters=(Parameter(name="dx", low=-0.1, high=0.1, default=0.05, doc="how far, m"),),
        max_steps=15,
    ),
    CodedAction(
        name="look",
        doc="Closes the fingers, early in the episode only.",
        source="def can_start(view):\n    return view['time'] < 0.5\n\n"
        "def run():\n    yield observe()\n    yield grasp()\n",
        max_steps=10,
    ),
)

every_task = pytest.mark.parametrize(
    "task", [pytest.param(name, id=name, marks=() if name in FAST else pytest.mark.slow) for name in TASKS]
)
each_number_of_actions = pytest.mark.parametrize("actions", [(), ACTIONS], ids=["K=0", "K=2"])


WRAPPER = "different from the unwrapped version"
"""gymnasium's advice to check the environment inside a wrapper. These tests check the wrapper."""
FLOAT64 = "Your action space has dtype float64"
"""Stable-Baselines3's advice about FrankaKitchen-v1's action space, which is unchanged without coded actions (K=0)."""


def extended(plugin: KitchenPlugin, task: str, actions: tuple[CodedAction, ...]) -> ExtendedEnv:
    return extend(plugin.make_env(TASKS[task], seed=0), actions, plugin=plugin, task=task)


@every_task
@each_number_of_actions
def test_extended_kitchen_environment_passes_check_env_of_gymnasium(
    task: str, actions: tuple[CodedAction, ...], plugin: KitchenPlugin
) -> None:
    env = extended(plugin, task, actions)
    env.action_space.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", f".*{WRAPPER}")
        check_env(env, skip_render_check=True)
    env.close()


@every_task
@each_number_of_actions
def test_flat_view_of_a_kitchen_environment_passes_check_env_of_stable_baselines(
    task: str, actions: tuple[CodedAction, ...], plugin: KitchenPlugin
) -> None:
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

    env = flat_view(extended(plugin, task, actions))
    env.action_space.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", FLOAT64)
        check_for_stable_baselines(env, warn=True, skip_render_check=True)
    env.close()
