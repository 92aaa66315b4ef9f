"""Success and score of an environment without a plugin. A run shows them in messages, tests them in a trial (a few
episodes of random and of idle actions before the run) and records them.
"""

import functools
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from rlgpt.config import RunConfig
from rlgpt.config.build import build
from rlgpt.config.environment import Objects
from rlgpt.config.measures import read_measures
from rlgpt.config.runs import begin_or_resume, with_record
from rlgpt.config.trial import try_out
from rlgpt.domain import Metric, Score
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, RunError, UnknownNameError
from rlgpt.executors.local import InProcess
from rlgpt.loop import Observer
from rlgpt.plugin import PluginManager
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.runs import Run


class Road(gymnasium.Env[Any, Any]):
    """An environment with reward 1 at each step. Action 1 causes a crash at step 3; without a crash the
    goal is reached at step ``length``.
    """

    def __init__(self, length: int = 5, says: str = "") -> None:
        self.observation_space, self.action_space = spaces.Box(0, 99, (1,)), spaces.Discrete(2)
        self.length, self.says = length, says

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.t += 1
        crashed = self.t == 3 and int(action) == 1
        arrived = self.t == self.length
        info: dict[str, Any] = {"crashed": crashed, "way": {"left": self.length - self.t}}
        if self.says and (crashed or arrived):
            info[self.says] = arrived
        return np.full(1, self.t, np.float32), 1.0, crashed or arrived, False, info


class Heard(Observer):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def begin(folder: Path, make=Road, success=None, **environment):
    """Prepare a run without executing it. Return its messages and its context."""
    heard = Heard()
    function = success if callable(success) else None
    given = {"goal": "Drive.", "success": None if function else success, **environment}
    config = validated(RunConfig, {"environment": given, "agents": {"name": "rl_only"}, "budget": 1_000_000})
    config = with_record(config.model_copy(update={"folder": str(folder)}), folder)
    objects = Objects(make_env=make, success=function)
    return heard, begin_or_resume(build(config, folder, PluginManager(), objects=objects, observer=heard))


def test_training_of_a_run_uses_an_executor_only_if_the_user_chooses_one(tmp_path: Path) -> None:
    _, context = begin(tmp_path / "run")
    assert context.executor is InProcess, "trainings distinguish this executor from those that the user chooses"


def test_run_without_a_success_rule_uses_the_return_as_score_and_reports_it(tmp_path: Path) -> None:
    heard, context = begin(tmp_path / "run")
    assert (context.task.success, context.task.score) == ("", Score())
    assert "score: the return of the episode, more is better; the environment reports no success" in heard.text
    assert "horizon: 1,000 primitive steps (assumed, since the environment names no limit" in heard.text
    assert "idle actions (action_0): ends: 3 terminated by the environment (5 steps); return 5" in heard.text
    env = context.plugin.make_env(context.task, seed=0)
    env.reset(seed=0)
    assert not any(env.step(0)[4]["success"] for _ in range(5))


@pytest.mark.parametrize("says", ["success", "is_success"])
def test_run_uses_a_success_key_that_the_environment_reports_only_at_the_last_step(says: str, tmp_path: Path) -> None:
    heard, context = begin(tmp_path / "run", lambda: Road(says=says))
    assert context.task.success == "what the environment reports as success"
    assert context.world.success == "reported"
    assert "success: reported, ever (the environment reports success itself" in heard.text
    assert "idle actions (action_0): 3 of 3 succeed; ends: 3 goal (5 steps)" in heard.text
    again, resumed = begin(tmp_path / "run", lambda: Road(says=says))
    assert (resumed.task, resumed.world) == (context.task, context.world)
    assert "trial" not in again.text


def test_trial_of_design_reports_a_success_rule_that_random_and_idle_episodes_satisfy(tmp_path: Path) -> None:
    heard, _ = begin(tmp_path / "run", success="terminated and return > 0")
    assert "crashed" in heard.text
    assert (
        "of 3 episodes of random actions, 3 of 3 episodes of idle actions (action_0), 1 of 1 episodes of constant "
        "actions (action_1) already succeed" in heard.text
    )
    assert "success='terminated and not crashed', 'return >= NUMBER', or score=" in heard.text
    easy, _ = begin(tmp_path / "easy", success="terminated and not parked")
    assert "give another rule: success='return >= NUMBER', or score=." in easy.text, "not what the rule already is"
    sound, context = begin(tmp_path / "other", lambda: Road(9), success="terminated and not crashed and way.left < 1")
    assert "terminated without success (3 steps, crashed" in sound.text
    recorded = Run.open(tmp_path / "other").record.config["environment"]["prepared"]
    assert recorded["world"]["success"] == "terminated and not crashed and way.left < 1"
    assert {e["ended"] for e in recorded["trial"]["episodes"]} == {"terminated"}
    assert context.task.success.startswith("an end of the episode by the environment and")


def test_trial_warns_when_success_needs_the_environments_end_and_no_episode_reaches_an_end(tmp_path: Path) -> None:
    heard, _ = begin(tmp_path / "run", lambda: Road(10**6), success="terminated and not crashed", horizon=2)
    assert "an episode that the environment ends, and none of 7 episodes ended within 2 steps" in heard.text
    assert "horizon: 2 primitive steps (as given)" in heard.text
    lasting, _ = begin(tmp_path / "other", lambda: Road(10**6), success="truncated", horizon=2)
    assert "needs an episode" not in lasting.text


def test_trial_of_design_warns_about_info_keys_that_no_step_reports_and_a_constant_score(tmp_path: Path) -> None:
    heard, context = begin(
        tmp_path / "run", lambda: Road(2), success="parked", score="-way.left", metrics=["way.right", "crashd"]
    )
    assert "no step of the trial reported info['parked']. Reported: crashed, way." in heard.text
    assert "no step of the trial reported info['crashd']. Did you mean 'crashed'? Reported:" in heard.text
    assert "every episode of the trial has the score 0" in heard.text
    assert context.task.score == Score(metric="way_left", maximize=False)
    assert [m.name for m in context.task.metrics] == ["way_right", "crashd", "way_left"]
    assert "way.right" in context.world.metrics


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"success": "arived at the end"}, "unknown key 'arived' of success. Did you mean 'arrived'"),
        ({"success": "terminated and not crashd"}, "unknown key 'crashd' of success. Did you mean 'crashed'"),
        ({"success": "retrun >= 3", "horizon": 2}, "unknown key 'retrun' of success. Did you mean 'return'"),
        ({"score": "-wya"}, None),
        ({"score": "-crashd"}, "unknown key 'crashd' of score. Did you mean 'crashed'"),
        ({"score": "retrun"}, "unknown key 'retrun' of score. Did you mean 'return'"),
        ({"success": "arived at the end", "horizon": 2}, None),
        ({"success": "arrived and not crashd"}, None),
        ({"success": "info.retrun >= 3"}, None),
        ({"success": "arived", "trial": 0}, None),
        ({"success": "reported else crashd", "make": functools.partial(Road, says="success")}, None),
    ],
)
def test_rule_with_a_misspelt_key_is_refused_if_the_environment_would_have_reported_the_key(
    given: dict[str, Any], says: str | None, tmp_path: Path
) -> None:
    arguments = {"make": lambda: Road(says="arrived"), **given}
    if says is None:
        begin(tmp_path / "run", **arguments)
    else:
        with pytest.raises(UnknownNameError, match=says):
            begin(tmp_path / "run", **arguments)
    assert (tmp_path / "run").exists() == (says is None)


def test_trial_of_design_shows_the_best_constant_action_and_the_keys_of_info(tmp_path: Path) -> None:
    heard, _ = begin(tmp_path / "run", lambda: Road(9), labels=["stay", "go"], score="-way.left")
    assert (
        "the best of 1 constant actions (go): ends: 1 terminated by the environment (3 steps, crashed 1)" in heard.text
    )
    assert "info has crashed, way: success=, score= and metrics= can use them" in heard.text
    box = spaces.Box(np.float32([-1, 0]), np.float32([1, 1]))

    class Pedals(Road):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = box

        def step(self, action):
            seen.add(tuple(action))
            return super().step(action[0] > 0.5)

    seen = set[tuple[float, ...]]()
    begin(tmp_path / "other", Pedals, success=4)
    assert {(0.0, 0.0), (-1.0, 0.0), (1.0, 0.0), (0.0, 1.0)} <= seen


def test_trial_of_design_warns_about_an_assumed_horizon_that_does_not_fit(tmp_path: Path) -> None:
    short, _ = begin(tmp_path / "short", success="terminated and not crashed")
    assert "no episode of the trial took more than 5. Give the length of a good episode as horizon=" in short.text
    endless, _ = begin(tmp_path / "endless", lambda: Road(10**6), success="return >= 2000", labels=["stay", "on"])
    assert "no episode of the trial ended before it" not in endless.text, "action 1 ends at step 3"
    given, _ = begin(tmp_path / "given", success="terminated and not crashed", horizon=1000)
    assert "Give the length" not in given.text


def test_run_warns_about_actions_and_numbers_without_names_if_the_description_is_short(tmp_path: Path) -> None:
    heard, _ = begin(tmp_path / "run")
    assert "warning: the language model is not told what action_0 to action_1 mean: give labels=" in heard.text
    named, _ = begin(tmp_path / "named", labels=["stay", "go"])
    assert "is not told" not in named.text
    told, _ = begin(tmp_path / "told", docs="A road. " * 200)
    assert "description: as given, 1,599 characters" in told.text
    assert "is not told" not in told.text
    assert "are cut" not in told.text
    long, _ = begin(tmp_path / "long", docs="A road. " * 2_000)
    assert "warning: docs has 15,999 characters, and the language model reads at most 10,000" in long.text


def test_run_with_zero_trial_episodes_reports_no_trial(tmp_path: Path) -> None:
    heard, context = begin(tmp_path / "run", success=4, trial=0)
    assert "success: return >= 4, at the end" in heard.lines
    assert "trial" not in heard.text
    assert context.task.success == "a total reward of at least 4 in the episode"


def test_error_in_a_success_function_raises_a_config_error_and_writes_no_run(tmp_path: Path) -> None:
    def arrived(env, info):
        """Arrived without a crash."""
        return env.t == 5 and not info["crashed"]

    heard, _ = begin(tmp_path / "run", success=arrived)
    assert "success: a function: Arrived without a crash." in heard.text

    def late(info, total_reward):
        return info["none"] if total_reward > 2 else False

    with pytest.raises(ConfigError, match=r"raised KeyError: 'none'"):
        begin(tmp_path / "other", success=late)
    assert not (tmp_path / "other").exists()


def test_resumed_run_keeps_its_success_rule(tmp_path: Path) -> None:
    begin(tmp_path / "run", success="terminated and not crashed")
    with pytest.raises(RunError, match="contains another run"):
        begin(tmp_path / "run", success="terminated")
    heard, context = begin(tmp_path / "run")
    assert context.world.success == "terminated and not crashed"
    assert "success: terminated and not crashed, at the end" in heard.text


@pytest.mark.parametrize(
    ("success", "words", "rule"),
    [
        (None, "or else an episode it ends with a positive total reward", "reported else terminated and return > 0"),
        (None, "475 in the episode, unless the environment itself reports success", "reported else return >= 475"),
        (3.0, "a total reward of at least 3 in the episode", "return >= 3"),
    ],
)
def test_run_of_an_earlier_version_keeps_its_success_rule(tmp_path: Path, success, words: str, rule: str) -> None:
    begin(tmp_path / "run", success=rule)
    path = tmp_path / "run" / "run.json"
    record = json.loads(path.read_text())
    environment = record["config"]["environment"]
    environment["success"] = success
    for key in ("score", "metrics", "trial"):
        del environment[key]
    prepared = environment["prepared"]
    del prepared["trial"]
    for key in ("success", "score", "metrics"):
        del prepared["world"][key]
    for key in ("score", "metrics"):
        del prepared["task"][key]
    assert prepared["task"]["success"].endswith(words)
    path.write_text(json.dumps(record))
    _, context = begin(tmp_path / "run", success=success)
    assert (context.world.success, context.task.success) == (rule, prepared["task"]["success"])


def test_trial_of_design_cuts_long_and_slow_episodes(tmp_path: Path) -> None:
    plugin = GenericPlugin.of(lambda: Road(10**9), success="truncated", horizon=10**6)
    (task,) = plugin.tasks().values()
    ticks = iter(range(10**6))
    trial = try_out(plugin, task, 2, clock=lambda: float(next(ticks)))
    assert {e.ended for e in trial.episodes if e.acting == "idle"} == {"cut"}
    assert {e.acting for e in trial.episodes} == {"random", "idle", "constant"}
    assert all(e.primitive_steps for e in trial.episodes)
    assert trial.primitive_steps <= 20_000


HOW = Metric(name="a_b", doc="how")


@pytest.mark.parametrize(
    ("score", "metrics", "expected"),
    [
        (None, None, (None, {})),
        ("return", None, (Score(), {})),
        ("-Time Left", None, (Score(metric="time_left", maximize=False), {"Time Left": Metric(name="time_left")})),
        ({"unit": "points", "target": 9}, {}, (Score(unit="points", target=9), {})),
        (None, {"a.b": "how", "a-b": {"unit": "m"}}, (None, {"a.b": HOW, "a-b": Metric(name="a_b_2", unit="m")})),
        ("a.b", {"a.b": {"doc": "how"}}, (Score(metric="a_b"), {"a.b": HOW})),
    ],
)
def test_read_measures_accepts_all_forms_of_score_and_metrics(score, metrics, expected) -> None:
    assert read_measures(score, metrics) == expected


@pytest.mark.parametrize(
    ("score", "metrics", "says"),
    [
        (3, None, "score is 3, a int"),
        ("-", None, "score has no metric"),
        (None, 3, "metrics is 3"),
        (None, ["speed", ""], "empty key"),
        (None, {"a": len}, "metrics: 'a' has <built-in function len>"),
        (len, None, "score is <built-in function len>"),
        (None, {"a": {"redcue": "min"}}, "metrics.a.reduce"),
        ({"maximise": True}, None, "score.maximize"),
    ],
)
def test_read_measures_refuses_an_invalid_score_or_metric(score, metrics, says: str) -> None:
    with pytest.raises(Exception, match=says):
        read_measures(score, metrics)
