"""``flat_view()`` gives an extended environment a flat action space, for trainers that do not accept Tuple spaces."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlgpt.errors import ConfigError
from rlgpt.options.env import ExtendedEnv


def flat_view(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """``env`` with a flat action space.

    K is the number of coded actions. P is the number of parameters of all coded actions together.

    ========================  =========================================================================
    extended                  flat
    ========================  =========================================================================
    ``Discrete(n + K)``       unchanged; every parameter has its default
    base ``Box(d)``           ``Box(1 + K + d + P)``: the index of the largest of the first 1 + K numbers
                              selects the base action (0) or a coded action; the next d numbers are the
                              base action in its own bounds, the last P the parameters, scaled to [-1, 1];
                              with ``residual``, d more numbers in [-1, 1] are the correction
    base ``Box(d)`` with      the same without the base action: ``Box(K + P)``, with ``residual``
    ``base_actions=()``       ``Box(K + P + d)``; without parameters and ``residual``, ``Discrete(K)``;
                              if K is 1, no number selects the coded action
    base ``MultiDiscrete``    ``MultiDiscrete([1 + K, *nvec])``; every parameter has its default
    ========================  =========================================================================

    :param env: an extended environment, or a wrapper of an extended environment.
    :raises ConfigError: ``env`` is not an extended environment, or a wrapper has changed the extended action space. A
        base action space that is a Tuple of Discrete and Box also raises this ConfigError, because it has no flat form.
    """
    extended = _extended(env)
    space = env.action_space
    extends_box = isinstance(extended.extension.base, spaces.Box) and extended.extension.actions
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)) or (
        isinstance(space, spaces.Box) and not extends_box
    ):
        return env
    base = [h for h in extended.layout.heads if h.role == "base"]
    if extends_box or (len(base) == 1 and isinstance(base[0].space, spaces.Box) and extended.layout.choices):
        return _FlatBox(env, extended)
    if all(isinstance(h.space, spaces.Discrete) for h in base):
        return _FlatDiscrete(env, extended)
    raise ConfigError(f"action space {space} has no flat view; use a trainer that supports Tuple spaces.")


def _extended(env: gym.Env[Any, Any]) -> ExtendedEnv:
    """Return the :class:`ExtendedEnv` inside ``env``, or ``env`` itself if it is an ``ExtendedEnv``."""
    inner = env
    while isinstance(inner, gym.Wrapper) and not isinstance(inner, ExtendedEnv):
        inner = inner.env
    if not isinstance(inner, ExtendedEnv):
        raise ConfigError(
            f"flat_view() needs an environment from extend(), got {env}: flat_view(extend(env, actions))."
        )
    if inner.action_space != env.action_space:
        raise ConfigError(
            f"a wrapper turned the extended action space {inner.action_space} into {env.action_space}; make the flat "
            "view first and wrap that: Wrapper(flat_view(extend(env, actions)))."
        )
    return inner


def _misfit(action: Any, space: spaces.Space[Any]) -> ConfigError:
    return ConfigError(
        f"the action {action!r:.120} has shape {np.shape(action)}; the flat view's actions are {space!s:.300}, of "
        f"shape {space.shape}."
    )


class _Flat(gym.ActionWrapper[Any, Any, Any], gym.utils.RecordConstructorArgs):
    def __init__(self, env: gym.Env[Any, Any], extended: ExtendedEnv) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, extended=extended, _disable_deepcopy=True)
        gym.Wrapper.__init__(self, env)
        self._heads = extended.layout.heads
        boxes = [h.space for h in self._heads if h.role == "parameters"]
        self._box = boxes[0] if boxes and isinstance(boxes[0], spaces.Box) else None
        self._defaults = extended.extension.defaults()


class _FlatDiscrete(_Flat):
    """A flat action space that puts the selector and the Discrete heads in one MultiDiscrete space, or in one Discrete
    space.
    """

    def __init__(self, env: gym.Env[Any, Any], extended: ExtendedEnv) -> None:
        super().__init__(env, extended)
        selector = extended.layout.selector
        discrete = [] if selector is None else [selector]
        discrete += [h.space for h in self._heads if isinstance(h.space, spaces.Discrete)]
        sizes = [int(space.n) for space in discrete]
        self._starts = np.array([space.start for space in discrete])
        self.action_space = spaces.Discrete(int(sizes[0])) if len(sizes) == 1 else spaces.MultiDiscrete(sizes)

    def action(self, action: Any) -> Any:
        given = np.asarray(action)
        if given.size != self._starts.size:
            raise _misfit(action, self.action_space)
        parts: list[Any] = list(given.reshape(-1) + self._starts)
        if self._box is not None:
            parts.append(self._defaults)
        return tuple(parts)


class _FlatBox(_Flat):
    """A flat action space with one Box for the scores of the branches, the base action, the parameters and the
    correction. The branch with the largest score in the Box is chosen.
    """

    def __init__(self, env: gym.Env[Any, Any], extended: ExtendedEnv) -> None:
        super().__init__(env, extended)
        self._choices = extended.layout.choices
        scores, unit = np.ones(self._choices, np.float32), np.ones_like(self._defaults)
        low, high = [-scores], [scores]
        for head in self._heads:
            assert isinstance(head.space, spaces.Box)
            scaled = head.space is self._box
            low.append(-unit if scaled else head.space.low.reshape(-1))
            high.append(unit if scaled else head.space.high.reshape(-1))
        self._ends = np.cumsum([part.size for part in low])[:-1]
        self.action_space = spaces.Box(
            np.concatenate(low).astype(np.float32), np.concatenate(high).astype(np.float32), dtype=np.float32
        )

    def action(self, action: Any) -> Any:
        given = np.asarray(action)
        if given.shape != self.action_space.shape:
            raise _misfit(action, self.action_space)
        scores, *numbers = np.split(given, self._ends)
        parts: list[Any] = [int(np.argmax(scores))] if self._choices else []
        for head, values in zip(self._heads, numbers, strict=True):
            if (box := head.space) is self._box:
                values = box.low + (np.clip(values, -1, 1) + 1) / 2 * (box.high - box.low)
            parts.append(values.reshape(box.shape).astype(box.dtype))
        return tuple(parts) if len(parts) > 1 else parts[0]
