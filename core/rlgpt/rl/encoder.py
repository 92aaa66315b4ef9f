"""Convolutional encoders of uint8 images, with the publications from which they are taken.

===========  ===========================================================================  ========  ================
encoder      layers                                                                       features  smallest side
===========  ===========================================================================  ========  ================
``small``    16 of 5 x 5, 32 of 3 x 3, 32 of 3 x 3, each with stride 2; pooled to 4 x 4        64   any
``nature``   32 of 8 x 8 / 4, 64 of 4 x 4 / 2, 64 of 3 x 3 (Mnih et al., 2015, Methods)        512   36 pixels
``impala``   16, 32, 32 channels, each with a 3 x 3 convolution, a maximum over 3 x 3         256   any
             with stride 2, and two residual blocks (Espeholt et al., 2018, figure 3, right)
===========  ===========================================================================  ========  ================

For one image of 64 x 64 x 3, the three encoders need 3, 4 and 28 million multiplications. The input of an encoder is an
image of bytes with channels first or last. The encoder divides the bytes of an image by 255; no other code does so.
"""

from __future__ import annotations

import torch
from torch import nn

from rlgpt.errors import ConfigError
from rlgpt.rl.base import Encoder

_SMALLEST = {"small": 1, "nature": 36, "impala": 1}


class ImageEncoder(nn.Module):
    """The encoder of one image.

    :param shape: the shape of the image, which is height x width x channels, or channels x height x width. The smaller
        of the first and the last number of the shape is the number of channels.
    :ivar features: number of features that :meth:`forward` computes for an image.
    :raises ConfigError: the image is too small for this encoder.
    """

    def __init__(self, shape: tuple[int, ...], encoder: Encoder) -> None:
        super().__init__()
        check(shape, encoder)
        self._channels_last, channels, sides = _axes(shape)
        body = {"small": _small, "nature": _nature, "impala": _impala}[encoder](channels)
        with torch.no_grad():
            flat = int(body(torch.zeros(1, channels, *sides)).shape[1])
        self.features = {"small": 64, "nature": 512, "impala": 256}[encoder]
        end: nn.Module = nn.Tanh() if encoder == "small" else nn.ReLU()
        self.layers = nn.Sequential(*body, nn.Linear(flat, self.features), end)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Compute the features ``[B, features]`` of uint8 images ``[B, *shape]``."""
        pixels = image.to(torch.float32) / 255.0
        features: torch.Tensor = self.layers(pixels.movedim(-1, 1) if self._channels_last else pixels)
        return features


def check(shape: tuple[int, ...], encoder: Encoder) -> None:
    """:raises ConfigError: an image of this shape is too small for the encoder."""
    _, _, (height, width) = _axes(shape)
    if min(height, width) < _SMALLEST[encoder]:
        raise ConfigError(
            f"encoder={encoder} needs images of at least {_SMALLEST[encoder]} pixels a side, got {height} x {width}; "
            "use encoder=small or encoder=impala, or larger images."
        )


def _axes(shape: tuple[int, ...]) -> tuple[bool, int, tuple[int, int]]:
    """For the shape of an image, return whether channels come last, the number of channels, and the pair of height and
    width.
    """
    if shape[-1] <= shape[0]:
        return True, shape[2], (shape[0], shape[1])
    return False, shape[0], (shape[1], shape[2])


def _small(channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
    )


def _nature(channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
    )


def _impala(channels: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in (16, 32, 32):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.MaxPool2d(3, stride=2, padding=1)]
        layers += [_Residual(width), _Residual(width)]
        channels = width
    return nn.Sequential(*layers, nn.ReLU(), nn.Flatten())


class _Residual(nn.Module):
    """A residual block. The residual block computes x + conv(relu(conv(relu(x))))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        changed: torch.Tensor = self.layers(image)
        return image + changed
