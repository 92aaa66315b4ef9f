"""The recordings of the five environments match the current prompts, and their bundles load."""

import json
from pathlib import Path

import pytest
import rlgpt
from rlgpt.agents.brief import make_brief
from rlgpt.config.prepare import prepare
from rlgpt.llm.transcript import Transcript
from rlgpt.testing.contract.recordings import fingerprints, kind_of
from test_worlds import world
from worlds import HERE, WORLDS

TRANSCRIPTS = sorted(p for p in HERE.glob("transcripts/*/*.jsonl") if p.parent.name in WORLDS)
BUNDLES = sorted(p.parent for p in HERE.glob("bundles/*/bundle.json"))


VARIANTS = {"lunar_lander_windy"}
"""Names of recordings of environments that a benchmark changes. That benchmark has the changed description."""


def test_every_recording_and_every_bundle_belongs_to_an_example_environment() -> None:
    assert (HERE / "transcripts" / "doorkey" / "0.jsonl").is_file(), "the notebook replays it"
    assert {path.name for path in BUNDLES} <= set(WORLDS)
    assert {path.parent.name for path in HERE.glob("transcripts/*/*.jsonl")} <= set(WORLDS) | VARIANTS


@pytest.mark.slow
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_recordings_of_the_example_environments_match_the_fingerprints_of_the_current_prompts(path: Path) -> None:
    transcript, (plugin, task) = Transcript.read(path), prepare(**world(path.parent.name).described)
    assert transcript.header.task == task.id
    now = fingerprints(plugin, make_brief(plugin, task))
    stale = {kind_of(e.key)[0] for e in transcript.entries if now.get(kind_of(e.key)) != e.fingerprint}
    assert not stale, f"record again: python examples/design/worlds.py {path.parent.name} --llm MODEL"


@pytest.mark.slow
def test_recording_of_one_agent_is_replayed_without_a_model(tmp_path: Path) -> None:
    """The ablation ``agents=one_agent``: plan, code and setup are in one reply."""
    recording = HERE / "transcripts" / "mountain_car" / "one_agent.jsonl"
    more = {"selection_episodes": 2, "confirmation_episodes": 0, "rehearsal_episodes": 1, "report_episodes": 2}
    bundle = world("mountain_car").design(str(recording), tmp_path, agents="one_agent", trial=0, video=False, **more)
    assert bundle.tested_on is not None
    assert bundle.tested_on.episodes == 2
    asked = [json.loads(line)["reply"]["text"] for line in (tmp_path / "llm.jsonl").read_text().splitlines()]
    recorded = [json.loads(line)["text"] for line in recording.read_text().splitlines()[1:]]
    assert asked
    assert asked == recorded[: len(asked)]


@pytest.mark.slow
@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.name)
def test_bundles_of_the_example_environments_extend_their_environment(path: Path) -> None:
    env = rlgpt.extend(world(path.name).make_env(), actions=path)
    env.reset(seed=0)
    for action in env.actions:
        assert env.step(env.extension.write(action.name))[4]["duration"] >= 1
        env.reset(seed=1)
    env.close()
