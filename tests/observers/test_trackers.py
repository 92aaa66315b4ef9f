"""Trackers: each gets everything once, also over resumed sessions, and is read back with its own package."""

from __future__ import annotations

import importlib.util
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rlgpt.files import JsonLines
from rlgpt.observers import Several
from rlgpt.observers.jsonl import FILE, Entry, JsonlTracker
from rlgpt.report import Film
from rlgpt.runs import Run
from sessions import iteration, session

STEPS = [4220, 7220, 10220, 15240, 18240, 21240]
"""Primitive steps since the run began at the six points of two trainings: 1,220 steps come before each."""


def needs(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"the extra rlgpt[{package}] is not installed")


def film(run: Run) -> None:
    with Film(run.files, "videos/best.mp4", fps=5) as shots:
        for shade in (0, 80, 160):
            shots.add(np.full((64, 96, 3), shade, dtype=np.uint8), "grasp")


def whole(run: Run, make: Any) -> None:
    """A run in three sessions. The first is killed in a training, and the last only reads what is finished."""
    session(run, make(), 0, points=2)
    session(run, make(), 0)
    film(run)
    session(run, make(), 1, end=True)
    session(run, make())


def lines(run: Run) -> list[Entry]:
    """The entries that every tracker gets, without the stages and messages of the sessions."""
    told = ("session", "stage", "finished", "message")
    return [e for e in JsonLines(run.files, FILE, Entry, "").read() if e.kind not in told]


def test_json_lines_contain_each_entry_of_a_resumed_run_once(run: Run) -> None:
    whole(run, JsonlTracker)
    found = lines(run)
    train = [e for e in found if "train/success" in e.numbers]
    assert [e.step for e in train] == STEPS
    assert [e.numbers["train/success"] for e in train] == [0.2, 0.4, 0.6] * 2
    assert train[0].numbers["train/usage/grasp_handle"] == 0.4
    assert train[0].numbers["train/metrics/angle"] == 0.1
    assert [e.step for e in found if "iteration/index" in e.numbers] == [11020, 22040]
    assert [e.numbers["llm/tokens"] for e in found if "llm/calls" in e.numbers] == [100, 200]
    (configuration,) = (e.configuration for e in found if e.kind == "configuration")
    assert configuration["task"] == "grid/door"
    assert configuration["budget"] == 3000
    assert [e.file for e in found if e.kind in ("bundle", "video")] == ["bundle", "videos/best.mp4"]
    tables = [e for e in found if e.kind == "table"]
    assert [e.name for e in tables] == ["actions", "episodes", "actions", "episodes", "report_episodes"]
    grasp = next(row for row in tables[0].rows if row["action"] == "grasp_handle")
    assert (grasp["attempts"], grasp["works"], grasp["stopped_by"], grasp["usage"]) == (2, True, "error", 0.38)
    assert len(tables[1].rows) == 15, "five episodes of code, ten of the policy"
    assert len(tables[-1].rows) == 10


def test_deleted_tracker_file_is_written_again_with_all_entries_on_resume(run: Run) -> None:
    session(run, JsonlTracker(), 0, 1)
    first = [(e.kind, e.step, e.numbers) for e in lines(run) if "llm/calls" not in e.numbers]
    (run.folder / FILE).unlink()
    session(run, JsonlTracker())
    assert [(e.kind, e.step, e.numbers) for e in lines(run)] == first


def test_tracker_added_on_resume_gets_the_finished_iterations(run: Run, tmp_path: Path) -> None:
    for index in (0, 1):
        run.rewrite(f"iterations/{index}/iteration", iteration(index))
    session(run, JsonlTracker())
    assert [e.step for e in lines(run) if "train/success" in e.numbers] == STEPS


def test_broken_tracker_is_reported_once_and_the_run_continues(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    class Full(JsonlTracker):
        def numbers(self, values: dict[str, float], step: int) -> None:
            raise OSError("no space left on the device")

        def close(self, status: str) -> None:
            raise OSError("closed")

    session(run, Full(), 0, 1)
    said = capsys.readouterr().err
    assert said == "observer Full is dropped: OSError: no space left on the device\n"


def test_observer_that_cannot_be_entered_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    class Shut(JsonlTracker):
        def __enter__(self) -> Any:
            raise ValueError("shut")

    with Several([Shut()]) as watching:
        watching.message("hello")
    assert "observer Shut is dropped: ValueError: shut" in capsys.readouterr().err


def test_json_lines_tracker_does_not_write_through_a_link(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    (run.folder / FILE).symlink_to(tmp_path / "elsewhere")
    session(run, JsonlTracker(), 0)
    assert (tmp_path / "elsewhere").read_text() == "precious"
    assert "is a link" in capsys.readouterr().err


@needs("tensorboard")
@pytest.mark.filterwarnings("ignore")
def test_tensorboard_files_contain_each_number_of_a_resumed_run_once(run: Run) -> None:
    from rlgpt.observers.tensorboard import TensorBoardTracker
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    whole(run, TensorBoardTracker)
    found = EventAccumulator(str(run.folder / "tensorboard"), size_guidance={"histograms": 0}).Reload()
    assert [e.step for e in found.Scalars("train/success")] == STEPS
    assert [e.value for e in found.Scalars("selection/success")] == pytest.approx([0.5, 0.8])
    assert [e.step for e in found.Scalars("llm/calls")] == [1, 2]
    assert [e.step for e in found.Scalars("report/success")] == [22040]
    (picture,) = found.Images("videos/best")
    assert picture.encoded_image_string[:3] == b"GIF"
    texts = {tag.removesuffix("/text_summary") for tag in found.Tags()["tensors"]}
    assert {"configuration", "actions", "episodes", "report_episodes", "bundle"} <= texts
    (bundle,) = found.Tensors("bundle/text_summary")
    assert b"stand off first" in bundle.tensor_proto.string_val[0]
    assert len(found.Histograms("episodes/return")) == 2


@needs("mlflow")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_contains_each_entry_of_a_resumed_run_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "mlruns").as_uri()
    from mlflow import MlflowClient
    from rlgpt.observers.mlflow import MlflowTracker

    whole(run, lambda: MlflowTracker(uri=uri, experiment="doors"))
    client = MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("doors")
    assert experiment is not None
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.info.status == "FINISHED"
    assert found.data.params["llm.model"] == "m"
    assert found.data.tags["rlgpt.task"] == "grid/door"
    history = client.get_metric_history(found.info.run_id, "train/success")
    assert sorted(m.step for m in history) == STEPS
    assert len(client.get_metric_history(found.info.run_id, "llm/calls")) == 2
    tables = [a.path for a in client.list_artifacts(found.info.run_id, "tables")]
    assert "tables/actions-11020.json" in tables
    kept = json.loads(Path(client.download_artifacts(found.info.run_id, "tables/episodes-11020.json")).read_text())
    assert len(kept["data"]) == 15
    assert [a.path for a in client.list_artifacts(found.info.run_id, "videos")] == ["videos/best.mp4"]
    assert "bundle/bundle.json" in [a.path for a in client.list_artifacts(found.info.run_id, "bundle")]

    client.delete_run(found.info.run_id)
    session(run, MlflowTracker(uri=uri, experiment="doors"))
    (again,) = client.search_runs([experiment.experiment_id])
    assert again.info.run_id != found.info.run_id
    assert len(client.get_metric_history(again.info.run_id, "train/success")) == 6


def chunks(data: bytes) -> Iterator[bytes]:
    """The records of wandb's offline file. It has LevelDB's log format: blocks of 32 KiB, each piece with a header of
    checksum, length and type (1 whole, 2 first, 3 middle, 4 last).
    """
    at, whole = 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield whole
            whole = b""


def offline_records(folder: Path) -> list[Any]:
    """The records of wandb's offline files, oldest session first."""
    from wandb.proto import wandb_internal_pb2

    files = sorted(folder.glob("wandb/offline-run-*/run-*.wandb"), key=lambda p: p.stat().st_mtime)
    return [wandb_internal_pb2.Record.FromString(chunk) for path in files for chunk in chunks(path.read_bytes())]


@pytest.mark.slow
@needs("wandb")
@pytest.mark.filterwarnings("ignore")
def test_wandb_offline_files_contain_each_entry_of_a_resumed_run_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rlgpt.observers.wandb import WandbTracker

    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    whole(run, lambda: WandbTracker(mode="offline", dir=str(tmp_path)))
    records = offline_records(tmp_path)
    assert len({r.run.run_id for r in records if r.HasField("run")}) == 1
    logged = [
        {i.nested_key[0]: json.loads(i.value_json) for i in r.history.item} for r in records if r.HasField("history")
    ]
    steps = [e["_step"] for e in logged]
    assert steps == sorted(set(steps)), "the server discards a step that is not larger than the one before"
    assert [e["primitive_steps"] for e in logged if "train/success" in e] == STEPS
    assert [e["llm/calls"] for e in logged if "llm/calls" in e] == [1, 2]
    assert sum("actions/table" in e for e in logged) == 2
    assert sum("videos/best" in e for e in logged) == 1
    config = {u.key: u.value_json for r in records if r.HasField("config") for u in r.config.update}
    assert config["task"] == '"grid/door"'
    names = [r.request.log_artifact.artifact.type for r in records if r.request.HasField("log_artifact")]
    names += [r.artifact.type for r in records if r.HasField("artifact")]
    assert "bundle" in names
