"""The compiler settings do not change types or code, and are off after a compilation."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import event, types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from voxeldojo.world import compiling

ASKED = types.BaseFunction.get_call_type


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that records each call of a built-in function whose type Numba determines."""
    found: list[Any] = []

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        found.append((function, args))
        return ASKED(function, context, args, kws)

    monkeypatch.setattr(types.BaseFunction, "get_call_type", get_call_type)
    return found


@pytest.fixture
def maximum() -> Any:
    """Return Numba's type of the built-in function ``max``."""
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(max)


def test_a_cached_call_type_equals_numbas_call_type(maximum: Any, asked: list[Any]) -> None:
    context = cpu_target.typing_context
    for args in [(types.int64, types.int64), (types.int64, types.float64)]:
        plain = maximum.get_call_type(context, args, {})
        implementation = maximum.get_impl_key(plain)
        with compiling.remembering():
            del asked[:]
            for _ in range(3):
                maximum._impl_keys.clear()
                signature = maximum.get_call_type(context, args, {})
                assert signature == plain
                assert maximum.get_impl_key(signature) is implementation
        assert [a for f, a in asked if f is maximum] == [args]


def test_a_call_without_a_type_raises_a_typing_error_each_time(maximum: Any) -> None:
    with compiling.remembering():
        for _ in range(2):
            with pytest.raises(TypingError):
                maximum.get_call_type(cpu_target.typing_context, (types.int64, types.none), {})


def test_compiler_settings_apply_only_during_compilations() -> None:
    assert "get_call_type" not in vars(types.Function)
    stack = ExitStack()
    stack.enter_context(compiling.remembering())
    assert "get_call_type" in vars(types.Function)
    with pytest.raises(KeyError), stack:
        raise KeyError
    assert "get_call_type" not in vars(types.Function)


@pytest.mark.parametrize("collects", [True, False])
def test_no_collecting_restores_the_garbage_collector_setting(collects: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with compiling.no_collecting():
            assert not gc.isenabled()
        assert gc.isenabled() == collects
    finally:
        (gc.enable if was else gc.disable)()


def test_no_kernel_needs_the_omitted_compiler_passes() -> None:
    """No kernel contains a closure, a comprehension or ``None``."""
    modules = (ast.parse(p.read_text(encoding="utf-8")) for p in Path(compiling.__file__).parent.glob("*.py"))
    functions = (n for module in modules for n in module.body if isinstance(n, ast.FunctionDef))
    kernels = (f for f in functions if {ast.unparse(d) for d in f.decorator_list} & {"jit", "part", "maker"})
    closures = (ast.Lambda, ast.FunctionDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for kernel in kernels:
        within = [node for part in kernel.body for node in ast.walk(part)]
        assert not any(isinstance(node, closures) for node in within), kernel.name
        assert not any(isinstance(node, ast.Constant) and node.value is None for node in within), kernel.name


def test_nested_compilations_enter_the_settings_only_once() -> None:
    states: list[str] = []

    @contextmanager
    def manager() -> Iterator[None]:
        states.append("on")
        yield
        states.append("off")

    @numba.njit
    def inner(x: int) -> int:
        return x + 1

    @numba.njit
    def outer(x: int) -> int:
        result = inner(x)
        return result * 2

    @numba.njit
    def wrong(x: int) -> int:
        return inner(x).nothing  # type: ignore[attr-defined, no-any-return]

    with event.install_listener("numba:compile", compiling.Outermost(manager)):
        assert outer(1) == 4
        assert states == ["on", "off"]
        with pytest.raises(TypingError):
            wrong(1)
    assert states == ["on", "off"] * 2
