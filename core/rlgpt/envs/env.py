"""The class ``WorkerEnv``, a gymnasium environment whose simulator runs in a worker process."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rlgpt.envs.process import Worker
from rlgpt.envs.recipe import Recipe
from rlgpt.envs.spaces import build
from rlgpt.envs.worker.layout import Layout, layouts
from rlgpt.envs.worker.player import Message
from rlgpt.envs.worker.spaces import Described, Unusable
from rlgpt.errors import WorkerError

Observed = tuple[Any, dict[str, Any]]
Stepped = tuple[Any, float, bool, bool, dict[str, Any]]


class WorkerEnv(gymnasium.Env[Any, Any]):
    """An environment in another interpreter, for simulators whose dependencies conflict with those of this interpreter.

    Observations and actions of a WorkerEnv are those of the environment that the recipe's factory makes. The factory of
    the recipe may also make an environment of the old package gym. The value ``done`` of an environment of the old
    package gym becomes ``truncated`` if the info has ``TimeLimit.truncated``, and ``terminated`` otherwise. The
    ``info`` of a WorkerEnv contains text, numbers, bools, None, lists and dicts; arrays of at most 4,096 elements
    become lists. All other values are left out of ``info``; the worker's output lists the key of each such value once.

    A worker process that raises an exception or does not answer in time is ended. After the end of a worker, the next
    :meth:`reset` starts another worker.

    :param render_mode: the render mode that the factory gets, if the factory has a parameter ``render_mode``. Frames
        are RGB arrays.
    :ivar restarts: the number of crashed workers that were replaced so far.
    :raises WorkerError: the worker could not be started, crashed, hung, sent an invalid answer, or crashed more often
        in a row than the recipe allows. The methods ``reset``, ``step`` and ``render`` also raise WorkerError.
    """

    def __init__(self, recipe: Recipe, *, render_mode: str | None = None) -> None:
        self.recipe, self.render_mode, self.restarts = recipe, render_mode, 0
        self._in_a_row = 0
        self._closed = self._stepped = False
        self._described: tuple[Described, Described] | None = None
        self._last: Any = None
        self._sees: Layout
        self._acts: Layout
        self._worker = self._start()

    @property
    def pid(self) -> int:
        """The process ID of the current worker."""
        return self._worker.pid

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Observed:
        super().reset(seed=seed)
        self._open()
        if self._stepped and self._worker.alive:
            # A wrapper such as TimeLimit ended the episode, of which the worker knows nothing.
            self._in_a_row = 0
        self._stepped = False
        order = {"do": "reset", "seed": seed, "options": options}
        while True:
            try:
                self._revive()
                return self._observed(self._worker.ask(order, self.recipe.timeouts.reset))
            except WorkerError:
                if self.recipe.on_crash == "raise" or self._in_a_row >= self.recipe.restarts:
                    raise

    def step(self, action: Any) -> Stepped:
        inline: list[Any] = []
        self._alive()
        self._acts.write(action, inline)
        try:
            answer = self._worker.ask({"do": "step", "inline": inline}, self.recipe.timeouts.step)
            observation, info = self._observed(answer)
        except WorkerError as error:
            if self.recipe.on_crash == "raise" or self._last is None:
                raise
            return self._last, 0.0, False, True, {"crash": str(error)}
        reward, terminated, truncated = (answer.get(key) for key in ("reward", "terminated", "truncated"))
        if not (isinstance(reward, float) and isinstance(terminated, bool) and isinstance(truncated, bool)):
            raise self._worker.unusable(Unusable("reward, terminated or truncated has a wrong type"))
        self._stepped = True
        if terminated or truncated:
            self._in_a_row = 0
        return observation, reward, terminated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """Render the environment as a frame, a uint8 array ``(height, width, 3)``. The frame is None if the environment
        renders no frames.
        """
        self._alive()
        answer = self._worker.ask({"do": "render"}, self.recipe.timeouts.step)
        frame = answer.get("frame")
        if frame is None:
            return None
        try:
            data = base64.b64decode(frame["bytes"], validate=True)
            return np.frombuffer(data, np.uint8).reshape([int(n) for n in frame["shape"]]).copy()
        except (TypeError, KeyError, ValueError, binascii.Error) as error:
            raise self._worker.unusable(error) from error

    def close(self) -> None:
        """End the worker process and every process that the worker started. A second call has no effect."""
        self._closed = True
        self._worker.close()

    def _alive(self) -> None:
        self._open()
        if not self._worker.alive:
            raise WorkerError(f"{self._worker.name} is not running: call reset(), which starts another worker.")

    def _open(self) -> None:
        if self._closed:
            raise WorkerError(f"{self._worker.name} was closed. Make a new environment: WorkerEnv(recipe).")

    def _revive(self) -> None:
        if self._worker.alive:
            return
        if self._in_a_row >= self.recipe.restarts:
            raise WorkerError(
                f"{self._worker.name} was restarted {self._in_a_row} times without finishing an episode. Find out why "
                f"it crashes, or raise `restarts` in its recipe (now {self.recipe.restarts})."
            )
        self._in_a_row += 1
        self.restarts += 1
        self._worker = self._start()

    def _start(self) -> Worker:
        recipe, worker = self.recipe, Worker(self.recipe)
        order = {
            "do": "make",
            "factory": recipe.factory,
            "arguments": dict(recipe.arguments),
            "paths": list(recipe.paths),
            "render_mode": self.render_mode,
        }
        description = worker.ask(order, recipe.timeouts.start)
        try:
            described = description["observation"], description["action"]
            if self._described is None:
                self.observation_space, self.action_space = (build(space, recipe.space_bytes) for space in described)
                self.metadata = _metadata(description)
                self._described = described
            elif described != self._described:
                raise Unusable("its spaces differ from those before the crash")
            self._sees, self._acts, size = layouts(*described)
        except (Unusable, KeyError, TypeError) as error:
            raise worker.unusable(error) from error
        shared = worker.share(size)
        self._sees.attach(shared)
        self._acts.attach(shared)
        worker.ask({"do": "attach"}, recipe.timeouts.start)
        return worker

    def _observed(self, answer: Message) -> Observed:
        try:
            inline, info = answer["inline"], answer["info"]
            if not (isinstance(inline, list) and isinstance(info, dict)):
                raise Unusable("inline or info has a wrong type")
            self._last = self._sees.read(iter(inline))
        except (KeyError, ValueError, TypeError, MemoryError) as error:
            raise self._worker.unusable(error) from error
        return self._last, info


def _metadata(description: Mapping[str, Any]) -> dict[str, Any]:
    modes, fps = description.get("render_modes"), description.get("fps")
    if not (isinstance(modes, list) and all(isinstance(mode, str) for mode in modes)):
        raise Unusable("render_modes is not a list of names")
    known: dict[str, Any] = {"render_modes": modes}
    return {**known, "render_fps": fps} if isinstance(fps, int | float) else known
