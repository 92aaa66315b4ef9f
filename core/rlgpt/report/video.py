"""Writes videos of episodes. Each frame of a video shows the name of the active action."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rlgpt.errors import RlgptError
from rlgpt.files import Folder

Frame = NDArray[np.uint8]
"""An image ``[height, width, 3]``, RGB, uint8."""


def caption(frame: Frame, text: str) -> Frame:
    """A copy of the frame with the text ``text`` on a dark strip at its upper edge. The strip with the text is not at
    the lower edge, because video players show their controls there.
    """
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(frame)
    height, width = frame.shape[:2]
    size = max(10, height // 18)
    strip = round(size * 1.8)
    draw = ImageDraw.Draw(image, "RGBA")
    draw.rectangle((0, 0, width, strip), fill=(12, 16, 24, 190))
    draw.text((size * 0.6, strip * 0.5), text, font=ImageFont.load_default(size), fill="white", anchor="lm")
    return np.asarray(image)


class Film:
    """Film writes an mp4 video (H.264, which every browser plays), completely or not at all.

    The encoder writes the video into a temporary folder outside the run's folder, because an encoder would follow a
    link inside the run's folder. No video file is written if the video has no frame, or if an error ends the ``with``
    block.

    :param folder: the folder for the file.
    :param name: the path of the file within ``folder``.
    :param fps: frames per second.
    :raises RlgptError: no encoder is installed, the encoder failed, or the video file cannot be written.
    """

    def __init__(self, folder: Folder, name: str, *, fps: int = 20) -> None:
        self.folder, self.name, self.fps, self.frames = folder, name, fps, 0
        self._drafts: tempfile.TemporaryDirectory[str] | None = None
        self._writer: Generator[None, Frame | None, None] | None = None

    def __enter__(self) -> Self:
        self._drafts = tempfile.TemporaryDirectory(prefix="rlgpt-film-")
        return self

    def add(self, frame: Frame, text: str) -> None:
        """Append a frame with its caption. All frames must have the same size."""
        drawn = np.ascontiguousarray(_even(caption(frame, text)))
        try:
            if self._writer is None:
                self._writer = self._open(drawn)
            self._writer.send(drawn)
        except (OSError, RuntimeError) as error:
            raise self._fault(error) from error
        self.frames += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._drafts is not None
        try:
            if self._writer is not None:
                self._writer.close()
                if error is None:
                    self.folder.write(self.name, self._draft.read_bytes())
        except (OSError, RuntimeError) as fault:
            raise self._fault(fault) from fault
        finally:
            self._drafts.cleanup()

    @property
    def _draft(self) -> Path:
        assert self._drafts is not None
        return Path(self._drafts.name) / "film.mp4"

    def _open(self, first: Frame) -> Generator[None, Frame | None, None]:
        import imageio_ffmpeg

        writer: Generator[None, Frame | None, None] = imageio_ffmpeg.write_frames(
            str(self._draft),
            (first.shape[1], first.shape[0]),
            fps=self.fps,
            codec="libx264",
            macro_block_size=2,
            output_params=["-movflags", "faststart", "-preset", "veryfast"],
        )
        writer.send(None)
        return writer

    def _fault(self, error: Exception) -> RlgptError:
        return RlgptError(
            f"cannot write {self.folder.path / self.name}: {error}. `rlgpt doctor` lists missing software."
        )


def _even(frame: Frame) -> Frame:
    """Crop a frame to an even width and height, because H.264 with 4:2:0 colours needs even numbers."""
    height, width = frame.shape[:2]
    return frame[: height - height % 2, : width - width % 2]
