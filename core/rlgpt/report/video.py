"""Videos of an episode: each frame carries the name of the action that was active."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rlgpt.errors import RlgptError

Frame = NDArray[np.uint8]
"""``[height, width, 3]``, RGB."""


def caption(frame: Frame, text: str) -> Frame:
    """A copy of the frame with ``text`` on a dark strip along its upper edge (players put their controls below)."""
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
    """An mp4 (H.264, plays in every browser) in the making; the file appears whole, at the end, or not at all.

    :param path: the file; nothing is left there if no frame was added or an error ended the block.
    :raises RlgptError: there is no encoder, or it failed.
    """

    def __init__(self, path: Path, *, fps: int = 20) -> None:
        self.path, self.fps, self.frames = path, fps, 0
        self._draft = path.with_name(f".{path.stem}.part.mp4")
        self._writer: Generator[None, Frame | None, None] | None = None

    def __enter__(self) -> Self:
        return self

    def add(self, frame: Frame, text: str) -> None:
        """Append a frame with its caption; all are of one size."""
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
        try:
            if self._writer is not None:
                self._writer.close()
                if error is None:
                    self._draft.replace(self.path)
        except (OSError, RuntimeError) as fault:
            raise self._fault(fault) from fault
        finally:
            self._draft.unlink(missing_ok=True)

    def _open(self, first: Frame) -> Generator[None, Frame | None, None]:
        import imageio_ffmpeg

        self.path.parent.mkdir(parents=True, exist_ok=True)
        writer: Generator[None, Frame | None, None] = imageio_ffmpeg.write_frames(
            str(self._draft),
            (first.shape[1], first.shape[0]),
            fps=self.fps,
            codec="libx264",
            macro_block_size=2,
            output_params=["-movflags", "faststart"],
        )
        writer.send(None)
        return writer

    def _fault(self, error: Exception) -> RlgptError:
        return RlgptError(f"cannot write {self.path}: {error}. `rlgpt doctor` tells what is missing.")


def _even(frame: Frame) -> Frame:
    """H.264 with 4:2:0 colours needs an even width and height: the last row and column go where they are odd."""
    height, width = frame.shape[:2]
    return frame[: height - height % 2, : width - width % 2]
