"""Whole runs with the command line, on the grid world, with the built-in PPO."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rlgpt.domain import CodedAction, Evaluation, Parameter, SearchRecord
from rlgpt.runs import Run
from rlgpt.testing.grid import FETCH

Call = Callable[..., tuple[int, str, str]]

SMOKE = ("task=grid/key", "agents=rl_only", "experiment=smoke", "selection_episodes=1")


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run that the first test with the fixture ``trained`` makes."""
    return tmp_path_factory.mktemp("trained") / "run"


@pytest.fixture
def trained(rlgpt: Call, finished_run: Path) -> Path:
    """The folder ``here`` with a finished run of this user, which the test may change."""
    here = Path("here")
    if not finished_run.exists():
        status, _, err = rlgpt("train", *SMOKE, "folder=here")
        assert status == 0, err
        shutil.copytree(here, finished_run)
    else:
        shutil.copytree(finished_run, here)
    return here


INTERRUPTING = """
from rlgpt.loop import Observer

class Interrupting(Observer):
    def stage(self, name, **facts):
        raise KeyboardInterrupt
"""


def test_train_evaluate_and_resume_work_on_one_run(rlgpt: Call) -> None:
    status, out, err = rlgpt("train", *SMOKE, "seed=3", "folder=here", "hyperparameters.num_envs=2")
    assert status == 0, err
    assert "pure RL" in out
    assert "train: iteration 0" in err
    run = Run.open(Path("here"))
    assert (run.record.status, run.record.seed, run.record.task) == ("finished", 3, "grid/key")
    assert run.record.config["hyperparameters"]["num_envs"] == 2
    assert 0 < run.record.steps.total <= 600 + 40
    assert "grid/key" in Path("here/report.html").read_text()

    status, out, _ = rlgpt("evaluate", "here", "--episodes", "2", "--video")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["sampled", "greedy"]
    assert Path("here/videos/seed-3700000.mp4").stat().st_size > 0
    kept = json.loads(Path("here/evaluations/sampled-3700000-2.json").read_text())
    assert [e["seed"] for e in kept["episodes"]] == [3_700_000, 3_700_001]

    before = Path("here/iterations/0/iteration.json").read_bytes()
    status, _, err = rlgpt("resume", "here")
    assert status == 0
    assert Path("here/iterations/0/iteration.json").read_bytes() == before
    assert "train:" not in err

    status, _, err = rlgpt("train", *SMOKE, "folder=here")
    assert status == 2
    assert "rlgpt resume" in err


def test_interrupted_run_prints_once_how_to_resume(rlgpt: Call, site: Path) -> None:
    (site / "interrupting.py").write_text(INTERRUPTING)
    status, _, err = rlgpt("train", *SMOKE, "folder=here", "observers.stop._target_=interrupting.Interrupting")
    assert status == 130
    assert err.count("interrupted;") == 1
    assert "interrupted." not in err
    assert f"rlgpt resume {Path('here').resolve()}" in err
    assert Run.open(Path("here")).record.status == "stopped"


def test_tracker_contains_the_entries_of_a_run_before_and_after_its_resumption(rlgpt: Call) -> None:
    status, _, err = rlgpt("train", *SMOKE, "folder=here", "observers=[jsonl]")
    assert status == 0, err
    entries = [json.loads(line) for line in Path("here/events.jsonl").read_text().splitlines()]
    (iteration,) = Run.open(Path("here")).iterations()
    assert iteration.training is not None
    points = [p for p in iteration.training.curve if p.episodes]
    start = iteration.steps.before_training
    assert [e["step"] for e in entries if "train/success" in e["numbers"]] == [
        start + p.primitive_steps for p in points
    ]
    assert [e["step"] for e in entries if "selection/success" in e["numbers"]] == [iteration.steps.total]
    assert [e["file"] for e in entries if e["file"]] == ["bundle"]

    assert "train: iteration 0" in err, "the progress display stays"
    assert rlgpt("resume", "here")[0] == 0
    resumed = [json.loads(line) for line in Path("here/events.jsonl").read_text().splitlines()]
    measured = [[e for e in found if e["numbers"] or e["file"]] for found in (entries, resumed)]
    assert measured[0] == measured[1], "a session adds no figure twice"


@pytest.mark.usefixtures("trained")
def test_evaluate_and_video_use_kept_code_although_training_quarantined_it(rlgpt: Call) -> None:
    run = Run.open(Path("here"))
    (iteration,) = run.iterations()
    assert iteration.training is not None

    def judged(mode: str, success: bool) -> Evaluation:
        episode = iteration.evaluation.episodes[0].model_copy(update={"success": success})
        return iteration.evaluation.model_copy(update={"mode": mode, "episodes": (episode,)})

    changes = {
        "actions": (CodedAction(name="fetch", doc="Fetch the key.", source=FETCH, max_steps=40),),
        "training": iteration.training.model_copy(update={"quarantined": ("fetch",)}),
        "code_evaluation": judged("code", success=True),
        "evaluation": judged("sampled", success=False),
    }
    run.rewrite("iterations/0/iteration", iteration.model_copy(update=changes))
    status, out, err = rlgpt("evaluate", "here", "--episodes", "2", "--video")
    assert status == 0, err
    _, figures, video = out.splitlines()
    assert figures.split()[:3] == ["code", "success", "1.00"]
    assert video.endswith("success)")
    assert not video.endswith("no success)")


@pytest.mark.usefixtures("trained")
def test_evaluate_plays_kept_tuned_code_with_the_found_values(rlgpt: Call) -> None:
    run = Run.open(Path("here"))
    (iteration,) = run.iterations()
    assert iteration.training is not None
    grip = Parameter(name="grip", low=1.0, high=9.0, default=3.0)
    source = FETCH.replace("def run()", "def run(grip)").replace("yield use()", "if grip > 5:\n        yield use()")

    def judged(mode: str, success: bool) -> Evaluation:
        episode = iteration.evaluation.episodes[0].model_copy(update={"success": success})
        return iteration.evaluation.model_copy(update={"mode": mode, "episodes": (episode,)})

    search = SearchRecord(episodes=40, successes=20, ended=100, found={"fetch.grip": 7.0})
    changes = {
        "actions": (CodedAction(name="fetch", doc="Fetch it.", source=source, parameters=(grip,), max_steps=40),),
        "training": iteration.training.model_copy(update={"search": search}),
        "code_evaluation": judged("code", success=False),
        "tuned_evaluation": judged("tuned", success=True),
        "evaluation": judged("sampled", success=False),
    }
    run.rewrite("iterations/0/iteration", iteration.model_copy(update=changes))
    status, out, err = rlgpt("evaluate", "here", "--episodes", "2")
    assert status == 0, err
    assert out.splitlines()[1].split()[:3] == ["tuned", "success", "1.00"]
    assert Path("here/evaluations/tuned-700000-2.json").exists()


@pytest.mark.usefixtures("trained")
def test_evaluate_accepts_task_settings_and_leaves_the_run_unchanged(rlgpt: Call) -> None:
    record = Path("here/run.json").read_bytes()
    status, out, err = rlgpt("evaluate", "here", "task_settings.slip=1.0", "--episodes", "20")
    assert status == 0, err
    assert out.startswith("grid/key, slip=1.0, iteration 0")
    kept = json.loads(Path("here/evaluations/sampled-700000-20-slip=1.0.json").read_text())
    assert [e["success"] for e in kept["episodes"]] == [False] * 20, "with slip=1.0 the agent cannot move"
    assert rlgpt("evaluate", "here", "--episodes", "20")[0] == 0
    plain = json.loads(Path("here/evaluations/sampled-700000-20.json").read_text())
    assert any(e["success"] for e in plain["episodes"])
    assert Path("here/run.json").read_bytes() == record
    wrongs = {"slip=1.0": "task_settings.NAME=VALUE", "task_settings.slop=1.0": "slip", "executor=no": "processes"}
    for wrong, word in wrongs.items():
        status, _, err = rlgpt("evaluate", "here", wrong)
        assert status == 2
        assert word in err


@pytest.mark.slow
@pytest.mark.usefixtures("trained")
def test_evaluation_in_several_processes_equals_one_in_a_single_process(rlgpt: Call) -> None:
    files = [Path("here/evaluations") / f"{mode}-700000-9.json" for mode in ("sampled", "greedy")]
    record = Path("here/run.json").read_bytes()
    assert rlgpt("evaluate", "here", "--episodes", "9")[0] == 0
    one = [file.read_bytes() for file in files]
    status, _, err = rlgpt("evaluate", "here", "--episodes", "9", "executor=processes", "executor.jobs=2")
    assert status == 0, err
    assert [file.read_bytes() for file in files] == one
    assert Path("here/run.json").read_bytes() == record


@pytest.mark.usefixtures("trained")
def test_resume_records_changed_settings(rlgpt: Call) -> None:
    assert rlgpt("resume", "here", "report_episodes=2", "sandbox.yields=7")[0] == 0
    config = Run.open(Path("here")).record.config
    assert (config["report_episodes"], config["sandbox"]["yields"]) == (2, 7)
    assert rlgpt("resume", "here", "llm=live", "llm.budget.dollars=5")[0] == 0
    llm = Run.open(Path("here")).record.config["llm"]
    assert (llm["kind"], llm["budget"]["dollars"]) == ("live", 5)
    assert rlgpt("resume", "here", "llm=record", "llm.budget.tokens=9")[0] == 0
    llm = Run.open(Path("here")).record.config["llm"]
    assert (llm["kind"], llm["budget"]["dollars"], llm["budget"]["tokens"]) == ("record", 5, 9)


@pytest.mark.usefixtures("trained")
def test_resume_refuses_an_invalid_change_and_leaves_the_run_unchanged(rlgpt: Call) -> None:
    before = Path("here/run.json").read_bytes()
    for change, words in {
        "seed=4": "cannot change its seed",
        "task=grid/door": "cannot change its task",
        "task_settings.size=9": "cannot change its task_settings",
        "budgt=3": "'budget'",
        "budget=-1": "budget=-1",
        "trainer=sac": "trainer.name was 'ppo' and is now 'sac'",
        "hyperparameters.hidden=[32]": "hyperparameters.hidden was [64, 64] and is now [32]",
        "hyperparameters.encoder=impala": "hyperparameters.encoder was 'small' and is now 'impala'",
    }.items():
        status, _, err = rlgpt("resume", "here", change)
        assert status == 2, change
        assert words in err
        assert Path("here/run.json").read_bytes() == before, change


@pytest.mark.usefixtures("trained")
def test_resume_refuses_a_run_that_is_in_progress(rlgpt: Call) -> None:
    before = Path("here/run.json").read_bytes()
    with Run.open(Path("here")).lock():
        status, _, err = rlgpt("resume", "here", "report_episodes=2")
    assert status != 0
    assert "another process" in err
    assert Path("here/run.json").read_bytes() == before


def test_sweep_continues_after_a_failed_run(rlgpt: Call) -> None:
    swept = ("-m", "agents=slow_fast,rl_only", "task=glob(grid/*)", "hydra.sweep.dir=sweep")
    status, out, err = rlgpt("train", *swept, "experiment=smoke")
    assert status == 2
    assert err.count("no recording of task") == 2
    runs = sorted(Path("sweep").rglob("run.json"))
    assert {Run.open(path.parent).record.task for path in runs} == {"grid/door", "grid/key"}
    assert len(runs) == 2
    status, out, _ = rlgpt("report", "sweep", "--out", "all.html")
    assert status == 0
    assert "grid/door" in out
    assert "grid/key" in Path("all.html").read_text()


def test_sweep_over_no_values_is_an_error(rlgpt: Call) -> None:
    status, _, err = rlgpt("train", "-m", "task=grid/key", "seed=range(0)", "hydra.sweep.dir=sweep")
    assert status == 2
    assert "the sweep has no runs" in err


@pytest.mark.slow
def test_sweep_runs_jobs_in_processes(rlgpt: Call) -> None:
    status, _, err = rlgpt("train", "-m", "-j", "2", *SMOKE, "seed=range(3)", "hydra.sweep.dir=sweep")
    assert status == 0, err
    assert err.count(": finished") == 3
    assert {Run.open(p.parent).record.seed for p in Path("sweep").rglob("run.json")} == {0, 1, 2}
    assert "pure RL" in Path("sweep/0/output.txt").read_text()


def test_setup_overrides_have_priority_over_the_agents_setup_and_are_recorded(rlgpt: Call) -> None:
    given = ("setup.gamma=0.97", "setup.reward_weights.near_key=2", "setup.horizon=11", "setup.observation_keys=[key]")
    assert rlgpt("train", *SMOKE, "folder=here", *given)[0] == 0
    run = Run.open(Path("here"))
    setup = run.iterations()[0].setup
    assert (setup.gamma, setup.horizon, setup.observation_keys) == (0.97, 11, ("key",))
    assert setup.reward_weights["near_key"] == 2
    assert set(setup.reward_weights) > {"near_key"}, "the other weights are unchanged"
    assert run.record.config["setup"]["gamma"] == 0.97


def test_train_refuses_a_setup_override_that_leaves_the_policy_no_choice(rlgpt: Call) -> None:
    status, _, err = rlgpt("train", *SMOKE, "folder=here", "setup.base_actions=[]")
    assert status == 2
    assert "the setup with setup.base_actions cannot be used" in err
