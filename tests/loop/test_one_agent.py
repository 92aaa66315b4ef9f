"""The ablation with a single agent: one request for each iteration and one for each repair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rlgpt.config.recordings import choosable
from rlgpt.config.run_config import RunConfig
from rlgpt.errors import TranscriptError
from rlgpt.llm.base import Request, RequestKey
from rlgpt.llm.record import Recorder
from rlgpt.llm.replay import Replay
from rlgpt.llm.transcript import Transcript
from rlgpt.loop import run
from rlgpt.options import load_bundle
from rlgpt.rl.ppo import PPO
from rlgpt.testing.llm import FakeLLM
from story import BRIEF, BROKEN, TASK, WALK, context, reply

ONCE = BRIEF.model_copy(update={"iterations": 1, "budget": 300})


def asked(role: str) -> dict[str, object]:
    """Return the fields of the scripted reply to a role."""
    text = reply(Request(key=RequestKey(task=TASK.id, role=role), messages=(), fingerprint=""))
    fields: dict[str, object] = json.loads(text.partition("\n```")[0])
    return fields


def whole(request: Request) -> str:
    """Return plan, code and setup in a single reply. The first version of the code divides by zero."""
    signature = asked("fast")
    if request.key.attempt:
        return f"{json.dumps(signature)}\n```python\n{WALK}\n```"
    signature.pop("thoughts")
    fields = {**asked("slow"), "actions": [{"name": "to_row", **signature}], "setup": asked("setup")}
    return f"{json.dumps(fields)}\n```python\n# action: to_row\n{BROKEN}\n```"


def test_run_with_one_agent_sends_one_request_per_iteration_and_per_repair(tmp_path: Path) -> None:
    llm = FakeLLM(whole)
    result = run(context(tmp_path, PPO(), llm, kind="one_agent", settings=BRIEF))
    assert result.stopped is None
    assert [i.index for i in result.history] == [0, 1]
    for iteration in result.history:
        assert [(r.attempt, r.failed) for r in iteration.rehearsals["to_row"]] == [(0, True), (1, False)]
        assert iteration.setup.coded_actions == ("to_row",)
        assert iteration.training is not None
    critique = result.history[0].critique
    assert critique is not None
    assert critique.summary.startswith("No critic took part")
    assert [(k.iteration, k.role, k.sub_action, k.attempt) for k in llm.keys] == [
        (index, "solo", name, attempt) for index in (0, 1) for name, attempt in (("", 0), ("to_row", 1))
    ]
    assert [a.name for a in load_bundle(tmp_path / "bundle").actions] == ["to_row"]


def test_each_plan_of_one_agent_has_the_code_of_its_own_reply(tmp_path: Path) -> None:
    """The first versions need no further request, and the setup is the one of the plan that goes on."""

    def several(request: Request) -> str:
        text = whole(request).replace(BROKEN, (WALK, "def run():\n    yield observe()\n")[request.key.plan])
        return text.replace("walk to the row", f"walk in the way {request.key.plan} to the row")

    llm = FakeLLM(several)
    settings = ONCE.model_copy(update={"plans": 2, "budget": 2_000})
    (iteration,) = run(context(tmp_path, PPO(), llm, kind="one_agent", settings=settings)).history
    assert [(k.role, k.sub_action, k.plan) for k in llm.keys] == [("solo", "", 0), ("solo", "", 1)]
    assert [p.kept for p in iteration.plans] == [True, False]
    assert iteration.actions[0].source.strip() == WALK.strip()
    assert iteration.setup.coded_actions == ("to_row",)


def test_run_with_one_agent_is_replayed_from_its_recording(tmp_path: Path) -> None:
    recording = tmp_path / "one.jsonl"
    recorder = Recorder(FakeLLM(whole), tmp_path / "llm.jsonl", transcript=recording)
    first = run(context(tmp_path / "first", PPO(), recorder, kind="one_agent", settings=BRIEF))
    again = run(context(tmp_path / "again", PPO(), Replay(recording), kind="one_agent", settings=BRIEF))
    assert again.stopped is None
    assert [(i.plan, i.actions, i.setup, i.evaluation) for i in again.history] == [
        (i.plan, i.actions, i.setup, i.evaluation) for i in first.history
    ]


def test_replay_chooses_among_the_recordings_of_its_team(tmp_path: Path) -> None:
    paths = []
    for kind, script in (("one_agent", whole), ("slow_fast", reply)):
        paths.append(tmp_path / f"{kind}.jsonl")
        recorder = Recorder(FakeLLM(script), tmp_path / f"{kind}.llm.jsonl", transcript=paths[-1])
        run(context(tmp_path / kind, PPO(), recorder, kind=kind, settings=ONCE))
    one, two = paths
    planned = tmp_path / "planned.jsonl"  # A planner's recording begins with its graph and goes on with slow agents.
    content = Transcript.read(two)
    graph = content.entries[0].model_copy(update={"key": RequestKey(task=TASK.id, iteration=0, role="planner")})
    parts = [
        e.model_copy(update={"key": e.key.model_copy(update={"task": f"{TASK.id}.part"})}) for e in content.entries
    ]
    content.model_copy(update={"entries": (graph, *parts)}).write(planned)
    paths.append(planned)

    def config(**more: object) -> RunConfig:
        return RunConfig.model_validate({"task": TASK.id, "llm": {"kind": "replay"}, **more})

    alone = {"name": "one_agent"}
    assert choosable(config(agents=alone), paths) == (one,)
    assert choosable(config(), paths) == (two,)
    assert choosable(config(planner={"name": "graph"}), paths) == (planned,)
    assert choosable(config(llm={"kind": "replay", "transcript": 0}), paths) == tuple(paths)
    assert choosable(config(agents=alone), ()) == (), "a task without recordings has a message of its own"
    with pytest.raises(TranscriptError, match="none of the 1 recordings of grid/key is of one agent"):
        choosable(config(agents=alone), [two])
    with pytest.raises(TranscriptError, match="slow and fast agent that sees images"):
        choosable(config(evidence="both"), paths)
    seeing = tmp_path / "seeing.jsonl"
    first, *rest = Transcript.read(two).entries
    content.model_copy(update={"entries": (first, *(e.model_copy(update={"images": 2}) for e in rest))}).write(seeing)
    assert choosable(config(evidence="both"), [*paths, seeing]) == (seeing,)
    assert choosable(config(), [*paths, seeing]) == (two,), "its model did not get the images"
