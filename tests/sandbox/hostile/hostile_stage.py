"""Runs hostile programs in a grid world, and compares everything that the programs could have changed.

A program runs as a coded action in ``extend()``, chosen as by a policy. Then an honest action plays the next episode.
Every low-level action that the simulator received is repeated on a second simulator: state, reward and ends must be
equal bit for bit. Other state of the process is compared before and after the attack.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import psutil
from hostile_programs import Targets
from rlgpt.domain import CodedAction, Decision, Verdict
from rlgpt.options import BrokenActionWarning, ExtendedEnv, extend
from rlgpt.sandbox import Ask, Done, Exhausted, Guest, Sandbox, Turn
from rlgpt.testing.grid import TASKS, GridEnv, GridPlugin

TASK = TASKS["grid/door"]
KEY = "RLGPT_CANARY_API_KEY"
SECRET = "canary-31337-do-not-tell"
DECISIONS = 8
"""The maximal number of times that a program's action is chosen in one episode."""

PROBE = """
def run():
    view = yield observe()
    facts = [len("abc"), repr([1.5, "x"]), list(range(3)), math.pi, vec.norm([3.0, 4.0]), json.dumps({"a": 1})]
    facts += [isinstance(1, int), random.random(), [random.randrange(6) for _ in range(3)], sorted(view)]
    facts += [hasattr(math, "kept"), len(__builtins__), json.loads("[1]"), math.tau]
    outcome = yield go(direction=random.choice(["up", "down", "left", "right"]), cells=random.randrange(1, 4))
    outcomes = yield [use(), go(direction="left", cells=2)]
    raise ValueError(repr((facts, outcome, outcomes)))
"""
"""An honest action that reports everything that another action could have changed."""


NEIGHBOUR = """
calls = 0
def can_start(view):
    return calls == 0 and sorted(view) == sorted(view)
def run():
    global calls
    calls += 1
    facts = [len("abc"), math.pi, vec.norm([3.0, 4.0]), json.loads("[1]"), random.random(), statistics.median([1, 3])]
    facts += [sorted(STATE) if "STATE" in globals() else None, [f.__name__ for f in (go, use, observe)]]
    facts += [sum(depth(n) for n in (1, 100)), len([bytes(1000) for _ in range(1000)])]
    raise ValueError(repr(facts))
    yield use()
def depth(n):
    return n and 1 + depth(n - 1)
"""
"""A second honest action, for the episode of the attack. Its report does not depend on the state of the world."""


class Witness(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that records the low-level actions that the simulator receives, and their results."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.seen: list[tuple[int, tuple[Any, ...]]] = []

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        self.seen.append((int(action), (result[0].tolist(), *result[1:])))
        return result


class Stage:
    """An environment with one hostile and two honest actions.

    :ivar witness: the wrapper between the extended environment and the simulator.
    """

    def __init__(self, source: str, sandbox: Sandbox) -> None:
        self.witness = Witness(GridEnv("door", TASK.horizon))
        sources = {"hostile": source, "probe": PROBE, "neighbour": NEIGHBOUR}
        actions = [CodedAction(name=name, doc="", source=text) for name, text in sources.items()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BrokenActionWarning)  # the verdict of the attack reports a broken source
            self.env: ExtendedEnv = extend(
                self.witness, actions, plugin=GridPlugin(), task=TASK, trace=True, sandbox=sandbox, quarantined=()
            )
        self.verdicts: list[Verdict] = []

    def attack(self, seed: int = 3) -> list[Decision]:
        """Choose the hostile action until there is a verdict, the episode ends, or the number DECISIONS is reached."""
        decisions = []
        self.over = False
        self.verdicts = list(self.env.reset(seed=seed)[1].get("verdicts", ()))
        twin = GridEnv("door", TASK.horizon)
        twin.reset(seed=seed)
        while not self.verdicts and len(decisions) < DECISIONS:
            self.witness.seen.clear()
            _, _, terminated, truncated, info = self.env.step(self.env.extension.write("hostile"))
            decisions.append(info["decision"])
            self.verdicts += info.get("verdicts", ())
            self._compare(twin, info)
            self.over = bool(terminated or truncated)
            if self.over:
                break
        return decisions

    def neighbour(self) -> list[tuple[str, str]]:
        """Choose the honest action ``neighbour`` twice in the episode of the attack. Return the endings and the
        messages.

        The ``can_start`` of the action allows one call, so the second choice is masked.
        """
        decisions = [self.env.step(self.env.extension.write("neighbour"))[4]["decision"] for _ in range(2)]
        return [(d.ended, d.verdict.message if d.verdict is not None else "") for d in decisions]

    def _compare(self, twin: GridEnv, info: dict[str, Any]) -> None:
        """Compare the decision with a second simulator that takes the same low-level actions."""
        total = 0.0
        for action, result in self.witness.seen:
            observation, *rest = twin.step(np.int64(action))
            assert result == (observation.tolist(), *rest)
            total += float(rest[0])
        assert info["total_reward"] == total
        assert info["duration"] == len(self.witness.seen) >= 1
        assert info["success"] == twin.opened
        own: Any = self.env.unwrapped
        assert (own.agent, own.key, own.door, own.holding, own.opened, own.steps) == (
            (twin.agent, twin.key, twin.door, twin.holding, twin.opened, twin.steps)
        )

    def honest_episode(self, seed: int = 4) -> Decision:
        """Play the next episode with the honest action, and return its report."""
        self.env.quarantine(["hostile", "neighbour"])
        self.env.reset(seed=seed)
        decision: Decision = self.env.step(self.env.extension.write("probe"))[4]["decision"]
        return decision


def straight(guest: Guest, *, action: str = "hostile", turns: int = 60) -> Turn:
    """Play ``action`` with invented outcomes, without an environment. Return the last turn."""
    turn: Turn = guest.start(action, {})
    for _ in range(turns):
        if not isinstance(turn, Ask):
            break
        replies = [{"agent": [1, 1], "door": [5, 5], "holding": False, "moved": 1} for _ in turn.requests]
        turn = guest.send(list(replies) if turn.many else replies[0])
    if isinstance(turn, Exhausted):
        turn = turn.verdict or Done()
    assert isinstance(turn, Ask | Done | Verdict)
    return turn


@contextlib.contextmanager
def watched(folder: Path) -> Iterator[Targets]:
    """Set up the targets of the attacks. Fail if a program has connected to the port."""
    canary, new = folder / "canary.txt", folder / "new.txt"
    canary.write_text(SECRET)
    with contextlib.chdir(folder), socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        targets = Targets(canary, new, server.getsockname()[1], KEY, os.getpid())
        yield targets
        try:
            server.accept()
        except BlockingIOError:
            return
        raise AssertionError("a program connected to the port")


def host_state(targets: Targets) -> dict[str, Any]:
    """Return the state of the host that a program must not change."""
    return {
        "files": {p.name: p.read_bytes() for p in targets.canary.parent.iterdir()},
        "new": targets.new.exists(),
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "children": _children(),
        "threads": sorted(t.name for t in threading.enumerate()),
        "random": random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),  # type: ignore[index]
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "modules": len(sys.modules),
        "alarm": signal.getsignal(signal.SIGALRM),
        "interrupt": signal.getsignal(signal.SIGINT),
        "streams": (id(sys.stdout), id(sys.stderr)),
        "open": len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None,
    }


def _children() -> list[int]:
    tasks = Path("/proc/self/task")
    if tasks.is_dir():
        # psutil reads every process of the machine, which is too slow for hundreds of calls.
        return sorted(int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split())
    return sorted(p.pid for p in psutil.Process().children())
