"""A world is passed to a kernel as one pointer."""

from __future__ import annotations

import pickle
import sys
import weakref

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.datamodel import default_manager
from numba.core.errors import TypingError
from numpy.typing import NDArray
from voxeldojo.world.jit import jit, maker, part
from voxeldojo.world.pointers import Handed
from voxeldojo.world.state import World, empty


@part
def _count(world: World, by: int) -> int:
    world.kills[1] += by
    return int(world.kills[1] + world.blocks[1, 2, 3])


@jit
def _twice(world: World) -> int:
    _count(world, 2)
    return _count(world, 3)


def test_a_kernel_changes_the_passed_world_in_place() -> None:
    worlds = [empty(0), empty(1)]
    worlds[1].blocks[1, 2, 3] = 7
    assert [_twice(world) for world in worlds] == [5, 12]
    assert [int(world.kills[1]) for world in worlds] == [5, 5]


@maker
def _blocks(world: World) -> NDArray[np.uint8]:
    return world.blocks


def test_a_kernel_keeps_no_reference_to_a_world() -> None:
    """Numba counts references to arrays. If a kernel did not release its references, no world would be freed."""
    world = empty(0)
    _twice(world)
    before = [sys.getrefcount(array) for array in world]
    for _ in range(5):
        _twice(world)
        _blocks(world)
    assert [sys.getrefcount(array) for array in world] == before
    gone = weakref.ref(world.blocks)
    del world
    assert gone() is None


def test_a_world_is_passed_as_a_single_pointer() -> None:
    kind = numba.typeof(empty(0))
    assert isinstance(kind, Handed)
    assert default_manager[kind].get_argument_type().is_pointer
    assert not default_manager[kind].contains_nrt_meminfo()


def test_worlds_of_equal_array_types_share_a_picklable_numba_type() -> None:
    world = empty(0)
    kind = numba.typeof(world)
    assert kind == numba.typeof(empty(1)) != kind.whole
    assert isinstance(kind.whole, types.NamedTuple)
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert numba.typeof(world._replace(kills=world.kills[::2])) != kind


def test_a_kernel_refuses_a_world_with_a_field_that_is_not_an_array() -> None:
    with pytest.raises(TypingError, match="kills"):
        _twice(empty(0)._replace(kills=object()))  # type: ignore[arg-type]
