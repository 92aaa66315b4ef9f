"""The command ``rlgpt design``."""

import io
import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import rlgpt
import yaml
from rlgpt.agents.build import learning_on
from rlgpt.cli.commands.design import action
from rlgpt.cli.main import main
from rlgpt.config import RunConfig
from rlgpt.errors import ConfigError
from rlgpt.observers import PlainProgressReporter
from rlgpt.runs import Run
from words import speaker

GOAL = "Hold the pole upright."
Said = pytest.CaptureFixture[str]


def test_design_command_replays_a_recording_and_its_run_can_be_evaluated_and_resumed(
    tmp_path: Path, capsys: Said
) -> None:
    source, docs = "def run():\n    yield act(action='action_1')\n", tmp_path / "docs.md"
    docs.write_text("A cart with a pole.")
    rlgpt.design(
        "CartPole-v1",
        GOAL,
        speaker(source, parameters=False),
        docs=docs.read_text(),
        success=1,
        folder=tmp_path / "recorded",
        progress=PlainProgressReporter(io.StringIO()),
        report_episodes=2,
    )
    run, transcript = str(tmp_path / "run"), str(tmp_path / "recorded" / "transcript.jsonl")
    flags = ["--goal", GOAL, "--docs", str(docs), "--success", "1", "--folder", run]
    given = [f"llm.transcript={transcript}", "report_episodes=4", "video=false"]
    assert main(["design", "CartPole-v1", *flags, *given]) == 0
    assert "1.00" in capsys.readouterr().out
    assert (tmp_path / "run" / "bundle" / "actions" / "go.py").is_file()
    assert (tmp_path / "run" / "report.html").is_file()
    prompt = tmp_path / "prompts" / "slow" / "role.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("Plan for {{goal}}.")
    other = ["--goal", GOAL, "--docs", str(docs), "--success", "1", "--folder", str(tmp_path / "other")]
    assert main(["design", "CartPole-v1", *other, *given, f"agents.prompts={tmp_path / 'prompts'}"]) == 2
    assert "record" in capsys.readouterr().err
    assert main(["report", run]) == 0
    assert main(["resume", run]) == 0
    assert main(["evaluate", run, "--episodes", "2"]) == 0
    capsys.readouterr()
    assert main(["resume", run, "environment.goal=other"]) == 2
    assert "cannot change its environment" in capsys.readouterr().err
    assert main(["resume", run, "report_episodes=3"]) == 0
    report = Run.open(tmp_path / "run").report()
    assert report is not None
    assert len(report.evaluation.episodes) == 3
    assert main(["resume", str(tmp_path / "recorded")]) == 2
    assert "of this run as an object" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "recorded"), "--episodes", "1"]) == 0


def test_evaluate_and_resume_work_on_a_design_run_of_an_earlier_version(tmp_path: Path, capsys: Said) -> None:
    small = {"horizon": 20, "selection_episodes": 1, "report_episodes": 1, "iterations": 1, "agents": "rl_only"}
    quiet = PlainProgressReporter(io.StringIO())
    rlgpt.design("CartPole-v1", GOAL, folder=tmp_path, progress=quiet, budget=200, video=False, **small)
    record = json.loads((tmp_path / "run.json").read_text())
    config = record["config"]
    call = {"make_env": "CartPole-v1", "goal": GOAL, "llm": None, "trainer": "ppo", "success": None, "docs": None}
    call |= {"labels": None, "observations": None, "horizon": 20}
    prepared = config["environment"]["prepared"]
    loop = {k: v for k, v in config.items() if k in RunConfig().loop.model_dump()}
    hyperparameters = {"envs": 2, "rollout": 8, "minibatch": 8, "epochs": 1, "clip": 0.2}
    design = {"task": prepared["task"], "docs": prepared["docs"], **prepared["world"], **loop, "call": call}
    design |= {"agents": "rl_only", "trainer": "ppo", "budgets": {"yields": 9}, "hyperparameters": hyperparameters}
    record["config"] = {"design": design}
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert main(["evaluate", str(tmp_path), "--episodes", "1"]) == 0, capsys.readouterr().err
    assert main(["resume", str(tmp_path)]) == 0, capsys.readouterr().err
    config = RunConfig(**Run.open(tmp_path).record.config)
    assert (config.hyperparameters.num_envs, config.hyperparameters.clip_coef, config.sandbox.yields) == (2, 0.2, 9)
    del record["config"]["design"]["task"]
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert main(["evaluate", str(tmp_path)]) == 2
    assert "written by an earlier version of rlgpt and cannot be converted" in capsys.readouterr().err


def test_evaluate_and_resume_refuse_a_run_whose_environment_was_a_python_function(tmp_path: Path, capsys: Said) -> None:
    def pole() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("CartPole-v1")

    small: dict[str, Any] = {"horizon": 20, "budget": 200, "selection_episodes": 1, "report_episodes": 1}
    quiet = PlainProgressReporter(io.StringIO())
    rlgpt.design(
        pole, GOAL, None, agents="rl_only", folder=tmp_path, progress=quiet, hyperparameters={"num_envs": 1}, **small
    )
    for command in ("evaluate", "resume"):
        assert main([command, str(tmp_path)]) == 2
        assert "a call of design() made this run, and only its caller" in capsys.readouterr().err


def test_commands_on_a_run_of_design_with_objects_say_which_call_to_repeat(tmp_path: Path, capsys: Said) -> None:
    small: dict[str, Any] = {"horizon": 20, "budget": 200, "selection_episodes": 1, "report_episodes": 1, "trial": 1}
    quiet = PlainProgressReporter(io.StringIO())
    gymnasium.register("Pole-v0", "gymnasium.envs.classic_control.cartpole:CartPoleEnv", max_episode_steps=50)
    try:
        rlgpt.design("Pole-v0", GOAL, None, agents=learning_on(), folder=tmp_path, progress=quiet, **small)
        assert main(["resume", str(tmp_path)]) == 2
        assert f"Repeat the same call in Python with folder='{tmp_path}'" in capsys.readouterr().err
    finally:
        del gymnasium.registry["Pole-v0"]
    assert main(["evaluate", str(tmp_path), "--episodes", "1"]) == 2
    said = capsys.readouterr().err
    assert f"repeat the call of design() once with the id 'MODULE:Pole-v0' and folder='{tmp_path}'" in said
    assert main(["bundle", "check", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "a valid bundle: 0 actions, 0 functions, not linted" in said.out
    assert "not linted: design() made this bundle for an environment without a plugin" in said.err


def test_design_command_error_names_the_missing_environment_variable_of_the_api_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["design", "CartPole-v1", "--goal", GOAL, "llm.model=openai/gpt-4o", f"folder={tmp_path / 'run'}"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_design_command_writes_flags_and_overrides_to_the_configuration(tmp_path: Path, capsys: Said) -> None:
    meanings = {"x": "position of the cart, m", "v": "m/s", "angle": "rad", "spin": "rad/s"}
    (tmp_path / "names.json").write_text(json.dumps(meanings))
    flags = ["--labels", "left, right", "--observations", str(tmp_path / "names.json"), "--horizon", "90"]
    flags += ["--idle", "right", "--success", "80", "--folder", str(tmp_path / "run")]
    given = ["agents=rl_only", "trainer=sample_factory", "trainer.workers=2", "iterations=1", "sandbox.yields=9"]
    given += ["llm.budget.dollars=5", "llm.budget.tokens=1000", "llm.timeout=30", "hyperparameters.num_envs=2"]
    goal = r"Hold it ${oc.env:HOME} upright, 'now', \${oc.env:HOME} \\${x}."
    assert main(["design", "CartPole-v1", "--goal", goal, *flags, *given, "--cfg"]) == 0
    config = RunConfig(**yaml.safe_load(capsys.readouterr().out))
    environment = config.environment
    assert environment is not None
    assert (environment.id, environment.goal, environment.idle) == ("CartPole-v1", goal, "right")
    assert (environment.labels, environment.observations) == (("left", "right"), meanings)
    assert (environment.horizon, environment.success) == (90, 80.0)
    assert (config.trainer.name, config.trainer.settings["workers"], config.sandbox.yields) == ("sample_factory", 2, 9)
    assert (config.llm.budget.dollars, config.llm.budget.tokens, config.llm.timeout) == (5, 1000, 30)
    assert (config.agents.name, config.hyperparameters.num_envs, config.iterations) == ("rl_only", 2, 1)


def test_design_command_runs_a_sweep(tmp_path: Path, capsys: Said) -> None:
    given = ["agents=rl_only", "experiment=smoke", "seed=1,2", f"hydra.sweep.dir={tmp_path}"]
    flags = ["--goal", "Hold it, ${gently}.", "--horizon", "20"]
    status, told = main(["design", "CartPole-v1", *flags, "-m", *given]), capsys.readouterr()
    assert status == 0, told.err
    assert "(--success or --score choose another)" in told.err
    assert "--success 475 uses this threshold" in told.err
    runs = [Run.open(path.parent).record for path in sorted(tmp_path.rglob("run.json"))]
    assert [r.seed for r in runs] == [1, 2]
    assert {r.config["environment"]["goal"] for r in runs} == {"Hold it, ${gently}."}


@pytest.mark.parametrize(
    ("given", "labels", "taken"),
    [
        ("right", None, "right"),
        ("1", None, 1),
        ("1", ["0", "1"], "1"),
        ("[0.5, 0]", None, [0.5, 0]),
        ('{"arm": [0]}', None, {"arm": [0]}),
        (None, ["left"], None),
    ],
)
def test_idle_flag_accepts_an_action_label_or_json(given: str | None, labels: list[str] | None, taken: Any) -> None:
    assert action(given, labels) == taken


def test_idle_flag_refuses_text_that_starts_like_json_but_is_invalid() -> None:
    with pytest.raises(ConfigError, match=r"--idle \[0, 1 is not JSON .*Give a label"):
        action("[0, 1", None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["CartPole-v1", "llm.transcript=nowhere.jsonl"], "unknown recording 'nowhere.jsonl'"),
        (["CartPole-v9", "llm.model=fake/model"], "gymnasium.make('CartPole-v9') raised"),
        (
            ["merge-v0", "llm.model=fake/model"],
            "Write MODULE:ENV_ID to import a module first, for example highway_env:merge-v0",
        ),
        (["json:merge-v0", "llm.model=fake/model"], "must register 'merge-v0' when it is imported"),
        (["no_such_world:Arm-v0", "llm.model=fake/model"], "start with PYTHONPATH=. in the folder of its module"),
        (["CartPole-v1", "llm.model=fake/model", "--docs", "nowhere.md"], "cannot be read: [Errno 2] No such file"),
        (["CartPole-v1"], "no language model is given: set a model"),
        (["CartPole-v1", "horizon=30"], "horizon is a flag of rlgpt design. Write --horizon 30."),
        (["CartPole-v1", "success=a and b"], "Write --success 'a and b'."),
        (["CartPole-v1", "llm.model=fake/model", "--horizon", "0"], "environment.horizon=0 cannot be used"),
        (["CartPole-v1", "agents=foo"], "unknown agents 'foo'"),
        (["CartPole-v1", "llm.api_base=http://localhost", "llm=record"], "need a model: llm.model=PROVIDER/MODEL"),
        (["CartPole-v1", "llm=openai/gpt-5"], "llm.model=PROVIDER/MODEL"),
        (["CartPole-v1", "task=a/b"], "unknown task 'a/b'"),
        (["CartPole-v1", "llm.model=fake/model", "--labels", "left"], "2 different labels, got 1"),
        (["CartPole-v1", "llm.model=fake/model", "--labels", "nowhere.json"], "--labels nowhere.json cannot be read"),
        (["CartPole-v1", "llm.model=fake/model", "sandbox.yields"], "write KEY=VALUE"),
        (["CartPole-v1", "llm.model=fake/model", "sandbox.yields=many"], "sandbox.yields='many' cannot be used"),
        (["CartPole-v1", "llm.model=fake/model", "sandbox.yield=3"], "Did you mean 'sandbox.yields'"),
    ],
)
def test_invalid_design_arguments_print_a_message_and_write_no_run(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["design", *arguments, "--goal", GOAL, "--folder", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
