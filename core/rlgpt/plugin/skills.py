"""The built-in primitives ``act``, ``repeat`` and ``act_until``, for any action space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlgpt.domain import Parameter, Plain
from rlgpt.plugin.actions import ActionCodec
from rlgpt.plugin.judged import finite
from rlgpt.plugin.types import Context, LowLevel, Primitive, ViewKey

LONGEST_REPEAT = 200

LONGEST_LIST = 32
"""Maximal number of numbers of a key that ``act_until`` can watch."""

Look = Callable[[Context, str], Plain]
"""A function that returns the value of one key of the view."""

_REWARD = {"reward": "sum of the environment's reward meanwhile"}


def skills(codec: ActionCodec, keys: Sequence[ViewKey], look: Look) -> tuple[Primitive, ...]:
    """The primitives ``act`` and ``repeat``, and ``act_until`` if the view has a number that ``act_until`` can watch.

    :param keys: the keys of the view.
    :param look: a function that returns the value of one key of the view. The primitive ``act_until`` calls it before
        the first step and after each step.
    """
    again = tuple(p.model_copy(update={"doc": "as of act"}) if len(p.doc) > 60 else p for p in codec.parameters)
    steps = Parameter(name="steps", kind="int", low=1, high=LONGEST_REPEAT, default=10, doc="primitive steps")
    act = Primitive(
        "act",
        "Do one low-level action, for one step. Outcome: reward.",
        _Repeat(codec),
        codec.parameters,
        _REWARD,
        1,
    )
    repeat = Primitive(
        "repeat",
        "Do the same low-level action for some steps. Outcome: reward.",
        _Repeat(codec),
        (*again, steps),
        _REWARD,
        LONGEST_REPEAT,
    )
    watched = _watchable(keys)
    if not watched:
        return act, repeat
    until = (
        Parameter(name="key", kind="choice", choices=watched, default=watched[0], doc="number of the view"),
        Parameter(name="relation", kind="choice", choices=("above", "below"), default="above"),
        Parameter(name="threshold", low=-1e6, high=1e6, default=0.0, doc="in the unit of that number"),
    )
    act_until = Primitive(
        "act_until",
        "Do the same low-level action until a number of the view is above (or below) a threshold, at most `steps` "
        "steps; none if it is so already. Outcome: reached, value, reward.",
        _Until(codec, look),
        (*again, *until, steps),
        {"reached": "whether the threshold was passed", "value": "the number at the end", **_REWARD},
        LONGEST_REPEAT,
    )
    return act, repeat, act_until


class _Repeat:
    """A primitive that takes the same low-level action for ``steps`` primitive steps."""

    def __init__(self, codec: ActionCodec) -> None:
        self.codec = codec

    def __call__(self, ctx: Context, steps: int = 1, **args: Plain) -> LowLevel:
        action, reward = self.codec.action(args), 0.0
        for _ in range(steps):
            yield action
            reward += env_reward(ctx)
        return {"reward": reward}


class _Until:
    """A primitive that takes the same low-level action until a number of the view passes a threshold."""

    def __init__(self, codec: ActionCodec, look: Look) -> None:
        self.codec, self.look = codec, look

    def __call__(self, ctx: Context, key: str, relation: str, threshold: float, steps: int, **args: Plain) -> LowLevel:
        action, reward = self.codec.action(args), 0.0
        name, *indices = key.replace("]", "").split("[")

        def now() -> float:
            found: Any = self.look(ctx, name)
            for index in indices:
                found = found[int(index)]
            return float(found)

        def passed(value: float) -> bool:
            return value > threshold if relation == "above" else value < threshold

        value = now()
        for _ in range(steps):
            if passed(value):
                break
            yield action
            reward += env_reward(ctx)
            value = now()
        return {"reached": passed(value), "value": value, "reward": reward}


def env_reward(ctx: Context) -> float:
    """The environment's own reward for the newest primitive step.

    :raises PluginError: the reward is not a finite number. A reward that is not finite is a fault of the environment,
        not of the coded action.
    """
    return finite(ctx.info.get("env_reward", 0.0), ctx.step)


def _watchable(keys: Sequence[ViewKey]) -> tuple[str, ...]:
    """The names of the numbers in the view that the primitive ``act_until`` can watch. A number in a short list has the
    name ``name[i]``; a number in an array of two axes has the name ``name[i][j]``.
    """
    found = []
    for key in keys:
        if key.alone:
            continue
        if key.size == 1 and not key.shape:
            found.append(key.name)
        elif key.size <= LONGEST_LIST:
            places = np.ndindex(key.shape or (key.size,))
            found += [key.name + "".join(f"[{i}]" for i in place) for place in places]
    return tuple(found)
