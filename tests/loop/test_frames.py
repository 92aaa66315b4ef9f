"""Frames for a critic with vision."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rlgpt.loop import run
from rlgpt.loop.frames import COUNT, Frames, film
from rlgpt.rl.ppo import PPO
from rlgpt.testing.llm import FakeLLM
from story import SETTINGS, context, reply


def shade(url: str) -> int:
    picture = Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1])))
    return int(np.asarray(picture)[0, 0, 0])


@pytest.mark.parametrize("length", [1, 5, COUNT, 17, 200])
def test_frames_are_spread_over_the_first_episode(length: int) -> None:
    frames = Frames()
    for i in range(length):
        frames.add(np.full((8, 8, 3), i, np.uint8), "start" if i == 0 else "go")
    frames.add(np.full((8, 8, 3), 255, np.uint8), "start")
    shades = [shade(u) for u in frames.urls()]
    assert len(shades) == min(length, COUNT)
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert length - 1 - 2 * length / COUNT <= shades[-1] < 255


def test_missing_renderer_gives_no_frames_and_a_reason() -> None:
    def broken(_: object) -> None:
        raise RuntimeError("no GL here")

    assert film(broken) == ((), "the critic sees no frames: RuntimeError: no GL here")


@pytest.mark.parametrize("supports_vision", [True, False])
def test_critic_receives_frames_only_with_vision(tmp_path: Path, supports_vision: bool) -> None:
    llm = FakeLLM(reply, supports_vision=supports_vision)
    run(context(tmp_path, PPO(), llm, settings=SETTINGS.model_copy(update={"budget": 1500})))
    critics = [r for r in llm.requests if r.key.role == "critic"]
    images = [len(m.images) for r in critics for m in r.messages]
    assert bool(sum(images)) == supports_vision
