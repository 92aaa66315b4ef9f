"""Encoders of images: output sizes, orders of axes, and the scaling of bytes to numbers from 0 to 1."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from rlgpt.errors import ConfigError
from rlgpt.rl.encoder import ImageEncoder
from torch import nn

ENCODERS: Any = ("small", "nature", "impala")
FEATURES = {"small": 64, "nature": 512, "impala": 256}


def picture(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("shape", [(64, 64, 3), (3, 64, 64), (84, 84, 4), (12, 64, 64), (3, 160, 256), (36, 50, 1)])
def test_encoder_accepts_channels_first_and_last(encoder: Any, shape: tuple[int, ...]) -> None:
    eye = ImageEncoder(shape, encoder)
    assert eye.features == FEATURES[encoder]
    features = eye(picture(2, *shape))
    assert features.shape == (2, eye.features)
    assert not torch.equal(features[0], features[1])
    features.sum().backward()
    assert all(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in eye.parameters())


@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoder_gives_the_same_features_for_both_axis_orders(encoder: Any) -> None:
    torch.manual_seed(0)
    last, first = ImageEncoder((40, 48, 3), encoder), ImageEncoder((3, 40, 48), encoder)
    first.load_state_dict(last.state_dict())
    image = picture(2, 40, 48, 3)
    torch.testing.assert_close(last(image), first(image.movedim(-1, 1).contiguous()))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoder_divides_bytes_by_255_once(encoder: Any) -> None:
    eye, seen = ImageEncoder((64, 64, 3), encoder), []
    convolution = next(m for m in eye.modules() if isinstance(m, nn.Conv2d))
    convolution.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    eye(torch.full((1, 64, 64, 3), 255, dtype=torch.uint8))
    eye(torch.full((1, 64, 64, 3), 51, dtype=torch.uint8))
    assert [float(x.max()) for x in seen] == pytest.approx([1.0, 0.2])
    assert {x.dtype for x in seen} == {torch.float32}


def test_nature_and_impala_encoders_have_the_published_shapes() -> None:
    nature = ImageEncoder((84, 84, 4), "nature")
    assert [p.numel() for n, p in nature.named_parameters() if n.endswith("weight")] == [
        32 * 4 * 8 * 8,
        64 * 32 * 4 * 4,
        64 * 64 * 3 * 3,
        512 * 7 * 7 * 64,
    ]
    impala = ImageEncoder((64, 64, 3), "impala")
    convolutions = [m for m in impala.modules() if isinstance(m, nn.Conv2d)]
    assert len(convolutions) == 15
    assert {m.kernel_size for m in convolutions} == {(3, 3)}


def test_error_about_a_small_image_names_encoders_that_fit() -> None:
    with pytest.raises(ConfigError, match=r"at least 36 pixels a side, got 20 x 64; use encoder=small"):
        ImageEncoder((20, 64, 3), "nature")
    for encoder in ("small", "impala"):
        assert ImageEncoder((8, 8, 3), encoder)(picture(1, 8, 8, 3)).shape == (1, FEATURES[encoder])  # type: ignore[arg-type]
