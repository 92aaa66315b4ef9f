"""Overrides on the command line: each error gives the valid names and leaves no file behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from rlgpt.config import RunConfig
from rlgpt.rl.base import Hyperparameters

from .conftest import install

Call = Callable[..., tuple[int, str, str]]

TASK = "task=grid/door"

ADVICE = """
from rlgpt.plugin import hookimpl

@hookimpl
def rlgpt_plugins():
    from rlgpt.domain import Task
    from rlgpt.testing.grid import GridPlugin

    class Advice(GridPlugin):
        name = "advice"

        def tasks(self):
            (task, *_) = super().tasks().values()
            return {"advice/door": Task(**{**task.model_dump(), "id": "advice/door"})}

        def trainer_defaults(self, task):
            return {"num_envs": 1, "num_steps": 11}

    return [Advice()]

@hookimpl
def rlgpt_config():
    return "pkg://advice_conf"
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["task=grid/dor"], ["unknown task 'grid/dor'", "'grid/door'", "grid/key"]),
        (["task=gird/door"], ["unknown task", "grid/door"]),
        ([], ["no task is given", "task=PLUGIN/TASK"]),
        ([TASK, "sed=1"], ["unknown override 'sed'", "'seed'"]),
        ([TASK, "learning_rat=1"], ["unknown override", "'hyperparameters.learning_rate'"]),
        ([TASK, "+sed=1"], ["unknown override 'sed'", "'seed'"]),
        ([TASK, "hyperparameters.learningrate=1"], ["'hyperparameters.learning_rate'"]),
        ([TASK, "trainer=pp"], ["unknown trainer 'pp'", "'ppo'", "sample_factory"]),
        ([TASK, "agents=slow"], ["unknown agents 'slow'", "slow_fast"]),
        ([TASK, "llm=liv"], ["unknown llm 'liv'", "'live'"]),
        ([TASK, "experiment=demmo"], ["unknown experiment 'demmo'", "'demo'"]),
        ([TASK, "seed=x"], ["'x'", "integer", "seed"]),
        ([TASK, "seed=null"], ["seed"]),
        ([TASK, "budget=0"], ["budget=0", "greater than or equal to 1"]),
        ([TASK, "task_settings.size=9"], ["unknown setting 'size' of grid/door"]),
        ([TASK, "sandbox.yields=-1"], ["sandbox.yields=-1"]),
        ([TASK, "hyperparameters.encoder=big"], ["hyperparameters.encoder=", "small", "impala"]),
        ([TASK, "hyperparameters=3"], ["hyperparameters=3"]),
        ([TASK, "hyperparameters.num_envs=0"], ["hyperparameters.num_envs=0"]),
        ([TASK, "hyperparameters.num_envs=4000"], ["at most"]),
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
        ([TASK, "trainer._target_=os.system"], ["trainer._target_=os.system cannot be made"]),
        ([TASK, "trainer._target_=nowhere.Trainer"], ["nowhere.Trainer", "imported"]),
        ([TASK, "trainer.speed=9"], ["unknown key 'trainer.speed'", "trainer.segments"]),
        ([TASK, "trainer=sample_factory", "trainer.mod=parallel"], ["unknown key 'trainer.mod'", "trainer.mode"]),
        ([TASK, "trainer.name=dqn"], ["unknown trainer 'dqn'", "ppo"]),
        ([TASK, "agents._target_=rlgpt.rl.ppo.PPO", "agents=rl_only"], ["agents", "PPO"]),
        ([TASK, "observers.tensorbord={}"], ["unknown observer 'tensorbord'", "progress"]),
        ([TASK, "agents.prompts=nowhere"], ["agents.prompts='nowhere'", "no such folder"]),
        ([TASK, "llm.kind=scripted"], ["unknown llm 'scripted'", "replay"]),
        ([TASK, "setup.gama=0.9"], ["unknown key 'setup.gama'", "'setup.gamma'"]),
        ([TASK, "setup.gamma=2"], ["setup.gamma=2"]),
        ([TASK, "setup.gamma=2", "sandbox.yields=-1"], ["setup.gamma=2", "sandbox.yields=-1"]),
        ([TASK, "setup.reward_weights.near_kee=1"], ["unknown reward term 'near_kee'", "'near_key'"]),
        ([TASK, "setup.observation_keys=[agnt]"], ["unknown observation key 'agnt'", "'agent'"]),
        ([TASK, "setup.base_actions=[up,dwn]"], ["unknown base action 'dwn'", "'down'"]),
        ([TASK, "setup.reset_option=mars"], ["unknown reset option 'mars'"]),
        ([TASK, "setup.horizon=10000"], ["setup.horizon=10000"]),
        ([TASK, "setup.trainer.learning_rate=1"], ["trainer.learning_rate is 1; valid: 1e-05 to 0.01"]),
        ([TASK, "setup.trainer.num_envs=1"], ["no hyperparameter 'num_envs'"]),
        ([TASK, "setup.reset_share=0"], ["setup.reset_share=0"]),
        ([TASK, "llm=live"], ["llm.model"]),
        ([TASK], ["no recording of task 'grid/door'", "llm=record"]),
    ],
)
def test_invalid_train_arguments_print_one_message_and_write_no_run(
    rlgpt: Call, arguments: list[str], words: list[str]
) -> None:
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


def test_train_refuses_an_api_key_in_the_configuration_without_writing_it(rlgpt: Call) -> None:
    secret = "sk-abcdefghijklmnop"
    status, _, err = rlgpt(
        "train", TASK, "trainer=ppo", "llm=live", "llm.model=openai/x", f"+llm.extra.api_key={secret}"
    )
    assert status == 2
    assert "llm.extra.api_key" in err
    assert secret not in err
    assert not [p for p in Path().rglob("*") if p.is_file()]


def config_of(out: str) -> RunConfig:
    """Parse the output of ``--cfg``."""
    return RunConfig(**yaml.safe_load(out))


def test_cfg_flag_prints_the_values_that_a_run_uses(rlgpt: Call) -> None:
    given = ("experiment=smoke", "budget=77", "sandbox.yields=9", "setup.gamma=0.9", "hyperparameters.num_steps=8")
    status, out, err = rlgpt("train", "--cfg", TASK, *given)
    assert status == 0, err
    config = config_of(out)
    assert (config.task, config.budget, config.iterations, config.sandbox.yields) == ("grid/door", 77, 1, 9)
    assert config.setup.model_dump() == {"gamma": 0.9}
    trainer = {"workers": 0, "segments": 30, "parameter_search": 0.5, "base_only": 0, "device": "cpu", "overlap": False}
    assert config.trainer.model_dump() == {"name": "ppo", **trainer}
    assert config.hyperparameters.model_fields_set == set(Hyperparameters.model_fields)
    assert config.hyperparameters.num_steps == 8
    assert "segments: 30                           # approximate number of segments\n" in out
    assert "null" not in out[out.index("hyperparameters:") : out.index("agents:")]


def test_cfg_flag_without_a_task_prints_the_defaults(rlgpt: Call) -> None:
    status, out, err = rlgpt("train", "--cfg")
    assert status == 0, err
    assert config_of(out).model_copy(update={"trainer": RunConfig().trainer}) == RunConfig()


def test_cfg_flag_merges_the_default_hyperparameters_of_the_plugin(rlgpt: Call, site: Path) -> None:
    install(site, "advice", ADVICE)
    status, out, err = rlgpt("train", "--cfg", "task=advice/door", "hyperparameters.num_envs=3")
    assert status == 0, err
    learning = config_of(out).hyperparameters
    assert (learning.num_envs, learning.num_steps, learning.update_epochs) == (3, 11, Hyperparameters().update_epochs)


@pytest.mark.parametrize("trainer", ["ppo", "sample_factory"])
@pytest.mark.parametrize("llm", ["replay", "live", "record"])
def test_every_built_in_trainer_and_language_model_can_be_selected_by_name(rlgpt: Call, trainer: str, llm: str) -> None:
    status, out, err = rlgpt("train", "--cfg", TASK, f"trainer={trainer}", f"llm={llm}")
    assert status == 0, err
    config = config_of(out)
    assert (config.trainer.name, config.llm.kind) == (trainer, llm)


def test_override_value_may_refer_to_another_setting(rlgpt: Call) -> None:
    status, out, err = rlgpt("train", "--cfg", TASK, "seed=7", "folder=runs/${task}-${seed}")
    assert status == 0, err
    assert config_of(out).folder == "runs/grid/door-7"


def test_configuration_folder_is_searched_only_when_the_user_names_it(rlgpt: Call) -> None:
    for name, text in {
        "experiment/mine": "# @package _global_\nbudget: 123\n",
        "sandbox/strict": "yields: 3\n",
    }.items():
        path = Path("conf", f"{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    mine = f"hydra.searchpath=[file://{Path('conf').resolve()}]"
    status, out, err = rlgpt("train", "--cfg", TASK, mine, "experiment=mine", "sandbox=strict")
    assert status == 0, err
    assert (config_of(out).budget, config_of(out).sandbox.yields) == (123, 3)
    status, _, err = rlgpt("train", "--cfg", TASK, mine, "experiment=mein")
    assert status == 2
    assert "'mine'" in err
    status, _, err = rlgpt("train", "--cfg", TASK, "experiment=mine")
    assert status == 2, "a folder is searched only if an override names it"


def test_configuration_groups_of_a_plugin_can_be_selected(rlgpt: Call, site: Path) -> None:
    install(site, "advice", ADVICE)
    conf = site / "advice_conf"
    (conf / "experiment").mkdir(parents=True)
    (conf / "__init__.py").touch()
    (conf / "experiment" / "__init__.py").touch()
    (conf / "experiment" / "shipped.yaml").write_text("# @package _global_\nbudget: 321\n")
    status, out, err = rlgpt("train", "--cfg", "task=advice/door", "experiment=shipped")
    assert status == 0, err
    assert config_of(out).budget == 321
