"""A whole run on an installed plugin that is not part of the core. Start it as ``python corridor_run.py FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rlgpt.agents.build import build_agents
from rlgpt.llm.base import Request
from rlgpt.llm.record import Recorder
from rlgpt.loop import LoopContext, LoopSettings, run
from rlgpt.plugin import PluginManager, library_of
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.llm import FakeLLM

SOURCE = """
def can_start(view):
    return not view["open"]

def run(before=0.0):
    view = yield observe()
    yield walk_to(x=view["switch"] - before)
    outcome = yield press()
    if not outcome["open"]:
        yield walk_to(x=view["switch"])
        yield press()
"""
PARTS = [("open_door", "code", "walk to the switch and press it"), ("leave", "rl", "walk to the exit by yourself")]
PARAMETER = {"name": "before", "low": 0.0, "high": 0.3, "default": 0.0, "unit": "m", "doc": "where to stop"}


def reply(request: Request) -> str:
    """Return the scripted reply to a request."""
    plan = [{"name": n, "kind": k, "description": d, "reason": "it is so"} for n, k, d in PARTS]
    code = {"thoughts": "", "doc": "Open the door.", "parameters": [PARAMETER], "max_steps": 60}
    setup = {
        "reward_weights": {"env_reward": 1.0, "near_switch": 1.0, "near_exit": 1.0},
        "observation_keys": ["x", "switch", "open"],
        "base_actions": ["walk"],
        "coded_actions": ["open_door"],
        "reason": "the hand is the code's",
    }
    return {
        "slow": json.dumps({"thoughts": "", "sub_actions": plan}),
        "fast": f"{json.dumps(code)}\n```python\n{SOURCE}```",
        "setup": json.dumps(setup),
        "review": json.dumps({"thoughts": "", "works": True, "findings": []}),
        "critic": json.dumps({"thoughts": "", "summary": "fine", "for_slow": [], "for_fast": []}),
    }[request.key.role]


def main(folder: Path) -> None:
    plugin, task = PluginManager().task("corridor/exit")
    record = Run.create(folder, task=task.id, seed=0, config={})
    llm = Recorder(FakeLLM(reply), folder / "llm.jsonl")
    agents = build_agents("slow_fast_critic", llm, plugin, task)
    settings = LoopSettings(budget=1500, iterations=1, selection_episodes=3, report_episodes=3, target_success=1.0)
    hyperparameters = Hyperparameters(num_envs=2, num_steps=16, minibatch_size=32, update_epochs=4, hidden=(16,))
    result = run(
        LoopContext(
            settings, task, plugin, "corridor", agents, PPO(), hyperparameters, record, library_of(plugin, task)
        )
    )
    (iteration,) = result.history
    assert iteration.training is not None
    print(
        json.dumps(
            {
                "status": record.record.status,
                "coded": list(iteration.setup.coded_actions),
                "violations": [v.kind for v in iteration.training.verdicts],
                "training_steps": iteration.training.primitive_steps,
                "usage": dict(iteration.evaluation.usage),
                "success": iteration.success_rate,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
