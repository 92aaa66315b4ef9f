"""``design()`` executes a whole run on an environment without a plugin."""

import functools
import io
import json
from pathlib import Path

import gymnasium
import numpy as np
import odd
import pytest
import rlgpt
from rlgpt.config import RunConfig
from rlgpt.domain import Parameter
from rlgpt.errors import (
    BundleError,
    ConfigError,
    LLMError,
    PluginError,
    RlgptError,
    RunError,
    TranscriptError,
    UnknownNameError,
)
from rlgpt.observers import PlainProgressReporter
from rlgpt.options import load_bundle
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.types import Primitive
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.grid import GridEnv
from rlgpt.testing.llm import FakeLLM
from words import speaker, text

LABELS = {"up": "a row up", "down": "a row down", "left": "", "right": "", "use": "picks up the key that lies here"}
SEEN = ["row", "column", "key_row", "key_column", "door_row", "door_column", "held"]
SMALL = {
    "budget": 900,
    "iterations": 1,
    "selection_episodes": 2,
    "report_episodes": 2,
    "hyperparameters": {"num_envs": 2},
}
SMALL |= {"horizon": 200}
FETCH = """
def run():
    view = yield observe()
    rows = round(6 * (view["key_row"] - view["row"]))
    columns = round(6 * (view["key_column"] - view["column"]))
    if rows:
        yield repeat(action="down" if rows > 0 else "up", steps=abs(rows))
    if columns:
        yield repeat(action="right" if columns > 0 else "left", steps=abs(columns))
    yield act(action="use")
"""


def fetch(folder: Path, llm=None, **more):
    """Call ``design()`` on the grid world without its plugin."""
    given = {"labels": LABELS, "observations": SEEN, "docs": "Six cells to a side.", "folder": folder, **SMALL, **more}
    quiet = PlainProgressReporter(io.StringIO())
    goal = given.pop("goal", "Pick up the key.")
    make = given.pop("make_env", GridEnv)
    return rlgpt.design(make, goal, llm or speaker(FETCH, parameters=False), progress=quiet, **given)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory):
    """A run that code alone solves. Returns its folder, bundle and language model."""
    folder, llm = tmp_path_factory.mktemp("design") / "run", speaker(FETCH, parameters=False)
    return folder, fetch(folder, llm, horizon=40), llm


def test_extend_accepts_a_bundle_that_design_returned(solved) -> None:
    folder, bundle, _ = solved
    assert bundle.tested_on.success_rate == 1.0
    assert bundle == load_bundle(folder / "bundle")
    for given in (bundle, str(folder / "bundle")):
        env = rlgpt.extend(GridEnv(), actions=given)
        env.reset(seed=3)
        assert env.step(env.extension.write("go"))[4]["success"] is True
        assert env.layout.branches == ("up", "down", "left", "right", "use", "go")


def test_first_request_of_design_contains_its_arguments(solved) -> None:
    told = text(solved[2].requests[0])
    for part in (
        "Pick up the key.",
        "Six cells to a side.",
        "40 primitive steps",
        "up: a row up",
        'view["key_row"]',
        "0 to 1",
        "the environment's own reward",
        "what the environment reports as success",
    ):
        assert part in told


def test_design_reads_a_finished_run_without_a_request_to_the_language_model(solved) -> None:
    folder, bundle, _ = solved
    silent = FakeLLM({})
    assert fetch(folder, silent, horizon=40) == bundle
    assert silent.requests == []


def test_design_replays_the_recording_of_an_earlier_design_run(solved, tmp_path: Path) -> None:
    folder, bundle, _ = solved
    again = fetch(tmp_path / "run", folder / "transcript.jsonl", horizon=40)
    assert again.actions == bundle.actions
    assert again.tested_on.success_rate == 1.0
    assert fetch(tmp_path / "other", str(folder / "transcript.jsonl"), horizon=40).actions == bundle.actions


@pytest.mark.parametrize(
    "changed",
    [
        {"goal": "Open the door."},
        {"labels": None},
        {"docs": "Other."},
        {"horizon": 30},
        {"seed": 1},
        {"success": 1.0},
        {"idle": "use"},
    ],
    ids=lambda c: next(iter(c)),
)
def test_design_refuses_the_folder_of_a_run_with_other_arguments(solved, changed: dict) -> None:
    with pytest.raises(RunError, match="contains another run"):
        fetch(solved[0], FakeLLM({}), **{"horizon": 40, **changed})


def test_design_refuses_the_folder_of_a_run_of_the_train_command(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", task="grid/key", seed=0, config={"task": "grid/key"})
    with pytest.raises(RunError, match="contains another run"):
        fetch(tmp_path / "run")


def test_design_resumes_a_failed_run_at_the_missing_request(tmp_path: Path) -> None:
    first = speaker()
    script = first.script
    assert callable(script)
    fails = FakeLLM(lambda r: LLMError("the line is dead") if r.key.role == "setup" else script(r))
    with pytest.raises(LLMError, match="the line is dead"):
        fetch(tmp_path / "run", fails, target_success=1.0, horizon=40)
    second = speaker()
    bundle = fetch(tmp_path / "run", second, target_success=1.0, horizon=40)
    assert [r.key.role for r in second.requests] == ["setup"]
    run = Run.open(tmp_path / "run")
    assert run.record.status == "finished"
    assert run.record.steps.training > 0
    assert [a.name for a in bundle.actions] == ["go"]
    assert bundle.setup.observation_keys == tuple(SEEN)


def test_design_with_rl_only_needs_no_language_model(tmp_path: Path) -> None:
    bundle = rlgpt.design(
        GridEnv,
        "Pick up the key.",
        None,
        agents="rl_only",
        folder=tmp_path,
        progress=PlainProgressReporter(io.StringIO()),
        **SMALL,
    )
    assert bundle.actions == ()


def _twice(ctx, steps: int = 2):
    for _ in range(steps):
        yield 0
    return {"walked": steps}


def test_bundle_with_a_custom_primitive_can_be_used_only_with_that_primitive(tmp_path: Path) -> None:
    climb = Primitive(
        "climb",
        "Walk up. Outcome: walked.",
        _twice,
        (Parameter(name="steps", kind="int", low=1, high=6, default=2),),
        {"walked": "cells"},
        6,
    )
    source = "def run():\n    outcome = yield climb(steps=3)\n    assert outcome['walked'] == 3\n"
    llm = speaker(source, parameters=False)
    bundle = fetch(tmp_path / "run", llm, primitives=[climb])
    assert "def climb(" in text(llm.requests[0])
    assert bundle.world.primitives == ("climb",)
    with pytest.raises(BundleError, match="climb"):
        rlgpt.extend(GridEnv(), actions=bundle)
    plugin = GenericPlugin.of(GridEnv(), labels=LABELS, observations=SEEN, primitives=[climb])
    env = rlgpt.extend(GridEnv(), actions=bundle, plugin=plugin)
    env.reset(seed=0)
    assert env.step(env.extension.write("go"))[4]["ended"] == "returned"


class Bounded(gymnasium.Env):
    """An environment with the given spaces."""

    def __init__(self, observation, action) -> None:
        self.observation_space, self.action_space = observation, action

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


class Old(Bounded):
    def reset(self, **_):  # type: ignore[override]
        return self.observation_space.sample()


class Broken(Bounded):
    def step(self, action):
        raise ValueError("no joint of that name")


class Unpaid(Bounded):
    def step(self, action):
        return self.observation_space.sample(), float("nan"), False, False, {}


BOX = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
BITS = gymnasium.spaces.MultiBinary(3)
MANY = gymnasium.spaces.Box(-1, 1, (300,), np.float32)
NAMES = {f"reading_{i}_of_the_lidar": "m" for i in range(300)}
WIDE = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
GRAPH = gymnasium.spaces.Graph(BOX, None)


def _raises():
    raise OSError("the licence has expired")


_ONE = GridEnv()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"make_env": _raises}, r"make_env\(\) raised OSError: the licence has expired"),
        ({"make_env": GridEnv()}, "give a function that makes a new environment"),
        ({"make_env": 3}, "give a function that makes a new environment"),
        ({"make_env": lambda: "env"}, "a str; it must return a gymnasium.Env"),
        ({"make_env": lambda: _ONE}, "the same environment twice"),
        ({"make_env": "NoSuch-v0"}, "NameNotFound"),
        ({"make_env": functools.partial(Old, BOX, BOX)}, "follow gymnasium's API"),
        ({"make_env": functools.partial(Broken, BOX, BOX)}, r"step\(\) raised ValueError: no joint of that name"),
        ({"make_env": functools.partial(Bounded, BOX, WIDE)}, "finite action bounds"),
        ({"make_env": functools.partial(Bounded, BOX, GRAPH)}, "cannot be extended"),
        ({"make_env": functools.partial(Bounded, BOX, BITS)}, "cannot be extended. Valid: Discrete, Box"),
        ({"make_env": functools.partial(Bounded, BOX, gymnasium.spaces.Dict(a=BOX))}, "cannot be extended"),
        ({"make_env": functools.partial(Bounded, BOX, gymnasium.spaces.Tuple([BITS, BOX]))}, "cannot be extended"),
        ({"make_env": functools.partial(Bounded, GRAPH, BOX)}, "neither code nor a policy can read"),
        (
            {"make_env": functools.partial(Bounded, gymnasium.spaces.Text(9), BOX)},
            "contains nothing that a policy can observe",
        ),
        (
            {"make_env": functools.partial(Bounded, MANY, BOX), "observations": NAMES},
            "has .* bytes .*name fewer",
        ),
        ({"make_env": functools.partial(Unpaid, BOX, BOX)}, "the environment gave the reward nan at step 1"),
        ({"goal": " "}, "it must be a sentence"),
        ({"labels": ["up"]}, "5 different labels, got 1"),
        ({"labels": "up"}, "lists of names, or mappings .* got 'up'"),
        ({"labels": ["up"] * 5}, "labels must differ.* used twice: up"),
        ({"labels": ["up", 3]}, "lists of names, or mappings"),
        ({"observations": "row"}, "lists of names, or mappings .* got 'row'"),
        ({"primitives": [3]}, "primitives: 3 has the type int. Give a list of rlgpt.plugin.Primitive"),
        ({"primitives": 3}, "primitives: 3 has the type int"),
        ({"states": 3}, "states: 3 has the type int"),
        ({"docs": b"text"}, "docs: b'text' has the type bytes. Give a text"),
        ({"success": [1]}, r"success: \[1\] has the type list. Give a rule, the return that counts, or a function"),
        ({"trainer": PPO}, "Give a name, such as 'ppo', settings .* or an object of Trainer"),
        ({"agents": 3}, "agents: 3 has the type int. Give a name, such as 'slow_fast_critic'"),
        ({"idle": "rest"}, "unknown label 'rest'"),
        ({"horizon": 0}, "horizon=0 cannot be used"),
        ({"horizon": -3}, "horizon=-3 cannot be used"),
        ({"docs": "nofile.md"}, r"docs is 'nofile.md', the name of a file. Give its text"),
        ({"docs": Path("a b/notes.txt")}, r"docs is 'a b/notes.txt', the name of a file"),
        ({"success": True}, "success is True, a bool. Write conditions joined by 'and'"),
        ({"observations": ["x"]}, "7 different observation labels, got 1"),
        ({"success": lambda info, total_reward: total_reward}, "must return True or False"),
        ({"success": lambda info, total_reward: info["none"]}, "KeyError"),
        ({"budget": 0}, "budget=0 cannot be used"),
        ({"iteration": 1}, r"unknown argument 'iteration' of design\(\)\. Did you mean 'iterations'"),
        ({"sucess": 1}, r"unknown argument 'sucess' of design\(\)\. Did you mean 'success'"),
        ({"horizn": 9}, "Did you mean 'horizon'.* docs, .* goal, .* idle, .* labels, "),
        ({"hyperparameters": {"env": 1}}, "hyperparameters.num_envs"),
        ({"trainer": "dqn"}, "unknown trainer 'dqn'"),
        ({"setup": {"gama": 1}}, "setup.gamma"),
        ({"llm": {"modl": "m"}}, "llm.model"),
        ({"sandbox": {"yields": 0}}, "sandbox.yields=0 cannot be used"),
        ({"sandbox": {"view_bytes": 64}}, r"has \d+ bytes .*at most 64"),
        ({"agents": "everyone"}, "unknown agents 'everyone'"),
        ({"llm": {"model": "openai/m", "api_base": "notaurl"}}, "write a URL such as http://localhost:8000/v1"),
        ({"trainer": {"name": "ppo", "device": "cuda"}}, "Valid: cpu, gpu, auto; gpu is a GPU with CUDA"),
        ({"llm": 3}, "give a model's name"),
        ({"llm": "nowhere.jsonl"}, "there is no recording 'nowhere.jsonl'"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else v[:30],
)
def test_design_reports_invalid_arguments_before_it_writes_a_file(given: dict, says: str, tmp_path: Path) -> None:
    more = {"labels": None, "observations": None} if "make_env" in given else {}
    with pytest.raises(RlgptError, match=says) as caught:
        fetch(tmp_path / "run", **{**more, **given})
    assert isinstance(caught.value, ConfigError | PluginError | UnknownNameError | TranscriptError)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ({"trainer": PPO(workers=2)}, "workers=0 of the trainer"),
        ({"trainer": {"name": "sac", "workers": 1}}, "workers=0 of the trainer"),
        ({"executor": "processes"}, "executor=in_process"),
    ],
    ids=["object", "setting", "executor"],
)
@pytest.mark.parametrize(
    "local",
    [{"make_env": lambda: GridEnv()}, {"success": lambda info, total_reward: False}],
    ids=["make_env", "success"],
)
def test_design_refuses_a_local_function_that_other_processes_need_before_it_asks_the_model(
    given: dict, instead: str, local: dict, tmp_path: Path
) -> None:
    llm = speaker(FETCH, parameters=False)
    with pytest.raises(ConfigError, match=rf"cannot be pickled.*top level of a module.*or use {instead}"):
        fetch(tmp_path / "run", llm, **given, **local)
    assert not llm.requests
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "valid"), [("progress", r"an object of rlgpt\.loop\.Observer"), ("folder", "the path of a folder")]
)
def test_design_refuses_a_progress_or_folder_of_another_type(name: str, valid: str, tmp_path: Path) -> None:
    given = {"folder": tmp_path / "run", name: 3}
    with pytest.raises(ConfigError, match=f"{name}: 3 has the type int. Give {valid}"):
        rlgpt.design(GridEnv, "Pick up the key.", speaker(FETCH), **given)


def test_design_applies_the_sandbox_limits_and_stores_them_in_run_json(tmp_path: Path) -> None:
    limits = SandboxLimits(requests=1)
    llm = speaker("def run():\n    yield [observe(), observe()]\n", parameters=False)
    with pytest.raises(LLMError, match="no coded action 'go'"):  # the sandbox stopped every attempt
        fetch(tmp_path / "run", llm, horizon=40, sandbox=limits)
    attempts = [json.loads(p.read_text()) for p in sorted(tmp_path.glob("run/iterations/0/actions/go/*.json"))]
    assert {a["verdict"]["kind"] for a in attempts} == {"type"}
    config = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert config["sandbox"] == limits.model_dump(mode="json")


def test_design_without_a_language_model_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="no language model is given"):
        rlgpt.design(GridEnv, "Pick up the key.", None, folder=tmp_path / "run")


def test_design_stores_the_whole_configuration_in_run_json(solved) -> None:
    config = json.loads((solved[0] / "run.json").read_text())["config"]
    assert config["environment"]["goal"] == "Pick up the key."
    assert config["environment"]["labels"] == LABELS
    trainer = {"workers": 0, "segments": 30, "parameter_search": 0.5, "base_only": 0, "device": "cpu", "overlap": False}
    assert (config["budget"], config["trainer"]) == (900, {"name": "ppo", **trainer})
    assert RunConfig(**config).plain() == config


def test_design_refuses_a_trainer_that_cannot_see_before_it_asks_the_model(tmp_path: Path) -> None:
    llm = speaker("def run():\n    yield act(action_0=1, action_1=2)\n")
    with pytest.raises(RlgptError, match=r"trainer=sac cannot learn from images.*Use trainer=ppo"):
        rlgpt.design(odd.pictures, "Whatever.", llm, folder=tmp_path / "run", trial=0, horizon=20, trainer="sac")
    assert not llm.requests
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("horizon", [0, -1, "long"])
def test_design_refuses_a_horizon_that_is_no_positive_number(tmp_path: Path, horizon) -> None:
    with pytest.raises(ConfigError, match=rf"horizon={horizon!r} cannot be used"):
        rlgpt.design("CartPole-v1", "x", agents="rl_only", horizon=horizon, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
