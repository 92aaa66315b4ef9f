"""Compiled functions that call one another are optimised once, together with the one that Python calls.

Numba makes machine code of every function it compiles, and for each it optimises anew all that the function calls, to
the last callee: with a hundred kernels that call one another that is most of the time. What Python does not call needs
no machine code, and callees are optimised with their callers anyway. So a function compiled with ``Callee`` stops at
LLVM's intermediate code, and one compiled with ``Root`` takes in its callees and all of theirs.

Numba's passes for closures, for branches on arguments that are None and for expressions of whole arrays are left out:
no kernel has any, and to look for them is a tenth of the time.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import funcdesc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes

UNUSED = (InlineClosureLikes, DeadBranchPrune, NopythonRewrites)
"""Passes that find nothing to do in kernels."""


class _Library(JITCodeLibrary):
    """Links what its callees call, too: none of them holds more than itself. Optimised once, when it is whole."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        super().add_linking_library(library)
        if isinstance(library, _Intermediate):
            for other in library._linking_libraries:
                super().add_linking_library(other)


class _Intermediate(_Library):
    """A library that stays intermediate code: neither linked nor optimised."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _RootLowering(NativeLowering):
    _name = "root_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _CalleeLowering(NativeLowering):
    """``NativeLowering`` without its second half, the machine code."""

    _name = "callee_lowering"

    def run_pass(self, state: Any) -> bool:
        context, flags = state.targetctx, state.flags
        library = state.library = _Intermediate(context.codegen(), state.func_id.func_qualname)
        description = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
        )
        with context.push_code_library(library):
            lower = Lower(context, library, description, state.func_ir, metadata=state.metadata)
            lower.lower()
        library.finalize()
        # Callers know a callee by an object of its own; nothing is behind it.
        key = _dynfunc.make_function(description.lookup_module(), description.qualname, "", 0, lower.env, (library,))
        context.insert_user_function(key, description, [library])
        state.metadata["prune_stats"] = None
        state.metadata["llvm_pass_timings"] = library.recorded_timings
        state["cr"] = _LowerResult(description, lower.call_helper, cfunc=key, env=lower.env)
        return True


def _with(lowering: type[NativeLowering]) -> type[CompilerBase]:
    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            builder = DefaultPassBuilder
            manager = builder.define_nopython_pipeline(self.state)
            steps = [(step, text) for step, text in manager.passes if step not in UNUSED]
            manager.passes = [(lowering if step is NativeLowering else step, text) for step, text in steps]
            manager._finalized = False
            manager.finalize()
            return [manager]

    return Compiler


Root, Callee = _with(_RootLowering), _with(_CalleeLowering)
