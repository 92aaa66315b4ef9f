"""Builds gymnasium spaces from descriptions that a worker process sends. Every description of a space is checked before
a space is built from the description.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypeAliasType

from rlgpt.domain import Value
from rlgpt.envs.text import TextArray
from rlgpt.envs.worker.spaces import Described, Unusable

Size = Annotated[int, Field(ge=0, le=1 << 30)]
Shape = Annotated[tuple[Size, ...], Field(max_length=32)]
DType = Literal[
    "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"
]  # fmt: skip


PART_BYTES = 4096
"""Minimal size, in bytes, that is counted for one part of a space. With this minimum, the limit of the size also limits
the number of parts.
"""


class _Numbers(Value):
    dtype: DType
    shape: Shape

    @property
    def size_bytes(self) -> int:
        return max(PART_BYTES, np.dtype(self.dtype).itemsize * math.prod(self.shape))


class _Discrete(_Numbers):
    kind: Literal["discrete"]
    n: int = Field(ge=1)
    start: int
    shape: tuple[()] = ()

    def build(self) -> spaces.Space[Any]:
        return spaces.Discrete(self.n, start=self.start, dtype=self.dtype)


class _MultiDiscrete(_Numbers):
    kind: Literal["multi_discrete"]
    nvec: list[Any]
    start: list[Any]

    def build(self) -> spaces.Space[Any]:
        made = spaces.MultiDiscrete(np.array(self.nvec), dtype=self.dtype, start=np.array(self.start))
        return _fits(made, self.shape)


class _MultiBinary(_Numbers):
    kind: Literal["multi_binary"]
    n: Size | list[Size]

    def build(self) -> spaces.Space[Any]:
        return _fits(spaces.MultiBinary(self.n), self.shape)


class _Box(_Numbers):
    kind: Literal["box"]
    low: str
    high: str

    def build(self) -> spaces.Space[Any]:
        dtype: Any = np.dtype(self.dtype)
        return spaces.Box(self._bound(self.low), self._bound(self.high), self.shape, dtype)

    def _bound(self, text: str) -> NDArray[Any]:
        flat = np.frombuffer(base64.b64decode(text, validate=True), self.dtype)
        return np.full(self.shape, flat[0]) if flat.size == 1 else flat.reshape(self.shape)


class _Text(Value):
    kind: Literal["text"]
    low: Size
    high: Size
    characters: str
    size_bytes: ClassVar[int] = PART_BYTES

    def build(self) -> spaces.Space[Any]:
        return spaces.Text(self.high, min_length=self.low, charset=self.characters)


class _TextArray(Value):
    kind: Literal["text_array"]
    shape: Shape

    @property
    def size_bytes(self) -> int:
        return max(PART_BYTES, math.prod(self.shape))

    def build(self) -> spaces.Space[Any]:
        return TextArray(self.shape)


_Leaf = Annotated[_Discrete | _MultiDiscrete | _MultiBinary | _Box, Field(discriminator="kind")]


class _Sequence(Value):
    kind: Literal["sequence"]
    of: _Leaf
    stack: bool

    @property
    def size_bytes(self) -> int:
        return self.of.size_bytes

    def build(self) -> spaces.Space[Any]:
        return spaces.Sequence(self.of.build(), stack=self.stack)


class _Tuple(Value):
    kind: Literal["tuple"]
    parts: list[_Space]

    @property
    def size_bytes(self) -> int:
        return PART_BYTES + sum(part.size_bytes for part in self.parts)

    def build(self) -> spaces.Space[Any]:
        return spaces.Tuple([part.build() for part in self.parts])


class _Dict(Value):
    kind: Literal["dict"]
    parts: list[tuple[str, _Space]]

    @property
    def size_bytes(self) -> int:
        return PART_BYTES + sum(part.size_bytes for _, part in self.parts)

    def build(self) -> spaces.Space[Any]:
        return spaces.Dict([(key, part.build()) for key, part in self.parts])


_Space = TypeAliasType(
    "_Space",
    "Annotated[_Discrete | _MultiDiscrete | _MultiBinary | _Box | _Text | _TextArray | _Sequence | _Tuple | _Dict, "
    "Field(discriminator='kind')]",
)
_ANY: TypeAdapter[Any] = TypeAdapter(_Space)


def build(described: Described, limit: int) -> spaces.Space[Any]:
    """Build the described space.

    :param limit: maximal size of one value of the space, in bytes. The size of the space is checked before memory is
        allocated.
    :raises Unusable: the description of the space is invalid, contradicts itself, or exceeds ``limit``.
    """
    try:
        space = _ANY.validate_python(described)
        if space.size_bytes > limit:
            raise Unusable(
                f"a value of its space has {space.size_bytes:,} bytes; at most {limit:,} are allowed. If the "
                "environment needs more, raise space_bytes in its Recipe"
            )
        return space.build()  # type: ignore[no-any-return]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Unusable(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (ValueError, TypeError, AssertionError, OverflowError, binascii.Error) as error:
        raise Unusable(str(error)) from error


def _fits(space: spaces.Space[Any], shape: tuple[int, ...]) -> spaces.Space[Any]:
    if space.shape != shape:
        raise ValueError(f"a {type(space).__name__} of shape {space.shape} was declared with shape {shape}")
    return space
