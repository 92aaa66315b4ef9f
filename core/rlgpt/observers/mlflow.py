"""The observer ``observers=mlflow`` writes a run to MLflow, on a server or in local files."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.observers.entries import Numbers, Row, settings
from rlgpt.observers.tracker import Tracker
from rlgpt.runs import Run

_BATCH = 100
"""Maximal number of parameters or metrics in one request to MLflow."""
_VALUE = 500
"""Maximal number of characters of a parameter; MLflow refuses longer parameters."""
_STATUS = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}


class MlflowTracker(Tracker):
    """MlflowTracker writes metrics, parameters, tables as JSON artefacts (in the form of ``mlflow.log_table``), videos
    and the bundle of a run.

    :param uri: the address at which MLflow stores runs (``observers.mlflow.uri=http://...``). By default, MLflow uses
        the address in the variable ``MLFLOW_TRACKING_URI``, or a database in the current folder.
    :param experiment: name of the experiment. MLflow makes the experiment if the experiment does not exist.
    """

    name = "mlflow"

    def __init__(self, *, uri: str | None = None, experiment: str = "rlgpt") -> None:
        super().__init__()
        self._uri, self._experiment, self._id = uri, experiment, ""

    def open(self, run: Run, marks: Mapping[str, Any]) -> bool:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        self._client: Any = MlflowClient(tracking_uri=self._uri)
        uri, _, known = str(marks.get("place", "")).rpartition("#")
        if known and uri == self._client.tracking_uri:
            try:
                self._client.update_run(known, status="RUNNING")
            except MlflowException:
                known = ""  # The run was deleted in MLflow.
            else:
                self._id = known
                return True
        found = self._client.get_experiment_by_name(self._experiment)
        experiment = found.experiment_id if found else self._client.create_experiment(self._experiment)
        tags = {"rlgpt.task": run.record.task, "rlgpt.seed": str(run.record.seed), "rlgpt.folder": str(run.folder)}
        self._id = self._client.create_run(experiment, run_name=run.folder.name, tags=tags).info.run_id
        return False

    def place(self) -> str:
        return f"{self._client.tracking_uri}#{self._id}"

    def configuration(self, values: Mapping[str, Any]) -> None:
        from mlflow.entities import Param

        params = [Param(_name(k), str(v)[:_VALUE]) for k, v in settings(values).items()]
        for first in range(0, len(params), _BATCH):
            self._client.log_batch(self._id, params=params[first : first + _BATCH])
        self._client.log_dict(self._id, dict(values), "configuration.json")

    def numbers(self, values: Numbers, step: int) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(_name(k), v, now, step) for k, v in values.items()]
        for first in range(0, len(metrics), _BATCH):
            self._client.log_batch(self._id, metrics=metrics[first : first + _BATCH])

    def table(self, name: str, rows: Sequence[Row], step: int) -> None:
        columns = list(rows[0])
        data = [[row.get(c) for c in columns] for row in rows]
        self._client.log_dict(self._id, {"columns": columns, "data": data}, f"tables/{name}-{step}.json")

    def video(self, path: Path) -> None:
        self._client.log_artifact(self._id, str(path), "videos")

    def bundle(self, folder: Path) -> None:
        self._client.log_artifacts(self._id, str(folder), "bundle")

    def close(self, status: str) -> None:
        self._client.set_terminated(self._id, _STATUS.get(status, "FAILED"))


def _name(name: str) -> str:
    """A name in which only characters that MLflow accepts remain."""
    return re.sub(r"[^\w\-. /]", "_", name)[:250]
