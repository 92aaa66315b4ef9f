"""The benchmark's simulator, which JAX compiles once in each process. No other module imports JAX.

The compiled functions return the benchmark's symbolic observation with one number for each one-hot code. Most of the
8,268 numbers of the benchmark's own observation are never computed.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
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
LEAST_LIGHT = 0.05
"""Light above which the benchmark shows a cell."""
_SIZE = HEIGHT, WIDTH
_KINDS = 8
_CHANNELS = len(BLOCKS) + len(ITEMS) + 5 * _KINDS + 1

_THREADS = "NPROC"
"""The environment variable from which JAX takes the number of its threads when it starts."""


@dataclass(frozen=True)
class Simulator:
    """The compiled functions. In these signatures, ``key`` is a JAX key, ``state`` the benchmark's ``EnvState``, and
    ``seen`` a float32 array of :data:`DECODED` numbers.

    :ivar reset: ``reset(key) -> (key, state, seen)``.
    :ivar step: the function ``step(key, state, action) -> (key, state, seen, reward, over)``. ``step`` does not begin a
        new episode.
    :ivar key_of: the function ``key_of(seed)``, which makes a JAX key from a seed in [0, 2**32).
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

        :raises ValueError: the number of the arrays, a shape, a type or a value is not that of an ``EnvState``.
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
    """Return the simulator of this process. The first call of a function of the simulator compiles the function. The
    compilation of all functions takes 40 s on one core, or 3 s if :func:`prepare` has stored the compiled
    functions of an earlier process.
    """
    import jax

    prepare()
    reset, step = functions()
    compiled = functools.partial(jax.jit, compiler_options=options())
    return Simulator(compiled(reset), compiled(step), jax.random.PRNGKey)


def options() -> dict[str, bool]:
    """The compiler options of the simulator. On the CPU, the simulator has one thread, because the arrays are small and
    other environments use the other cores. On a GPU, the simulator has no option of its own.
    """
    import jax

    return {"xla_cpu_multi_thread_eigen": False} if jax.default_backend() == "cpu" else {}


def functions() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions ``reset`` and ``step`` of :class:`Simulator` without compilation, for other JAX code (such
    as ``jax.vmap``).
    """
    import jax
    from craftax.craftax.envs.craftax_symbolic_env import CraftaxSymbolicEnvNoAutoReset

    env = CraftaxSymbolicEnvNoAutoReset()
    params = env.default_params

    def reset(key: Any) -> tuple[Any, Any, Any]:
        key, drawn = jax.random.split(key)
        observation, state = env.reset_env(drawn, params)
        return key, state, seen(state, observation)

    def step(key: Any, state: Any, action: Any) -> tuple[Any, Any, Any, Any, Any]:
        key, drawn = jax.random.split(key)
        observation, state, reward, over, _ = env.step_env(drawn, state, action, params)
        return key, state, seen(state, observation), reward, over

    return reset, step


def seen(state: Any, observation: Any) -> Any:
    """Return the benchmark's observation with one number instead of each one-hot code.

    JAX computes only those parts of the benchmark's ``observation`` that ``seen`` uses.

    :param state: the benchmark's ``EnvState``.
    :param observation: the benchmark's own observation of ``state``, ``(8268,)``.
    :returns: an array of the shape ``(DECODED,)``. The array has, for each of the five grids, the code of each cell
        (row by row), followed by the numbers of ``observation`` that belong to no cell (``SCALARS``). In the grids of
        mobs and shots, 0 is an empty cell, and 1 is the first code of the benchmark. Dark cells have zeros.
    """
    from jax import numpy as jnp

    lit = _window(state, state.light_map, 0.0) > LEAST_LIGHT
    groups = ((state.melee_mobs, state.passive_mobs, state.ranged_mobs), (state.mob_projectiles,))
    grids = [_window(state, state.map, 0), _window(state, state.item_map, 0)]
    grids += [_codes(state, mobs) for mobs in (*groups, (state.player_projectiles,))]
    codes = [jnp.where(lit, grid, 0).astype(jnp.float32).reshape(CELLS) for grid in grids]
    return jnp.concatenate([*codes, observation[CELLS * _CHANNELS :]])


def _window(state: Any, grids: Any, outside: Any) -> Any:
    """Return the visible cells of the player's floor, ``(HEIGHT, WIDTH)``."""
    from jax import numpy as jnp

    rows, columns = (
        middle - size // 2 + np.arange(size) for middle, size in zip(state.player_position, _SIZE, strict=True)
    )
    high, wide = grids.shape[1:]
    inside = ((rows >= 0) & (rows < high))[:, None] & ((columns >= 0) & (columns < wide))
    cells = grids[state.player_level, jnp.clip(rows, 0, high - 1)[:, None], jnp.clip(columns, 0, wide - 1)]
    return jnp.where(inside, cells, outside)


def _codes(state: Any, groups: Sequence[Any]) -> Any:
    """Return the lowest code among the mobs in each cell, ``(HEIGHT, WIDTH)``. The code 0 means that the cell has no
    mob.

    The function repeats a fault of the benchmark. The position of a mob out of view can be an index below zero, which
    counts from the end of the array; the visible cell at this index then shows no mob of the same kind.
    """
    from jax import numpy as jnp

    size, none = np.array(_SIZE), len(groups) * _KINDS + 1
    codes = jnp.full(_SIZE, none)
    for number, mobs in enumerate(groups):
        place = mobs.position[state.player_level] - state.player_position + size // 2
        kind = mobs.type_id[state.player_level]
        shown = ((place >= 0) & (place < size)).all(axis=1) & mobs.mask[state.player_level]
        written = jnp.where(place < 0, place + size, place)
        same = (written[:, None] == written).all(axis=2) & (kind[:, None] == kind)
        last = ~(same & np.triu(np.ones(same.shape, np.bool_), 1)).any(axis=1)
        for i in range(len(kind)):
            here = (np.arange(HEIGHT) == place[i, 0])[:, None] & (np.arange(WIDTH) == place[i, 1])
            code = jnp.where(here & shown[i] & last[i], number * _KINDS + kind[i] + 1, none)
            codes = jnp.minimum(codes, code)
    return jnp.where(codes == none, 0, codes)


@functools.cache
def prepare() -> None:
    """Prepare JAX, before this process compiles a function.

    JAX starts with one thread for all its operations. A state has a hundred small arrays; with several threads, JAX
    needs about twice the CPU time, because the threads wait for one another. If other code of this process has started
    JAX before, the number of threads stays as it is.

    JAX's cache of compiled functions on disk is switched on, unless the user has chosen a folder for this cache (for
    example, with the variable ``JAX_COMPILATION_CACHE_DIR``).
    """
    import jax

    config: Any = jax.config
    if config.jax_compilation_cache_dir is None:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rlgpt" / "jax"
        config.update("jax_compilation_cache_dir", str(folder))
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = before or "1"
    try:
        jax.devices()
    finally:
        if before is None:
            del os.environ[_THREADS]
