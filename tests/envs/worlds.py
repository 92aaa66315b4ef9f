"""Environments for workers, regular and misbehaving. Their factories are at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.envs.text import TextArray


class Everything(gymnasium.Env[Any, Any]):
    """An environment with every kind of space. Observations depend on the seed, rewards on all actions so far."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 12}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None, *, text: bool = True) -> None:
        self.render_mode = render_mode
        self.observation_space = spaces.Dict(
            {
                "image": spaces.Box(0, 255, (3, 8, 9), np.uint8),
                "flag": spaces.Box(0, 1, (), np.bool_),  # type: ignore[arg-type]
                "uneven": spaces.Box(np.array([-1.0, -np.inf]), np.array([2.5, np.inf]), dtype=np.float64),
                "choice": spaces.Discrete(5, start=-2),
                "choices": spaces.MultiDiscrete([[2, 3], [4, 5]]),
                "bits": spaces.MultiBinary([2, 3]),
                "names": TextArray((2, 2)),
                "word": spaces.Text(7, charset="abcö "),
                "heard": spaces.Sequence(spaces.Box(-1, 1, (2,))),
                "stack": spaces.Sequence(spaces.Discrete(9), stack=True),
                "pair": spaces.Tuple((spaces.Discrete(2), spaces.Dict({"deep": spaces.Box(-1, 1, (1,), np.float16)}))),
                "none": spaces.Box(-1, 1, (0, 4)),
            }
        )
        if not text:
            del self.observation_space.spaces["names"]
        self.action_space = spaces.Dict(
            {"move": spaces.Box(-1, 1, (2,)), "say": spaces.Text(5), "pick": spaces.MultiDiscrete([3, 4])}
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.total, self.left = 0.0, int((options or {}).get("steps", 4))
        return self.observation_space.sample(), {"options": options or {}}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        self.left -= 1
        self.total += float(np.sum(action["move"])) + len(action["say"]) + int(action["pick"][1])
        info = {
            "total": self.total,
            "array": np.arange(3),
            "scalar": np.float32(0.5),
            "none": None,
            "nested": {"list": [1, "two", (3.0,)]},
            "object": self,
            "numbered": {3: "three"},
        }
        return self.observation_space.sample(), float(self.total), self.left == 0, self.left == 1, info

    def render(self) -> Any:
        return np.full((4, 5, 3), 7, np.uint8) + np.arange(5, dtype=np.uint8)[:, None]


class Trouble(gymnasium.Env[Any, Any]):
    """An environment that fails at step 2, or in reset. ``how`` chooses the kind of failure."""

    observation_space = spaces.Box(0, 100, (1,))
    action_space = spaces.Discrete(2)

    def __init__(self, how: str, when: str = "step", mark: str = "") -> None:
        self.how, self.when, self.mark = how, when, mark
        self.steps = 0
        if when == "start":
            self.trouble()

    def trouble(self) -> None:
        if self.mark:
            if os.path.exists(self.mark):
                return
            open(self.mark, "w").close()
        print("about to " + self.how, "\x1b[31m", flush=True)
        if self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.how == "exit":
            os._exit(3)
        elif self.how == "raise":
            raise ValueError("the world is flat")
        elif self.how == "hang":
            time.sleep(1000)
        elif self.how == "cut":
            links = [f"/proc/self/fd/{handle}" for handle in range(3, 30)]
            found = [link for link in links if os.path.lexists(link) and "memfd:rlgpt" in os.readlink(link)]
            os.ftruncate(int(found[0].split("/")[-1]), 0)
        elif self.how == "leave":
            sys.exit("goodbye")
        elif self.how == "shout":
            sys.stderr.write("x" * 300_000 + "\nthe end\n")
            os._exit(4)
        elif self.how == "orphan":
            os.fork() or time.sleep(1000)
            os._exit(5)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.when == "reset":
            self.trouble()
        self.steps = 0
        return np.zeros(1, np.float32), {"pid": os.getpid()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.steps == 2 and self.when == "step":
            self.trouble()
        return np.full(1, self.steps, np.float32), 1.0, self.steps >= 3, False, {"secret": os.environ.get("SECRET_KEY")}


class Wrong(Trouble):
    """An environment whose observations are outside its own space."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen = {"shape": np.zeros(2, np.float32), "dtype": np.array(["a"]), "range": np.ones(1, np.float64)}[self.how]
        return seen, 0.0, False, False, {}


class Parent(gymnasium.Env[Any, Any]):
    """An environment that starts a child process, which must end together with the environment's process. The
    observation is both process IDs.
    """

    observation_space = spaces.Box(0, 2**31, (2,), np.int64)
    action_space = spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        return np.array([os.getpid(), self.child.pid]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        time.sleep(1000)
        raise AssertionError


class Huge(Trouble):
    """An environment that announces a Box of 2**30 numbers but does not have such an array."""

    observation_space = spaces.Box(0, 1, (1,))
    observation_space._shape = (1 << 30,)


class Strange(Trouble):
    action_space = spaces.Graph(spaces.Box(0, 1, (1,)), None)  # type: ignore[assignment]


def everything(render_mode: str | None = None, text: bool = True) -> Everything:
    """Make an environment with every kind of space. ``text`` adds arrays of text, which gymnasium's own
    checker cannot compare.
    """
    return Everything(render_mode, text=text)


def trouble(**known: Any) -> Trouble:
    return Trouble(**known)


def wrong(how: str) -> Wrong:
    return Wrong(how, when="never")


def huge() -> Huge:
    return Huge("", when="never")


def strange() -> Strange:
    return Strange("", when="never")


def parent() -> Parent:
    return Parent()


def variables() -> Trouble:
    """Raise an error whose message contains the names of the environment variables."""
    raise ValueError(f"{' '.join(sorted(os.environ))} cwd={os.getcwd()} path={sys.path[0]}")
