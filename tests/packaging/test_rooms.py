"""tools/rooms.py finds imports from lower rooms (packages), unknown rooms, and names of plugins in the core. The
command ``make check`` applies it to this repository.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def rooms() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package_of(folder: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        path = folder / "rlgpt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return folder / "rlgpt"


@pytest.mark.parametrize(
    "source",
    [
        "from rlgpt.loop import run",
        "import rlgpt.loop",
        "from rlgpt import loop",
        "from ..loop import run",
        "def f():\n    from rlgpt.loop import run",
    ],
)
def test_rooms_checker_reports_an_import_from_a_lower_room(rooms: ModuleType, tmp_path: Path, source: str) -> None:
    package = package_of(tmp_path, {"rl/ppo.py": source, "loop/__init__.py": ""})
    (fault,) = rooms.order_faults(package, ["rl", "loop"])
    assert "ppo.py" in fault
    assert "'loop' is below" in fault


def test_rooms_checker_accepts_imports_from_higher_rooms_and_within_a_room(rooms: ModuleType, tmp_path: Path) -> None:
    package = package_of(
        tmp_path,
        {
            "__init__.py": "from rlgpt.loop import run",
            "rl/a.py": "from . import b\nimport numpy",
            "rl/b.py": "",
            "loop/__init__.py": "from rlgpt.rl import a",
        },
    )
    assert list(rooms.order_faults(package, ["rl", "loop"])) == []


def test_rooms_checker_reports_modules_that_import_each_other_in_a_circle(rooms: ModuleType, tmp_path: Path) -> None:
    files = {
        "rl/a.py": "from rlgpt.rl.b import x",
        "rl/b.py": "if TYPE_CHECKING:\n    import rlgpt.rl.c",
        "rl/c.py": "",
    }
    assert list(rooms.circle_faults(package_of(tmp_path, files))) == []
    (fault,) = rooms.circle_faults(package_of(tmp_path, {"rl/c.py": "def f():\n    from . import a"}))
    assert all(f"rlgpt.rl.{name}" in fault for name in "abc")


def test_rooms_checker_reports_a_room_that_is_not_in_the_table(rooms: ModuleType, tmp_path: Path) -> None:
    package = package_of(tmp_path, {"attic/x.py": ""})
    (fault,) = rooms.order_faults(package, ["rl"])
    assert "'attic' is not in the table" in fault


@pytest.mark.parametrize("source", ["import rlgpt_pan", "NAME = 'pan/fry'", "from rlgpt_pan.x import y", "pan = 1"])
def test_rooms_checker_reports_core_code_that_names_a_plugin(rooms: ModuleType, tmp_path: Path, source: str) -> None:
    assert len(list(rooms.naming_faults(package_of(tmp_path, {"rl/a.py": source}), ["pan"]))) == 1


@pytest.mark.parametrize("source", ["'''Such as pan/fry.'''", "panel = 1", "x = 'expand'"])
def test_rooms_checker_allows_a_plugin_name_in_a_docstring_or_a_longer_word(
    rooms: ModuleType, tmp_path: Path, source: str
) -> None:
    assert list(rooms.naming_faults(package_of(tmp_path, {"rl/a.py": source}), ["pan"])) == []


def test_rooms_checker_reads_only_the_table_of_rooms(rooms: ModuleType) -> None:
    page = "| room | what |\n|---|---|\n| `rl` | a |\n| `loop` | b |\n\n| key | what |\n|---|---|\n| `duration` | c |\n"
    assert rooms.order(page) == ["rl", "loop"]
