"""The device on which a training computes its updates: the CPU, or a GPU with CUDA. All trainers have the setting
``trainer.device``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from rlgpt.errors import ConfigError, TrainerError

if TYPE_CHECKING:
    import torch

Device = Literal["cpu", "gpu", "auto"]
"""The values of the setting ``trainer.device``. With ``auto``, a training uses the GPU if torch finds CUDA and the
policy observes images. A network for numbers is two layers of 64 units by default; such a network is too small to
occupy a GPU.
"""

DEVICES: tuple[Device, ...] = get_args(Device)


def named(device: str) -> Device:
    """The value of the setting ``trainer.device`` that ``device`` names.

    :raises ConfigError: ``device`` is not one of :data:`DEVICES`.
    """
    for known in DEVICES:
        if device == known:
            return known
    raise ConfigError(f"trainer.device={device} cannot be used. Valid: {', '.join(DEVICES)}; gpu is a GPU with CUDA.")


def check_device(device: Device) -> None:
    """Check that this machine has the device that a user chose.

    :raises TrainerError: ``device`` is ``gpu``, and torch finds no CUDA.
    """
    if device == "gpu" and not _has_cuda():
        raise TrainerError(
            "device=gpu needs CUDA, which torch does not find on this machine. Use device=cpu, or install a build of "
            "torch with CUDA and check `python -c 'import torch; print(torch.cuda.is_available())'`."
        )


def resolved(device: Device, *, images: bool) -> Literal["cpu", "gpu"]:
    """The device of a training, for the value of the setting ``trainer.device``.

    :param images: whether the policy observes images.
    :raises TrainerError: ``device`` is ``gpu``, and torch finds no CUDA.
    """
    check_device(device)
    if device == "auto":
        return "gpu" if images and _has_cuda() else "cpu"
    return device


def torch_device(device: Literal["cpu", "gpu"]) -> torch.device:
    """The name of ``device`` in torch, where a GPU is ``cuda``."""
    import torch

    return torch.device("cuda" if device == "gpu" else "cpu")


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
