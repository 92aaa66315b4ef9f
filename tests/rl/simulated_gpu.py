"""A simulated GPU, for tests on machines without a GPU. The data of its tensors are in the memory of the CPU, but its
operations follow the rules of CUDA: an operation with tensors of both devices is an error, and so is a random generator
of the CPU for a tensor on the GPU.

PyTorch's device ``meta`` stands for the simulated GPU, because PyTorch builds for the CPU accept this device in
gradients.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

GPU = torch.device("meta")
_INDEXING = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
_COPYING = ("aten::copy_", "aten::_to_copy")


class _OnGPU(torch.Tensor):
    """A tensor on the simulated GPU.

    :ivar data_on_cpu: the data.
    """

    data_on_cpu: torch.Tensor

    @staticmethod
    def __new__(cls, data: torch.Tensor) -> _OnGPU:
        made: _OnGPU = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            data.size(),
            strides=data.stride(),
            storage_offset=data.storage_offset(),
            dtype=data.dtype,
            layout=data.layout,
            device=GPU,
        )
        made.data_on_cpu = data
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class SimulatedGPU(TorchDispatchMode):
    """The context in which this thread can use the simulated GPU.

    :ivar uploads: the tensors that were copied from the CPU to the GPU, as pairs of shape and type.
    """

    def __init__(self) -> None:
        super().__init__()
        self.uploads: list[tuple[torch.Size, torch.dtype]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = _run(func, args, kwargs or {})
        if func._schema.name == "aten::_to_copy" and not isinstance(args[0], _OnGPU) and isinstance(result, _OnGPU):
            self.uploads.append((result.shape, result.dtype))
        return result


@contextmanager
def simulated_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedGPU]:
    """Let trainers with ``device="gpu"`` use the simulated GPU."""
    simulated = SimulatedGPU()

    class Pool(ThreadPoolExecutor):
        def __init__(self, count: int, name: str) -> None:
            super().__init__(count, name, initializer=simulated.__enter__)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("rlgpt.rl.ppo.torch_device", lambda device: GPU if device == "gpu" else torch.device("cpu"))
    monkeypatch.setattr("rlgpt.rl.actor_learner.ThreadPoolExecutor", Pool)
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with warnings.catch_warnings(), simulated:
            warnings.filterwarnings("ignore", "(?s)for .*copying from a non-meta parameter")  # Here it is no no-op.
            yield simulated
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


def _run(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operation of PyTorch on the data, after a check of the devices.

    :raises RuntimeError: CUDA would refuse the operation.
    """
    name = func._schema.name  # type: ignore[attr-defined]
    leaves = tree_flatten((args, kwargs))[0]
    on_gpu = [leaf for leaf in leaves if isinstance(leaf, _OnGPU)]
    if any(isinstance(leaf, torch.Tensor) and leaf.device == GPU and not isinstance(leaf, _OnGPU) for leaf in leaves):
        raise NotImplementedError(f"{name}: PyTorch made a tensor without data, as for an index that is a list")
    device = kwargs.get("device")
    result_on_gpu = bool(on_gpu) if device is None else torch.device(device) == GPU
    _check(name, args, leaves, on_gpu)
    if result_on_gpu and any(isinstance(leaf, torch.Generator) for leaf in leaves):
        raise RuntimeError(f"{name}: expected a random generator of the GPU, found one of the CPU")
    out = func(*tree_map(_data, args), **tree_map(_data, kwargs))
    if name == "aten::copy_":
        return args[0]
    if name == "aten::_to_copy" and any(out is tensor.data_on_cpu for tensor in on_gpu):
        out = out.clone()
    known = {} if device is not None else {id(tensor.data_on_cpu): tensor for tensor in on_gpu}

    def placed(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or isinstance(value, _OnGPU):
            return value
        return known.get(id(value), _OnGPU(value)) if result_on_gpu else value

    return tree_map(placed, out)


def _check(name: str, args: Any, leaves: list[Any], on_gpu: list[_OnGPU]) -> None:
    if name in _COPYING:
        return
    if name in _INDEXING:  # Indices on the CPU may select from a tensor on the GPU.
        given = [*([] if isinstance(args[0], _OnGPU) else args[1]), *args[2:3]]
        leaves = [args[0], *(tensor for tensor in given if tensor is not None)]
        on_gpu = [leaf for leaf in leaves if isinstance(leaf, _OnGPU)]
    arrays = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim()]
    if on_gpu and not all(isinstance(array, _OnGPU) for array in arrays):
        raise RuntimeError(f"{name}: expected all tensors on the same device, found two devices")


def _data(value: Any) -> Any:
    if isinstance(value, _OnGPU):
        return value.data_on_cpu
    return torch.device("cpu") if isinstance(value, torch.device) else value
