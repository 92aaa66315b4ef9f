"""A film writes frames with captions to an mp4 file."""

from __future__ import annotations

from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from rlgpt.errors import RunError
from rlgpt.files import Folder
from rlgpt.report.video import Film, caption


def frame(grey: int, height: int = 97, width: int = 129) -> np.ndarray:
    return np.full((height, width, 3), grey, np.uint8)


def test_caption_covers_only_the_upper_edge_of_a_frame() -> None:
    given = frame(200)
    drawn = caption(given, "grasp_handle")
    assert drawn.shape == given.shape
    assert (drawn[27:] == 200).all()
    assert (drawn[:8] != 200).any()
    assert (given == 200).all()
    assert (caption(given, "grasp_handle") != caption(given, "pull")).any()


def test_written_video_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "videos" / "best.mp4"
    with Film(Folder(tmp_path, RunError), "videos/best.mp4", fps=10) as film:
        for i in range(12):
            film.add(frame(10 * i), f"action {i}")
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert (frames, seconds) == (12, pytest.approx(1.2))
    reader = imageio_ffmpeg.read_frames(str(path))
    assert next(reader)["size"] == (128, 96)
    reader.close()
    assert [p.name for p in path.parent.iterdir()] == ["best.mp4"]


def test_error_while_filming_leaves_no_incomplete_video(tmp_path: Path) -> None:
    def broken() -> None:
        with Film(Folder(tmp_path, RunError), "a.mp4") as film:
            film.add(frame(1), "x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert list(tmp_path.iterdir()) == []


def test_film_without_frames_writes_no_file(tmp_path: Path) -> None:
    with Film(Folder(tmp_path, RunError), "a.mp4"):
        pass
    assert list(tmp_path.iterdir()) == []
