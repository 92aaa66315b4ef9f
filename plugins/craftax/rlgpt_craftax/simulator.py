"""The benchmark's simulator, which JAX compiles once in each process. This is the only module that imports JAX.

The compiled functions also decode the benchmark's symbolic observation: this is faster than copying its 8,268 numbers
from JAX to numpy. ``benchmarks/craftax_steps.py`` measures the cost.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgpt_craftax.names import BLOCKS, HEIGHT, ITEMS, WIDTH

CELLS = HEIGHT * WIDTH
GRIDS = 5
"""Arrays of cells in a decoded observation: block, item, mob, shot of a monster, shot of the player."""
SCALARS = 51
DECODED = GRIDS * CELLS + SCALARS
"""Count of numbers in a decoded observation."""
_MOBS, _SHOTS = 24, 8
_LIGHT = 1
_CHANNELS = len(BLOCKS) + len(ITEMS) + _MOBS + 2 * _SHOTS + _LIGHT

OPTIONS = {"xla_cpu_multi_thread_eigen": False}
"""One thread: the arrays are small, and other environments use the other cores."""


@dataclass(frozen=True)
class Simulator:
    """The compiled functions. ``key`` is a JAX key, ``state`` the benchmark's ``EnvState``; ``seen`` is a float32 array
    of :data:`DECODED` numbers.

    :ivar reset: ``reset(key) -> (key, state, seen)``.
    :ivar step: ``step(key, state, action) -> (key, state, seen, reward, over)``. ``step`` does not begin a new episode.
    :ivar key_of: ``key_of(seed)``, with a seed in [0, 2**32).
    """

    reset: Callable[[Any], tuple[Any, Any, Any]]
    step: Callable[[Any, Any, Any], tuple[Any, Any, Any, Any, Any]]
    key_of: Callable[[int], Any]

    def leaves(self, state: Any) -> list[np.ndarray[Any, Any]]:
        """The arrays of a state, in JAX's order."""
        import jax

        return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(state)]

    def state_of(self, leaves: list[np.ndarray[Any, Any]]) -> Any:
        """The state with these arrays.

        :raises ValueError: the number of the arrays, a shape, a type or a value does not fit a state.
        """
        import jax

        shape = jax.eval_shape(self.reset, self.key_of(0))[1]
        expected, tree = jax.tree_util.tree_flatten(shape)
        if len(leaves) != len(expected):
            raise ValueError(f"{len(leaves)} arrays; a state has {len(expected)}")
        for leaf, like in zip(leaves, expected, strict=True):
            if not isinstance(leaf, np.ndarray) or leaf.shape != like.shape or leaf.dtype != like.dtype:
                raise ValueError(f"an array is not {like.dtype}{list(like.shape)}")
            if leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
                raise ValueError("an array is not finite")
        return jax.tree_util.tree_unflatten(tree, [jax.numpy.asarray(leaf) for leaf in leaves])


@functools.cache
def simulator() -> Simulator:
    """The simulator of this process. The functions compile at their first call: 40 s on one core, or 3 s if
    :func:`keep_compiled` has kept them from an earlier process.
    """
    import jax

    keep_compiled()
    reset, step = functions()
    compiled = functools.partial(jax.jit, compiler_options=OPTIONS)
    return Simulator(compiled(reset), compiled(step), jax.random.PRNGKey)


def functions() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions ``reset`` and ``step`` of :class:`Simulator` without compilation, for other JAX code (such as
    ``jax.vmap``).
    """
    import jax
    from craftax.craftax.envs.craftax_symbolic_env import CraftaxSymbolicEnvNoAutoReset

    env = CraftaxSymbolicEnvNoAutoReset()
    params = env.default_params

    def reset(key: Any) -> tuple[Any, Any, Any]:
        key, drawn = jax.random.split(key)
        observation, state = env.reset_env(drawn, params)
        return key, state, decode(observation)

    def step(key: Any, state: Any, action: Any) -> tuple[Any, Any, Any, Any, Any]:
        key, drawn = jax.random.split(key)
        observation, state, reward, over, _ = env.step_env(drawn, state, action, params)
        return key, state, decode(observation), reward, over

    return reset, step


def decode(observation: Any) -> Any:
    """Convert the benchmark's observation: a number replaces each one-hot code.

    :param observation: ``(8268,)``, of JAX.
    :returns: ``(DECODED,)``: the codes of each grid, row by row, then the benchmark's own scalars. A cell without a mob
        or a shot has the code 0, and the benchmark's codes follow from 1 on.
    """
    from jax import numpy as jnp

    cells = observation[: CELLS * _CHANNELS].reshape(CELLS, _CHANNELS)
    ends = np.cumsum([len(BLOCKS), len(ITEMS), _MOBS, _SHOTS, _SHOTS])
    block, item, *mobs = jnp.split(cells[:, : ends[-1]], ends[:-1], axis=1)
    found = [jnp.where(m.any(axis=1), m.argmax(axis=1) + 1, 0) for m in mobs]
    grids = [block.argmax(axis=1), item.argmax(axis=1), *found]
    return jnp.concatenate([*(g.astype(jnp.float32) for g in grids), observation[CELLS * _CHANNELS :]])


def keep_compiled() -> None:
    """Switch on JAX's cache of compiled functions on disk, unless the user has chosen its folder (for example, with the
    variable ``JAX_COMPILATION_CACHE_DIR``).
    """
    import jax

    config: Any = jax.config
    if config.jax_compilation_cache_dir is None:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlgpt" / "jax"
        config.update("jax_compilation_cache_dir", str(folder))
