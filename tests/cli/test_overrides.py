"""What is written on the command line: every mistake names what is valid, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]

TASK = "task=grid/door"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["task=grid/dor"], ["unknown task 'grid/dor'", "'grid/door'", "grid/key"]),
        (["task=gird/door"], ["unknown task", "grid/door"]),
        ([], ["no task is given", "task=PLUGIN/TASK"]),
        ([TASK, "sed=1"], ["unknown override 'sed'", "'seed'", "+sed="]),
        ([TASK, "hyperparameters.learningrate=1"], ["'hyperparameters.learning_rate'"]),
        ([TASK, "trainer=pp"], ["unknown trainer 'pp'", "'ppo'", "sample_factory"]),
        ([TASK, "agents=slow"], ["unknown agents 'slow'", "slow_fast"]),
        ([TASK, "llm=liv"], ["unknown llm 'liv'", "'live'"]),
        ([TASK, "experiment=demmo"], ["unknown experiment 'demmo'", "'demo'"]),
        ([TASK, "seed=x"], ["'x'", "Integer", "seed"]),
        ([TASK, "seed=null"], ["seed"]),
        ([TASK, "budget=0"], ["budget=0", "greater than or equal to 1"]),
        ([TASK, "task_settings.size=9"], ["unknown setting of grid/door 'size'"]),
        ([TASK, "sandbox.yields=-1"], ["sandbox.yields=-1"]),
        ([TASK, "hyperparameters.encoder=big"], ["hyperparameters.encoder=", "small", "impala"]),
        ([TASK, "hyperparameters.num_envs=0"], ["hyperparameters.num_envs=0"]),
        ([TASK, "hyperparameters.num_envs=10000"], ["environments at most"]),
        ([TASK, "+llm.modl=x"], ["llm.modl", "unknown key"]),
        ([TASK, "seed=range(3)"], ["several values", "-m"]),
        ([TASK, "trainer=ppo,sample_factory"], ["several values", "-m"]),
        (["task=grid/*"], ["pattern", "task=glob(grid/*)", "-m"]),
        (["task=glob(grid/*)"], ["several values", "-m"]),
        (["-m", "task=glob(house/*)"], ["unknown task 'house/*'", "matches none of them"]),
        (["-m", "task=grid/door,grid/kee"], ["unknown task 'grid/kee'", "'grid/key'"]),
        ([TASK, "nonsense"], ["cannot read 'nonsense'", "KEY=VALUE"]),
        ([TASK, "seed=[1"], ["cannot read 'seed=[1'"]),
        ([TASK, "seed=${nothing}"], ["nothing"]),
        ([TASK, "trainer._target_=os.system"], ["os.system", "Trainer"]),
        ([TASK, "trainer._target_=nowhere.Trainer"], ["nowhere.Trainer", "imported"]),
        ([TASK, "+trainer.speed=9"], ["trainer", "speed"]),
        ([TASK, "llm=live"], ["llm.model"]),
        ([TASK], ["no transcript of task 'grid/door'", "llm=record"]),
    ],
)
def test_a_mistake_ends_in_one_message(rlgpt: Call, arguments: list[str], words: list[str]) -> None:
    if not any(a.startswith("trainer=") for a in arguments):
        arguments = [*arguments, "trainer=ppo"]
    status, out, err = rlgpt("train", *arguments)
    assert status == 2, err
    assert out == ""
    assert "Traceback" not in err
    assert "search path" not in err.lower()
    message = err.strip().splitlines()[-1]
    assert message.startswith("rlgpt: ")
    for word in words:
        assert word in message, message
    assert not list(Path().rglob("run.json"))
    assert not [p for p in Path().rglob("*") if p.is_file() and p.name != "multirun.yaml"]


def test_a_key_in_the_configuration_is_refused_and_not_written(rlgpt: Call) -> None:
    secret = "sk-abcdefghijklmnop"
    status, _, err = rlgpt(
        "train", TASK, "trainer=ppo", "llm=live", "llm.model=openai/x", f"+llm.extra.api_key={secret}"
    )
    assert status == 2
    assert "llm.extra.api_key" in err
    assert secret not in err
    assert not [p for p in Path().rglob("*") if p.is_file()]


def test_the_configuration_can_be_looked_at(rlgpt: Call) -> None:
    status, out, _ = rlgpt("train", "--cfg", TASK, "trainer=ppo", "experiment=smoke", "budget=77", "sandbox.yields=9")
    assert status == 0
    for line in ("task: grid/door", "budget: 77", "iterations: 1", "  yields: 9", "  _target_: rlgpt.rl.ppo.PPO"):
        assert line in out.splitlines(), out
    assert not [line for line in out.splitlines() if line.startswith("hydra")]


@pytest.mark.parametrize("trainer", ["ppo", "sample_factory"])
@pytest.mark.parametrize("llm", ["replay", "live", "record"])
def test_every_file_of_the_configuration_fits_its_class(rlgpt: Call, trainer: str, llm: str) -> None:
    from rlgpt.cli.compose import _trainer
    from rlgpt.cli.hydra_app import opened
    from rlgpt.cli.overrides import compose
    from rlgpt.domain.validated import validated
    from rlgpt.llm.settings import LLMSettings
    from rlgpt.loop import LoopSettings
    from rlgpt.rl.base import Hyperparameters
    from rlgpt.sandbox import SandboxLimits

    with opened() as app:
        config = compose(app.config_loader, [f"trainer={trainer}", f"llm={llm}"])
    assert _trainer(config["trainer"]).name == trainer
    assert validated(LLMSettings, config["llm"]) == LLMSettings(kind=llm)
    assert validated(SandboxLimits, config["sandbox"]) == SandboxLimits()
    assert set(LoopSettings.model_fields) <= set(config)
    assert {k: config[k] for k in LoopSettings.model_fields} == LoopSettings().model_dump()
    assert set(config["hyperparameters"]) == set(Hyperparameters.model_fields)


def test_every_kind_of_agents_has_its_file() -> None:
    from rlgpt.agents.build import KINDS
    from rlgpt.cli.paths import conf_dir

    files = {path.stem: path.read_text() for path in (conf_dir() / "agents").glob("*.yaml")}
    assert set(files) == set(KINDS)
    for kind, text in files.items():
        assert f"kind: {kind}\n" in text
