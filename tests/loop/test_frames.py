"""Frames (images of an episode) for a critic whose language model accepts images."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rlgpt.llm.base import Request
from rlgpt.llm.replay import Replay
from rlgpt.llm.transcript import export
from rlgpt.loop import run
from rlgpt.loop.frames import COUNT, Frames, film
from rlgpt.rl.ppo import PPO
from rlgpt.testing.grid import GridEnv
from rlgpt.testing.llm import FakeLLM
from story import BRIEF, context, reply


def shade(url: str) -> int:
    picture = Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1])))
    return int(np.asarray(picture)[0, 0, 0])


@pytest.mark.parametrize("length", [1, 5, COUNT, 17, 200])
def test_frames_for_the_critic_are_spread_over_the_first_episode(length: int) -> None:
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


@pytest.mark.parametrize("supports_vision", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_critic_receives_frames_only_when_its_model_supports_vision(tmp_path: Path, supports_vision: bool) -> None:
    llm = FakeLLM(reply, supports_vision=supports_vision)
    run(context(tmp_path, PPO(), llm, settings=BRIEF))
    critics = [r for r in llm.requests if r.key.role == "critic"]
    images = [len(m.images) for r in critics for m in r.messages]
    assert bool(sum(images)) == supports_vision


def reviews(llm: FakeLLM) -> list[Request]:
    return [r for r in llm.requests if r.key.role == "review"]


@pytest.mark.parametrize("evidence", ["text", "frames", "both"])
def test_review_request_contains_text_frames_or_both_by_the_setting_evidence(tmp_path: Path, evidence: str) -> None:
    llm = FakeLLM(reply, supports_vision=True)
    settings = BRIEF.model_copy(update={"iterations": 1, "evidence": evidence})
    result = run(context(tmp_path / "seen", PPO(), llm, settings=settings, kind="code_only"))
    *_, rehearsal = result.history[0].rehearsals["to_row"]
    assert rehearsal.trace is not None
    (asked,) = reviews(llm)
    message = asked.messages[-1]
    assert bool(message.images) == (evidence != "text")
    assert ("Episode with seed" in message.content) == (evidence != "frames")
    assert ("before the call; 2 after go" in message.content) == (evidence != "text")
    pictures = {url for m in asked.messages for url in m.images}
    assert len(pictures) == len(message.images), "no two frames are equal"
    blind = FakeLLM(reply)
    unseen = (
        run(context(tmp_path / "blind", PPO(), blind, settings=settings, kind="code_only"))
        .history[0]
        .rehearsals["to_row"][-1]
    )
    (told,) = reviews(blind)
    assert not told.messages[-1].images
    assert "Episode with seed" in told.messages[-1].content
    again = 0 if evidence == "text" else rehearsal.trace.primitive_steps
    assert rehearsal.steps == unseen.steps + again, "the steps of the second episode, for frames, are counted"
    assert (told.fingerprint == asked.fingerprint) == (evidence == "text")


def test_replay_returns_the_recorded_review_of_frames_when_the_environment_cannot_render(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = BRIEF.model_copy(update={"iterations": 1, "evidence": "both"})
    first = run(
        context(tmp_path / "seen", PPO(), FakeLLM(reply, supports_vision=True), settings=settings, kind="code_only")
    )
    transcript = export(tmp_path / "seen" / "llm.jsonl", tmp_path / "t.jsonl")
    assert [bool(e.images) for e in transcript.entries if e.key.role == "review"] == [True]
    monkeypatch.setattr(GridEnv, "render", lambda env: None)
    replay = Replay(tmp_path / "t.jsonl")
    assert replay.supports_vision
    again = run(context(tmp_path / "again", PPO(), replay, settings=settings, kind="code_only"))
    for now, then in zip(again.history[0].rehearsals["to_row"], first.history[0].rehearsals["to_row"], strict=True):
        assert (now.action, now.trace, now.review) == (then.action, then.trace, then.review)
