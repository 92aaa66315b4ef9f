"""What every environment's coded actions can do: ``act``, ``repeat`` and ``act_until``, for any action space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgpt.domain import Parameter, Plain, Task
from rlgpt.plugin.actions import ActionCodec
from rlgpt.plugin.base import Context, EnvironmentPlugin, LowLevel, Primitive, ViewKey

LONGEST_REPEAT = 200

_REWARD = {"reward": "sum of the environment's reward meanwhile"}


def skills(codec: ActionCodec, owner: EnvironmentPlugin, task: Task) -> tuple[Primitive, ...]:
    """``act``, ``repeat`` and, where the view of ``owner`` has numbers for a policy, ``act_until``."""
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
    watched = _watchable(owner.view_keys(task))
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
        _Until(codec, owner),
        (*again, *until, steps),
        {"reached": "whether the threshold was passed", "value": "the number at the end", **_REWARD},
        LONGEST_REPEAT,
    )
    return act, repeat, act_until


class _Repeat:
    """Runs one action for ``steps`` steps."""

    def __init__(self, codec: ActionCodec) -> None:
        self.codec = codec

    def __call__(self, ctx: Context, steps: int = 1, **args: Plain) -> LowLevel:
        action, reward = self.codec.action(args), 0.0
        for _ in range(steps):
            yield action
            reward += env_reward(ctx)
        return {"reward": reward}


class _Until:
    """Runs one action until a number of the view passes a threshold."""

    def __init__(self, codec: ActionCodec, owner: EnvironmentPlugin) -> None:
        self.codec, self.owner = codec, owner

    def __call__(self, ctx: Context, key: str, relation: str, threshold: float, steps: int, **args: Plain) -> LowLevel:
        action, reward = self.codec.action(args), 0.0
        name, _, index = key.partition("[")

        def value() -> float:
            found: Any = self.owner.view(ctx)[name]
            return float(found[int(index[:-1])] if index else found)

        def reached() -> bool:
            return value() > threshold if relation == "above" else value() < threshold

        for _ in range(steps):
            if reached():
                break
            yield action
            reward += env_reward(ctx)
        return {"reached": reached(), "value": value(), "reward": reward}


def env_reward(ctx: Context) -> float:
    return float(ctx.info.get("env_reward", 0.0))


def _watchable(keys: Sequence[ViewKey]) -> tuple[str, ...]:
    """Single numbers by name, those of short lists as ``name[i]``."""
    found = []
    for key in keys:
        found += [key.name] if key.size == 1 else [f"{key.name}[{i}]" for i in range(key.size if key.size <= 32 else 0)]
    return tuple(found)
