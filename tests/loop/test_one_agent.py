"""The ablation with a single agent: one request for each iteration and one for each repair."""

from __future__ import annotations

import json
from pathlib import Path

from rlgpt.llm.base import Request, RequestKey
from rlgpt.loop import run
from rlgpt.options import load_bundle
from rlgpt.rl.ppo import PPO
from rlgpt.testing.llm import FakeLLM
from story import BROKEN, SHORT, TASK, WALK, context, reply


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
    result = run(context(tmp_path, PPO(), llm, kind="one_agent", settings=SHORT))
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
