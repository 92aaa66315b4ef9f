"""The names that packages export: ``__all__``, ``dir()`` and the names for type checkers agree, and a name is imported
at its first use.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import rlgpt

ROOT = Path(rlgpt.__file__).parent
PACKAGES = sorted(
    ".".join(("rlgpt", *path.relative_to(ROOT).parent.parts))
    for path in (ROOT / "__init__.py", *ROOT.glob("*/__init__.py"))
    if "lazy_exports(" in path.read_text()
)
HEAVY = ("torch", "litellm", "hydra", "matplotlib", "wasmtime", "sample_factory", "rlgpt.agents", "rlgpt.loop")


def loaded_by(code: str) -> list[str]:
    """Return the slow modules that ``code`` imports in a new interpreter."""
    code += f"\nimport sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def names_for_type_checkers(package: str) -> set[str]:
    """Return the names that the package imports from rlgpt, including those under ``TYPE_CHECKING``."""
    tree = ast.parse((ROOT.joinpath(*package.split(".")[1:]) / "__init__.py").read_text())
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("rlgpt")]
    return {alias.name for n in imports for alias in n.names} - {"lazy_exports"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_of_a_package_is_importable(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) == names_for_type_checkers(package)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        if name == "SampleFactory":
            pytest.importorskip("sample_factory")
        assert getattr(module, name) is not None
        assert not isinstance(getattr(module, name), ModuleType), "a module of the same name hides the exported object"
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_importing_rlgpt_imports_no_slow_module() -> None:
    assert loaded_by("import rlgpt; rlgpt.design; rlgpt.CodedAction") == []


def test_importing_the_packages_of_rlgpt_imports_no_slow_module() -> None:
    rooms = [p for p in PACKAGES if p not in ("rlgpt", "rlgpt.agents")]
    assert loaded_by(f"import {', '.join(rooms)}") == []


def test_rlgpt_design_is_the_function_after_an_import_of_its_package() -> None:
    code = "import rlgpt.design.parts; from rlgpt.design import design; assert rlgpt.design is design"
    subprocess.run([sys.executable, "-c", code], check=True)
