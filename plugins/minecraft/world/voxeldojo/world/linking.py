"""Optimises each compiled function only once, together with the function that Python calls.

Without this module, the compiler numba generates machine code for every function, and each time optimises all callees
again. With a hundred kernels that call one another, the repeated optimisation takes most of the compilation time.
Functions that Python does not call need no machine code of their own, because a called function is optimised as a part
of its caller. The compilation of a function with ``Callee`` stops at LLVM's intermediate code; a function compiled with
``Root`` includes the code of all direct and indirect callees.

Numba's passes for closures, for branches on None arguments and for array expressions are left out, because no kernel
needs these passes. These passes would take a tenth of the compilation time.
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
"""Passes that no kernel needs."""


class _Library(JITCodeLibrary):
    """A numba code library that also links the indirect callees, because the library of a callee contains only the
    callee itself. The complete library is optimised once.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        super().add_linking_library(library)
        if isinstance(library, _Intermediate):
            for other in library._linking_libraries:
                super().add_linking_library(other)


class _Intermediate(_Library):
    """A numba code library that stays intermediate code, neither linked nor optimised."""

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
    """``NativeLowering`` (numba's translation to LLVM) without the generation of machine code."""

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
        # Numba identifies a callee by a function object; this one has no code.
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
