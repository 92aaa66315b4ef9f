"""Runs the environment in the worker. The environment in the worker has the interface of gymnasium or of the old
package gym.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict  # noqa: UP035 (evaluated at runtime by Python 3.8)

import numpy as np

from .layout import layouts
from .spaces import Unusable, describe, encoded, text_key

if TYPE_CHECKING:
    from collections.abc import Callable

INFO_ARRAY = 4096
"""Maximal number of elements of an array in ``info``; a larger array is left out."""

Message = Dict[str, Any]  # noqa: UP006


class Player:
    """An environment with the interface of gymnasium or of the old package gym. A step of this environment returns five
    or four values, and ``reset`` may or may not accept a seed.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        inner = getattr(env, "unwrapped", env)
        new = any(kind.__module__.split(".")[0] == "gymnasium" for kind in type(env).__mro__)
        self.takes = {"seed", "options"} if new else set(inspect.signature(inner.reset).parameters)
        self.modes = "mode" in inspect.signature(inner.render).parameters if hasattr(inner, "render") else False
        self.observation = describe(env.observation_space)
        self.action = describe(env.action_space)
        self.sees, self.acts, self.size = layouts(self.observation, self.action)
        self.left_out: set[str] = set()

    def description(self) -> Message:
        """A description of the environment's spaces and metadata, for the main process."""
        metadata = getattr(self.env, "metadata", None) or {}
        modes = metadata.get("render_modes", metadata.get("render.modes", []))
        fps = metadata.get("render_fps", metadata.get("video.frames_per_second"))
        return {"observation": self.observation, "action": self.action, "render_modes": list(modes), "fps": fps}

    def reset(self, seed: int | None, options: Any) -> Message:
        known: dict[str, Any] = {}
        if "seed" in self.takes:
            known["seed"] = seed
        elif seed is not None and hasattr(self.env, "seed"):
            self.env.seed(seed)
        if "options" in self.takes:
            known["options"] = options
        elif options is not None:
            raise Unusable(f"reset() of {type(self.env).__name__} has no parameter options")
        found = self.env.reset(**known)
        pair = isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], dict)
        if pair and ("options" in known or self.observation["kind"] != "tuple"):
            return self._answer(*found)
        return self._answer(found, {})

    def step(self, inline: list[Any]) -> Message:
        found = self.env.step(self.acts.read(iter(inline)))
        if len(found) == 5:
            observation, reward, terminated, truncated, info = found
        else:
            observation, reward, done, info = found
            truncated = bool(done) and bool(info.get("TimeLimit.truncated", False))
            terminated = bool(done) and not truncated
        answer = self._answer(observation, info)
        answer.update(reward=float(reward), terminated=bool(terminated), truncated=bool(truncated))
        return answer

    def render(self) -> Message:
        frame = self.env.render(mode="rgb_array") if self.modes else self.env.render()
        if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8:
            return {"frame": None}
        return {"frame": {"shape": list(frame.shape), "bytes": encoded(frame)}}

    def _answer(self, observation: Any, info: Mapping[str, Any]) -> Message:
        inline: list[Any] = []
        self.sees.write(observation, inline)
        crossed = {}
        for key, value in info.items():
            try:
                crossed[text_key(key)] = plain(value)
            except Unusable as fault:
                if str(key) not in self.left_out:
                    self.left_out.add(str(key))
                    sys.stderr.write(f"info[{key!r}] is left out: {fault}\n")
        return {"inline": inline, "info": crossed}


def plain(value: Any) -> Any:
    """Convert a value of ``info`` to JSON values: text, numbers, bools, None, and lists and dicts of these values.

    :raises Unusable: ``value`` cannot be converted.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float, np.bool_, np.integer, np.floating)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Mapping):
        return {text_key(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU" and value.size <= INFO_ARRAY:
        return value.tolist()
    raise Unusable(f"{type(value).__name__} cannot be sent")


def load(factory: str) -> Callable[..., Any]:
    """Import the function ``package.module:name`` or ``path/to/file.py:name``."""
    where, _, name = factory.rpartition(":")
    if not where.endswith(".py"):
        return getattr(importlib.import_module(where), name)  # type: ignore[no-any-return]
    spec = importlib.util.spec_from_file_location("environment_factory", where)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {where}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)  # type: ignore[no-any-return]


def make(order: Message) -> Player:
    """Make the environment that the message ``order`` describes. The worker receives the order ``make`` before all
    other orders.
    """
    sys.path[:0] = order["paths"]
    factory = load(order["factory"])
    arguments = dict(order["arguments"])
    taken = inspect.signature(factory).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in taken.values())
    if order["render_mode"] is not None and ("render_mode" in taken or takes_any):
        arguments["render_mode"] = order["render_mode"]
    return Player(factory(**arguments))
