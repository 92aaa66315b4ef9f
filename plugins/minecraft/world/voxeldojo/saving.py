"""Converts a world to bytes and back. The format of a saved world is numpy's archive of arrays without pickle. Only
generated chunks are stored.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from voxeldojo.errors import VoxelDojoError
from voxeldojo.world.jit import TABLES
from voxeldojo.world.state import CHUNK, HEIGHT, SIZE, World, empty
from voxeldojo.world.validation import fault

CUBES = ("blocks", "level", "light")
"""Arrays with one value for each block of the world."""
MAX_SAVE_BYTES = (len(CUBES) + 1) * SIZE * HEIGHT * SIZE
"""Upper bound of the uncompressed size."""


class SaveError(VoxelDojoError):
    """Raised if bytes are not a world that this version of the package saved. Begin a new episode instead."""


def _arrays(world: World) -> dict[str, NDArray[Any]]:
    return cast("dict[str, NDArray[Any]]", world._asdict())


def _layout(world: World) -> str:
    """Return a digest of the layout of saved worlds. The digest of the layout depends on the shapes and fields of the
    arrays, and on the tables of blocks and items.
    """
    shapes = [(name, array.dtype.descr, array.shape) for name, array in _arrays(world).items()]
    return hashlib.sha256(f"{shapes} {TABLES}".encode()).hexdigest()


def _chunks(cube: NDArray[Any]) -> NDArray[Any]:
    """Return a view of a world's array that is indexed by chunk, with the shape ``(SIZE / CHUNK, SIZE / CHUNK, CHUNK,
    HEIGHT, CHUNK)``.
    """
    side = SIZE // CHUNK
    return cube.reshape(side, CHUNK, HEIGHT, side, CHUNK).transpose(0, 3, 1, 2, 4)


def pack(world: World, extra: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the world and additional plain arrays as bytes, for ``unpack``."""
    arrays = {f"beside_{name}": array for name, array in extra.items()}
    arrays["layout"] = np.array(_layout(world))
    for name, array in _arrays(world).items():
        values = _chunks(array)[world.generated] if name in CUBES else array
        arrays[name] = np.frombuffer(values.tobytes(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> tuple[World, dict[str, NDArray[Any]]]:
    """Return the world and the additional arrays that were passed to ``pack``.

    :raises SaveError: the bytes are not a saved world, or another version of this package saved them.
    """
    world = empty(0)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            size = sum(member.file_size for member in file.infolist())
        if size > MAX_SAVE_BYTES:
            raise SaveError(
                f"these bytes are not a saved world: they would take {size} bytes, more than {MAX_SAVE_BYTES}."
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            if str(arrays["layout"]) != _layout(world):
                raise SaveError("another version of this package saved this world. Begin a new episode instead.")
            world.generated[:] = arrays["generated"].view(world.generated.dtype).reshape(world.generated.shape)
            for name, array in _arrays(world).items():
                if name in CUBES:
                    target = _chunks(array)
                    target[world.generated] = arrays[name].view(array.dtype).reshape(-1, CHUNK, HEIGHT, CHUNK)
                else:
                    array[:] = arrays[name].view(array.dtype).reshape(array.shape)
            extra = {name.removeprefix("beside_"): arrays[name] for name in arrays.files if name.startswith("beside_")}
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise SaveError(f"these bytes are not a saved world: {error}") from error
    wrong = fault(world)
    if wrong is not None:
        raise SaveError(f"these bytes are not a saved world: it has {wrong}.")
    return world, extra
