"""The observer ``observers=wandb`` writes a run to Weights & Biases, online or offline."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rlgpt.observers.entries import Numbers, Row
from rlgpt.observers.tracker import Tracker
from rlgpt.runs import Run

AXIS = "primitive_steps"


class WandbTracker(Tracker):
    """WandbTracker writes numbers, tables and videos to Weights & Biases, and the bundle as an artefact.

    :param project: name of the project.
    :param entity: user or team; default: the user who is logged in.
    :param mode: mode of wandb; in the mode ``offline``, wandb writes only files, which ``wandb sync`` uploads later. By
        default, wandb uses the mode in the variable ``WANDB_MODE``, or ``online``.
    :param dir: folder for wandb's files. Default: wandb's default, which is ``./wandb``.
    """

    name = "wandb"

    def __init__(
        self,
        *,
        project: str = "rlgpt",
        entity: str | None = None,
        mode: Literal["online", "offline"] | None = None,
        dir: str | None = None,
    ) -> None:
        super().__init__()
        self._project, self._entity, self._mode, self._dir = project, entity, mode, dir

    def open(self, run: Run, marks: Mapping[str, Any]) -> bool:
        import wandb

        where, _, known = str(marks.get("place", "")).rpartition("#")
        there = bool(known) and where == self._where
        self._id = known if there else secrets.token_hex(8)
        self._created, self._step = datetime.fromisoformat(run.record.created), 0
        self._wandb: Any = wandb.init(
            project=self._project,
            entity=self._entity,
            mode=self._mode,
            dir=self._dir,
            id=self._id,
            name=run.folder.name,
            resume="allow",
            reinit="create_new",  # A sweep has several runs in one process.
            settings=wandb.Settings(console="off", silent=True, disable_git=True),
        )
        self._wandb.define_metric("llm/*", step_metric="llm/calls")
        for name in ("train/*", "selection/*", "code/*", "report/*", "steps/*", "iteration/*"):
            self._wandb.define_metric(name, step_metric=AXIS)
        return there

    @property
    def _where(self) -> str:
        return "/".join(part for part in (self._entity, self._project) if part)

    def place(self) -> str:
        return f"{self._where}#{self._id}"

    def configuration(self, values: Mapping[str, Any]) -> None:
        self._wandb.config.update(dict(values), allow_val_change=True)

    def numbers(self, values: Numbers, step: int) -> None:
        self._log(dict(values) if "llm/calls" in values else {**values, AXIS: step})

    def table(self, name: str, rows: Sequence[Row], step: int) -> None:
        import wandb

        columns: list[Any] = list(rows[0])
        table = wandb.Table(columns=columns, data=[[row.get(c) for c in columns] for row in rows])
        self._log({f"{name}/table": table, AXIS: step})

    def video(self, path: Path) -> None:
        import wandb

        self._log({f"videos/{path.stem}": wandb.Video(str(path), format="mp4")})

    def bundle(self, folder: Path) -> None:
        import wandb

        artifact = wandb.Artifact(f"bundle-{self._id}", type="bundle")
        artifact.add_dir(str(folder))
        self._wandb.log_artifact(artifact)

    def _log(self, values: dict[str, Any]) -> None:
        """Log ``values``. The step for wandb is the time since the run was created, in milliseconds. This step grows
        over all sessions of the run, because wandb discards entries whose step is smaller than the last step.
        """
        now = int((datetime.now(UTC) - self._created).total_seconds() * 1000)
        self._step = max(self._step + 1, now)
        self._wandb.log(values, step=self._step)

    def close(self, status: str) -> None:
        self._wandb.finish(exit_code=1 if status == "failed" else 0)
