"""The recordings of the five environments match the current prompts, and their bundles load."""

from pathlib import Path

import pytest
import rlgpt
from rlgpt.agents.brief import make_brief
from rlgpt.config.prepare import prepare
from rlgpt.llm.transcript import Transcript
from rlgpt.testing.contract.recordings import fingerprints, kind_of
from test_worlds import world
from worlds import HERE, WORLDS

TRANSCRIPTS = sorted(p for p in HERE.glob("transcripts/*/*.jsonl"))
BUNDLES = sorted(p.parent for p in HERE.glob("bundles/*/bundle.json"))


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_is_recorded_and_has_the_bundle_of_its_first_recording(name: str) -> None:
    for kept in (HERE / "transcripts" / name / "0.jsonl", HERE / "bundles" / name / "bundle.json"):
        assert kept.is_file(), f"record it: python examples/design/worlds.py {name} --llm MODEL --folder RUN"
    others = {path.parent.name for path in TRANSCRIPTS} | {path.name for path in BUNDLES}
    assert others <= set(WORLDS), f"of no world of worlds.py: {sorted(others - set(WORLDS))}"


@pytest.mark.slow
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_transcripts_answer_the_current_prompts(path: Path) -> None:
    transcript, (plugin, task) = Transcript.read(path), prepare(**world(path.parent.name).described)
    assert transcript.header.task == task.id
    now = fingerprints(plugin, make_brief(plugin, task))
    stale = {kind_of(e.key)[0] for e in transcript.entries if now.get(kind_of(e.key)) != e.fingerprint}
    assert not stale, f"record again: python examples/design/worlds.py {path.parent.name} --llm MODEL"


@pytest.mark.slow
@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.name)
def test_bundles_extend_their_environment(path: Path) -> None:
    env = rlgpt.extend(world(path.name).make_env(), actions=path)
    env.reset(seed=0)
    for action in env.actions:
        assert env.step(env.extension.write(action.name))[4]["duration"] >= 1
        env.reset(seed=1)
    env.close()
