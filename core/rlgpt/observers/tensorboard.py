"""The observer ``observers=tensorboard`` writes event files to the run's folder. The command ``tensorboard --logdir
runs`` shows all runs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlgpt.observers.entries import Numbers, Row
from rlgpt.observers.tracker import Tracker
from rlgpt.runs import Run

FOLDER = "tensorboard"
GIF_WIDTH = 320
"""Maximal width of an animated picture, in pixels. TensorBoard cannot play videos, so videos become animated
pictures.
"""
GIF_FRAMES = 100
_EPISODE_NUMBERS = ("return", "score", "primitive_steps")


class TensorBoardTracker(Tracker):
    """TensorBoardTracker writes scalars, histograms over episodes, tables as text, and videos as animated pictures."""

    name = "tensorboard"

    def open(self, run: Run, marks: Mapping[str, Any]) -> bool:
        from torch.utils.tensorboard import SummaryWriter

        folder = run.files.subfolder(FOLDER)
        there = any(name.startswith("events.out") for name in run.files.names(FOLDER))
        self._writer: Any = SummaryWriter(log_dir=str(folder))
        return there

    def configuration(self, values: Mapping[str, Any]) -> None:
        self._writer.add_text("configuration", _block(json.dumps(values, indent=2, default=str)), 0)
        self._writer.flush()

    def numbers(self, values: Numbers, step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def table(self, name: str, rows: Sequence[Row], step: int) -> None:
        self._writer.add_text(name, markdown(rows), step)
        for column in _EPISODE_NUMBERS:
            values = [row[column] for row in rows if row.get(column) is not None]
            if values:
                self._writer.add_histogram(f"{name}/{column}", np.array(values, dtype=np.float64), step)
        self._writer.flush()

    def video(self, path: Path) -> None:
        from tensorboard.compat.proto.summary_pb2 import Summary

        gif, width, height = animated(path)
        image = Summary.Image(height=height, width=width, colorspace=3, encoded_image_string=gif)
        self._writer.file_writer.add_summary(Summary(value=[Summary.Value(tag=f"videos/{path.stem}", image=image)]))
        self._writer.flush()

    def bundle(self, folder: Path) -> None:
        sources = sorted([*folder.glob("actions/*.py"), *folder.glob("functions/*.py")])
        text = "\n\n".join(f"**{path.name}**\n\n{_block(path.read_text())}" for path in sources)
        self._writer.add_text("bundle", text, 0)

    def close(self, status: str) -> None:
        self._writer.close()


def markdown(rows: Sequence[Row]) -> str:
    """Rows as a table in Markdown. TensorBoard removes HTML from Markdown."""
    columns = list(rows[0])
    head = [_line(columns), _line(["---"] * len(columns))]
    return "\n".join([*head, *(_line([_cell(row.get(c)) for c in columns]) for row in rows)])


def animated(path: Path) -> tuple[bytes, int, int]:
    """A video as an animated GIF of at most :data:`GIF_FRAMES` frames, with its width and height in pixels."""
    import imageio_ffmpeg
    from PIL import Image

    frames: Iterator[Any] = imageio_ffmpeg.read_frames(str(path))
    meta = next(frames)
    size, fps = meta["size"], float(meta["fps"])
    every = max(1, int(float(meta["duration"]) * fps) // GIF_FRAMES + 1)
    small = (min(GIF_WIDTH, size[0]), max(1, size[1] * min(GIF_WIDTH, size[0]) // size[0]))
    pictures = [
        Image.frombytes("RGB", size, frame).resize(small).quantize(64)
        for n, frame in enumerate(frames)
        if n % every == 0
    ]
    out = io.BytesIO()
    pictures[0].save(
        out, format="GIF", save_all=True, append_images=pictures[1:], duration=round(1000 * every / fps), loop=0
    )
    return out.getvalue(), *small


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return " ".join(text.replace("|", "\\|").split())


def _block(text: str) -> str:
    """Text as a code block of Markdown, with every line indented."""
    return "\n".join(f"    {line}" for line in text.splitlines())
