"""Broken variants of the grid plugin. The contract tests must report for each variant the law (contract test) that it
breaks.
"""

import contextlib
import itertools
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from rlgpt.domain import Parameter
from rlgpt.errors import StateError
from rlgpt.plugin.states import AttributeStates, OwnStates
from rlgpt.plugin.types import Labels, Primitive, ResetOption, RewardTerm, StateCodec, ViewKey
from rlgpt.testing import Effort, PluginContract, stage
from rlgpt.testing.contract.broken import OF_THE_MODULE, broken_laws, laws_of
from rlgpt.testing.contract.causes import CAUSES
from rlgpt.testing.grid import DIRECTIONS, USE, GridEnv, GridPlugin
from rlgpt.testing.scored import Walk, WalkPlugin


class WithEnv(GridPlugin):
    """A plugin with a broken environment."""

    env: type[GridEnv]

    def make_env(self, task, *, seed, render_mode=None):
        return self.env(task.id.split("/")[1], task.horizon, render_mode)


def with_env(env_class) -> GridPlugin:
    return type("Broken", (WithEnv,), {"env": env_class})()


def with_hook(name: str, value) -> GridPlugin:
    """Return the grid plugin with one changed method, which returns ``value(original result, task or context)``."""

    def hook(self, *args):
        return value(getattr(GridPlugin, name)(self, *args), *args)

    return type("Broken", (GridPlugin,), {name: hook})()


def with_primitive(name, run, parameters=(), outcome=None, max_steps=40) -> GridPlugin:
    extra = Primitive(name, "Do it.", run, parameters, outcome or {}, max_steps)
    return with_hook("primitives", lambda usual, task: (*usual, extra))


class Lenient(StateCodec):
    """Ignores states that the plugin's own codec refuses."""

    def __init__(self, inner: StateCodec) -> None:
        self.inner = inner

    def save(self, env):
        return self.inner.save(env)

    def restore(self, env, state, *, seed=None):
        with contextlib.suppress(StateError):
            self.inner.restore(env, state, seed=seed)


class Trusting(AttributeStates):
    """A state codec that restores a number from bytes without a check."""

    def save(self, env):
        return b"%d" % env.unwrapped.steps

    def restore(self, env, state, *, seed=None):
        env.unwrapped.steps = int(state)


class DeafToSeeds(AttributeStates):
    """A state codec whose restore with a seed does not reseed the random generator."""

    def restore(self, env, state, *, seed=None):
        rng = env.np_random
        super().restore(env, state)
        if seed is not None:
            env.unwrapped.np_random = rng


class Slippery(GridPlugin):
    """A grid in which every second move fails."""

    def make_env(self, task, *, seed, render_mode=None):
        return GridEnv(task.id.split("/")[1], task.horizon, render_mode, slip=0.5)

    def states(self, task):
        return DeafToSeeds()


class SuccessAtTheEnd(GridEnv):
    def step(self, action):
        *rest, terminated, truncated, info = super().step(action)
        return *rest, terminated, truncated, info if terminated else {}


class SuccessOfNumpy(GridEnv):
    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {"success": np.bool_(info["success"])}


class NeverTruncated(GridEnv):
    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, False, info


class TruncatedEarly(GridEnv):
    def __init__(self, goal, horizon, render_mode=None):
        super().__init__(goal, horizon - 1, render_mode)


STARTS = itertools.count()


class Unseeded(GridEnv):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.agent = divmod(next(STARTS) % 49, 7)
        return self._observation(), {"success": False}


class Remembers(GridEnv):
    """An environment in which an episode begins at the last position of the episode before."""

    def reset(self, *, seed=None, options=None):
        was = self.agent
        super().reset(seed=seed, options=options)
        self.agent = was
        return self._observation(), {"success": False}


class OutOfSpace(GridEnv):
    def _observation(self):
        return super()._observation() + np.float32(1)


class StartsSolved(GridEnv):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"success": True}


class FloatFrames(GridEnv):
    def render(self):
        return super().render() / 255


def fetch(ctx):
    """A primitive that solves grid/key alone."""
    while not ctx.model.holding:
        (row, column), (goal_row, goal_column) = ctx.model.agent, ctx.model.key
        if row != goal_row:
            yield DIRECTIONS.index("up" if row > goal_row else "down")
        elif column != goal_column:
            yield DIRECTIONS.index("left" if column > goal_column else "right")
        else:
            yield USE


def forever(ctx):
    while True:
        yield 0


def teleport(ctx):
    ctx.model.agent = (3, 3)
    yield USE


def sixth_action(ctx):
    yield 5


def unseeded_steps(ctx):
    for _ in range(int(np.random.default_rng().integers(1, 7))):
        yield 0
    ctx.model.agent = (int(np.random.default_rng().integers(7)), 3)
    yield 0


def says_more(ctx):
    yield 0
    return {"moved": 1, "blocked": False}


def says_numpy(ctx):
    yield 0
    return {"moved": np.float32(1)}


def looks_and_moves(view, ctx):
    ctx.model.agent = (0, 0)
    return view


def leaky_term(usual, task):
    return (*usual, RewardTerm("hurry", "be quick", lambda ctx: 1 - ctx.step / 10, "step"))


FAULTS = {
    "ids without the prefix": (
        with_hook("tasks", lambda t: {"other/key": replace_id(t["grid/key"])}),
        "test_tasks_are_keyed_by_ids_that_start_with_the_name",
    ),
    "success only at the end": (with_env(SuccessAtTheEnd), "test_success_is_a_bool_at_every_step"),
    "success of numpy": (with_env(SuccessOfNumpy), "test_success_is_a_bool_at_every_step"),
    "solved at reset": (with_env(StartsSolved), "test_no_episode_starts_solved"),
    "never truncated": (with_env(NeverTruncated), "test_episodes_are_truncated_at_the_horizon"),
    "truncated early": (with_env(TruncatedEarly), "test_episodes_are_truncated_at_the_horizon"),
    "unseeded start": (with_env(Unseeded), "test_the_seed_determines_the_episode"),
    "state leaks": (with_env(Remembers), "test_the_seed_determines_the_episode"),
    "observation out of its space": (with_env(OutOfSpace), "test_it_passes_check_env"),
    "frames of floats": (with_env(FloatFrames), "test_frames_are_images"),
    "undocumented view key": (with_hook("view", lambda v, ctx: {**v, "x": 1}), "test_the_view_matches_its_keys"),
    "view of numpy": (with_hook("view", lambda v, ctx: {**v, "agent": ctx.observation[:2]}), "test_the_view_matches"),
    "view of tuples": (with_hook("view", lambda v, ctx: {**v, "agent": ctx.model.agent}), "test_the_view_matches"),
    "view with NaN": (with_hook("view", lambda v, ctx: {**v, "holding": float("nan")}), "test_the_view_matches"),
    "view of another size": (with_hook("view", lambda v, ctx: {**v, "agent": [1]}), "test_the_view_matches"),
    "view too large": (with_hook("view", lambda v, ctx: {**v, "map": "x" * 9000}), "test_the_view_fits_the_sandbox"),
    "view that acts": (with_hook("view", looks_and_moves), "test_views_and_reward_terms_have_no_side_effects"),
    "view key twice": (with_hook("view_keys", lambda k, task: (*k, k[0])), "test_view_keys_are_documented"),
    "view key without doc": (
        with_hook("view_keys", lambda k, task: (*k[:-1], ViewKey("map", ""))),
        "test_view_keys_are_documented",
    ),
    "policy view without a documented key": (
        with_hook("view_keys", lambda k, task: (*k, ViewKey("cells", "the cells", size=49, alone=True))),
        "test_the_policy_view_matches_its_keys",
    ),
    "policy view of another size": (
        type(
            "Broken",
            (GridPlugin,),
            {
                "view_keys": lambda self, task: (
                    *GridPlugin.view_keys(self, task),
                    ViewKey("cells", "the cells", size=9, alone=True),
                ),
                "policy_view": lambda self, ctx: {"cells": np.zeros((7, 7))},
            },
        )(),
        "test_the_policy_view_matches_its_keys",
    ),
    "endless summary": (with_hook("summarize", lambda s, view: s * 99), "test_summaries_are_short"),
    "a label is missing": (with_hook("labels", lambda x, task: Labels(DIRECTIONS)), "test_labels_name_every_part"),
    "setup with an unknown reward term": (
        with_hook("default_setup", lambda s, task: s.model_copy(update={"reward_weights": {"near_ky": 1.0}})),
        "test_the_default_setup_uses_existing_names",
    ),
    "policy sees text": (
        with_hook("default_setup", lambda s, task: s.model_copy(update={"observation_keys": ("map",)})),
        "test_the_default_setup_uses_existing_names",
    ),
    "term out of bounds": (with_hook("reward_terms", leaky_term), "test_reward_terms_keep_their_bounds"),
    "term without bounds": (
        with_hook(
            "reward_terms", lambda t, task: [replace(x, name="mine") if x.name == "env_reward" else x for x in t]
        ),
        "test_reward_terms_are_documented",
    ),
    "reset option without effect": (
        with_hook("reset_options", lambda o, task: [ResetOption("far", "starts far away", {"start": "far"})]),
        "test_reset_options_start_elsewhere",
    ),
    "primitive that solves": (with_primitive("fetch", fetch), "test_no_single_call_is_a_solution"),
    "primitive without end": (
        with_primitive("forever", forever, max_steps=20),
        "test_primitives_yield_valid_actions_and_end",
    ),
    "primitive with an invalid action": (
        with_primitive("sixth", sixth_action),
        "test_primitives_yield_valid_actions_and_end",
    ),
    "primitive that teleports": (with_primitive("teleport", teleport), "test_primitives_act_through_actions_only"),
    "primitive without a seed": (with_primitive("chance", unseeded_steps), "test_primitives_act_through_actions_only"),
    "outcome not as documented": (
        with_primitive("says", says_more, outcome={"moved": "cells"}),
        "test_outcomes_are_as_documented",
    ),
    "outcome of numpy": (
        with_primitive("says", says_numpy, outcome={"moved": "cells"}),
        "test_outcomes_are_as_documented",
    ),
    "primitive named twice": (with_primitive("go", forever), "test_primitives_are_documented"),
    "knowledge without end": (with_hook("knowledge", lambda k, task: k + "." * 10_000), "test_knowledge_is_bounded"),
    "states without a counter": (
        with_hook("states", lambda codec, task: AttributeStates(constants=["steps"])),
        "test_episodes_go_on_from_a_saved_state_bit_for_bit",
    ),
    "states that are not checked": (
        with_hook("states", lambda codec, task: Trusting()),
        "test_damaged_states_are_refused",
    ),
    "states that may be incomplete": (
        with_hook("states", lambda codec, task: Lenient(codec)),
        "test_damaged_states_are_refused",
    ),
    "states without a seed": (Slippery(), "test_a_seed_decides_what_is_random_after_a_restore"),
    "unknown hyperparameter": (
        with_hook("trainer_defaults", lambda d, task: {"learning_rat": 1e-3}),
        "test_trainer_defaults_are_hyperparameters",
    ),
}


def replace_id(task):
    return task.model_copy(update={"id": "other/key"})


@pytest.mark.parametrize(("plugin", "law"), FAULTS.values(), ids=FAULTS)
def test_contract_tests_report_the_broken_law_of_a_faulty_plugin(plugin, law: str) -> None:
    """Only the cause laws, which can hide this law, and the law itself are tried."""
    found = broken_laws(
        plugin, laws=[name for name in laws_of(PluginContract) if name in CAUSES or name.startswith(law)]
    )
    hits = [text for name, text in found.items() if name.startswith(law)]
    assert hits, f"{law} is among none of {found}"
    assert re.search(r"[.!?\]}]$|valid|must|unexpected|permitted", hits[0].strip()), f"a law says what to do: {hits[0]}"


def returns_only(ctx):
    return {"moved": 1}


def thinks_forever(ctx):
    while True:
        pass
    yield 0


def remembers_two(ctx):
    ctx.memory["two"] = 2.0
    yield 0


def with_term(value) -> GridPlugin:
    return with_hook("reward_terms", lambda usual, task: (*usual, RewardTerm("extra", "more", value)))


class RemembersTwo(GridPlugin):
    """A plugin with a reward term that is out of its bounds only after a call of one primitive."""

    def primitives(self, task):
        return (*super().primitives(task), Primitive("remember", "Do it.", remembers_two))

    def reward_terms(self, task):
        return (*super().reward_terms(task), RewardTerm("extra", "more", lambda ctx: ctx.memory.get("two", 1.0)))


class Misspelt(Walk):
    """An environment that reports the metric of its score under another name."""

    def step(self, action):
        *rest, _ = super().step(action)
        return *rest, {"metrics": {"row": 1, "wlaked": 1}}


class ScoreMisspelt(WalkPlugin):
    def make_env(self, task, *, seed, render_mode=None):
        return Misspelt(GridEnv("key", task.horizon, render_mode))


class ScoreAtTheEnd(Walk):
    def step(self, action):
        *rest, truncated, info = super().step(action)
        return *rest, truncated, info if truncated else {}


@dataclass
class Thing:
    weight: float = 1.0


class HoldsThing(GridEnv):
    def reset(self, *, seed=None, options=None):
        self.thing = Thing()
        return super().reset(seed=seed, options=options)


class StartsNear(GridEnv):
    """An environment that knows whether a reset option began its episode."""

    def reset(self, *, seed=None, options=None):
        self.near = bool(options)
        return super().reset(seed=seed, options=options)

    @staticmethod
    def terms(plugin, task):
        return (
            *GridPlugin.reward_terms(plugin, task),
            RewardTerm("near", "beside the key", lambda ctx: 2.0 * ctx.model.near),
        )


class Raises(GridEnv):
    def step(self, action):
        raise ValueError("the motor is off")


@pytest.mark.parametrize(
    ("plugin", "law", "says"),
    [
        (with_env(Raises), "test_it_can_be_played", "step() from step 0 raised ValueError: the motor is off"),
        (with_hook("view", lambda v, ctx: v["nothing"]), "test_it_can_be_played", "view(ctx) raised KeyError"),
        (with_hook("view", lambda v, ctx: {**v, "x": 1}), "test_the_view_matches_its_keys", "differ in ['x']"),
        (with_hook("labels", lambda x, task: Labels(DIRECTIONS)), "test_labels_name_every_part", "4 labels"),
        (with_env(Unseeded), "test_the_seed_determines_the_episode", "give different starts"),
        (with_env(OutOfSpace), "test_it_passes_check_env", ""),
        (
            with_primitive("says", returns_only),
            "test_primitives_yield_valid_actions_and_end",
            "the primitive 'says' returned {'moved': 1}, a dict. A primitive must be a generator function",
        ),
        (
            with_primitive("think", thinks_forever),
            "test_primitives_yield_valid_actions_and_end",
            "the primitive think() computes for 0.2 s without yielding an action",
        ),
        (
            with_term(lambda ctx: 1.0 + (ctx.step == 0 and ctx.model.np_random_seed == 15)),
            "test_reward_terms_keep_their_bounds",
            "'extra' is 2.0 at step 0, outside [0.0, 1.0].",
        ),
        (
            type("Broken", (WithEnv,), {"env": StartsNear, "reward_terms": StartsNear.terms})(),
            "test_reward_terms_keep_their_bounds",
            "after reset(seed=0, options={'start': 'near_key'})",
        ),
        (RemembersTwo(), "test_primitives_keep_reward_terms_in_their_bounds", "This occurs in remember()."),
        (
            ScoreMisspelt(),
            "test_metrics_are_numbers",
            "reports the metric of the score in info['metrics']. Valid: walked. Found: row, wlaked.",
        ),
        (with_env(HoldsThing), "test_episodes_can_be_saved_and_restored", "AttributeStates(classes=[Thing])"),
        (
            with_hook("states", lambda codec, task: OwnStates()),
            "test_episodes_can_be_saved_and_restored",
            "GridEnv has no method save(); OwnStates needs save() -> bytes",
        ),
    ],
)
def test_fault_of_a_plugin_breaks_only_one_law_of_the_contract(plugin, law: str, says: str, monkeypatch) -> None:
    monkeypatch.setattr(stage, "COMPUTING_SECONDS", 0.2)
    found = broken_laws(plugin)
    (name,) = found
    assert name.startswith(law)
    assert says in found[name]


def test_pytest_run_of_the_contract_prints_the_broken_law_and_the_expected_duration(tmp_path) -> None:
    (tmp_path / "faulty_motor.py").write_text(
        "from rlgpt.plugin import hookimpl\nfrom rlgpt.testing.grid import GridEnv, GridPlugin\n"
        "class Env(GridEnv):\n    def step(self, action):\n        raise ValueError('the motor is off')\n"
        "class Half(GridPlugin):\n    def make_env(self, task, *, seed, render_mode=None):\n"
        "        kind = Env if task.id == 'grid/key' else GridEnv\n"
        "        return kind(task.id.split('/')[1], task.horizon, render_mode)\n"
        "@hookimpl\ndef rlgpt_plugins():\n    return [Half()]\n"
    )
    (tmp_path / "test_it.py").write_text(
        "from rlgpt.testing import Effort, PluginContract\n"
        "class TestHalf(PluginContract):\n    module = 'faulty_motor'\n    full = Effort(4, (0,), 90, 1, 1)\n"
    )
    few = "played or knowledge or summaries or bounds or success"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", few, "-rs", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])}
    ran = subprocess.run(command, capture_output=True, text=True, env=env, check=False, cwd=tmp_path)
    assert "1 failed" in ran.stdout, ran.stdout + ran.stderr
    assert "grid/key breaks test_it_can_be_played" in ran.stdout
    assert "contract: grid/door: " in ran.stdout


def test_contract_tests_report_no_broken_law_of_a_correct_plugin() -> None:
    assert broken_laws(GridPlugin()) == {}


def test_contract_tests_accept_a_score_that_only_the_last_step_reports() -> None:
    plugin = WalkPlugin()
    plugin.make_env = lambda task, *, seed, render_mode=None: ScoreAtTheEnd(GridEnv("key", task.horizon, render_mode))
    contract = type("Contract", (PluginContract,), {"effort": Effort(steps=4)})
    assert broken_laws(plugin, contract, ["test_metrics_are_numbers"]) == {}


MODULES = {
    "heavy": (
        "import matplotlib\nfrom rlgpt.testing.grid import *\nfrom rlgpt.testing.grid import rlgpt_plugins\n",
        "matplotlib",
    ),
    "broken": ("import no_such_module\n", "no_such_module"),
    "empty": ("from rlgpt.plugin import hookimpl\n@hookimpl\ndef rlgpt_plugins():\n    return []\n", "offers no task"),
}


@pytest.mark.parametrize(("source", "text"), MODULES.values(), ids=MODULES)
def test_contract_tests_report_a_heavy_broken_or_empty_plugin_module(
    tmp_path, monkeypatch, source: str, text: str
) -> None:
    module = f"faulty_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    contract = type("Contract", (PluginContract,), {"module": module})()
    said = []
    for law in sorted(OF_THE_MODULE):
        try:
            getattr(contract, law)()
        except (AssertionError, ImportError) as fault:
            said.append(str(fault))
    assert any(text in s for s in said), said
    sys.modules.pop(module, None)


def test_contract_tests_call_a_primitive_with_every_choice_of_an_argument() -> None:
    """One choice of an argument solves the task, and the default choice does not."""

    def run(ctx, what):
        if what == "everything":
            yield from fetch(ctx)
        else:
            yield 0

    what = Parameter(name="what", kind="choice", choices=("nothing", "something", "everything"), default="nothing")
    found = broken_laws(with_primitive("do", run, (what,)), laws=["test_no_single_call_is_a_solution"])
    assert "do(what='everything') alone succeeds in 20 of 20" in found["test_no_single_call_is_a_solution"]


class TakesMore(GridEnv):
    """An environment whose ``step`` also accepts a number above the action space, with the effect of ``use``."""

    def step(self, action):
        return super().step(min(int(action), USE))


def test_contract_tests_accept_primitives_that_yield_actions_of_the_low_level_space() -> None:
    def run(ctx):
        yield USE + 1

    law = ["test_primitives_yield_valid_actions_and_end"]
    extra = Primitive("more", "Use, in other words.", run)
    hooks = {"env": TakesMore, "primitives": lambda self, task: (*GridPlugin.primitives(self, task), extra)}
    assert law[0] in broken_laws(type("Narrow", (WithEnv,), hooks)(), laws=law)
    wide = {**hooks, "low_level_space": lambda self, env: Discrete(int(env.action_space.n) + 1)}
    assert broken_laws(type("Wide", (WithEnv,), wide)(), laws=law) == {}


@pytest.mark.parametrize("fails", ["reset", "render"])
def test_environments_of_the_contract_are_closed_after_an_error(fails: str) -> None:
    made = []

    class Faulty(GridEnv):
        open = True

        def close(self):
            self.open = False
            super().close()

    def fault(*args, **kwargs):
        raise RuntimeError("out of order")

    plugin = with_env(lambda *args: made.append(Faulty(*args)) or made[-1])
    setattr(Faulty, fails, fault)
    (task, *_) = plugin.tasks().values()
    use = {"reset": stage.Stage, "render": PluginContract().test_frames_are_images}[fails]
    with pytest.raises(RuntimeError, match="out of order"):
        use(plugin, task)
    assert not any(env.open for env in made)
