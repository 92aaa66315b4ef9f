"""Checks the rooms (the packages in core/rlgpt). Every room must import only from rooms above it in the list of rooms,
modules must not import each other in a circle, and the core must not name a plugin.

The table of rooms in docs/architecture.md gives the order of the rooms. The check of imports includes imports inside
functions and under ``TYPE_CHECKING``. The script prints one line for each fault, and ends with exit status 1 if it
finds a fault.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def order(architecture: str) -> list[str]:
    """Return the names of the packages in core/rlgpt (*rooms*), in the order of the table in docs/architecture.md whose
    header begins with ``| room |``.
    """
    table = architecture.partition("| room |")[2].partition("\n\n")[0]
    rooms = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    if not rooms:
        raise SystemExit("docs/architecture.md must have a table of rooms that begins with '| room |'; none was found")
    return rooms


def imported(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """Return the line number and the dotted name of each import in ``module``. Relative imports are resolved."""
    package = module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{name}.{alias.name}") for alias in node.names)


def room_of(name: str) -> str | None:
    """Return the room of the module ``name``, or None for a module outside rlgpt. For example, the room of
    ``rlgpt.rl.ppo`` is ``rl``.
    """
    parts = name.split(".")
    return parts[1] if parts[0] == "rlgpt" and len(parts) > 1 else None


def order_faults(package: Path, rooms: Sequence[str]) -> Iterator[str]:
    """Find imports from rooms that are below the importing room in the list ``rooms``, and packages that the list
    ``rooms`` lacks. ``rlgpt/__init__.py`` may import from all rooms.
    """
    rank = {room: i for i, room in enumerate(rooms)}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts == ("__init__",) or parts == ("__main__",):
            continue
        room = parts[0]
        if room not in rank:
            yield f"{path}: room {room!r} is not in the table of docs/architecture.md"
            continue
        module = ".".join(("rlgpt", *parts))
        for line, name in imported(ast.parse(path.read_text()), module):
            target = room_of(name)
            if target in rank and rank[target] > rank[room]:
                yield f"{path}:{line}: {room!r} imports {name}, but {target!r} is below it"


def circle_faults(package: Path) -> Iterator[str]:
    """Find modules that import each other in a circle. The search does not follow imports of a package
    (``__init__.py``).
    """
    modules = {
        ".".join(("rlgpt", *path.relative_to(package).with_suffix("").parts)): path
        for path in sorted(package.rglob("*.py"))
        if path.name != "__init__.py"
    }
    imports = {
        module: {
            target
            for _, name in imported(ast.parse(path.read_text()), module)
            for target in (name, name.rpartition(".")[0])
            if target in modules
        }
        for module, path in modules.items()
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as circle:
        yield f"{package}: a circle of imports: {' <- '.join(circle.args[1])}"


def docstrings(tree: ast.AST) -> set[int]:
    """Return the ids of the nodes in a syntax tree that are docstrings. A docstring is a statement that is only a
    string.
    """
    return {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}


def naming_faults(package: Path, plugins: Sequence[str]) -> Iterator[str]:
    """Find code in the core that names a plugin in an import, an identifier or a string. Docstrings may
    give examples.
    """
    names = [re.escape(p) for plugin in plugins for p in (plugin, f"rlgpt_{plugin}", f"rlgpt-{plugin}")]
    if not names:
        return
    word = re.compile(rf"(?<![\w-])({'|'.join(names)})(?![\w-])")
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text())
        docs = docstrings(tree)
        for node in ast.walk(tree):
            texts: list[str] = []
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                texts = [node.value]
            elif isinstance(node, ast.Import | ast.ImportFrom):
                texts = [name for _, name in imported(ast.Module([node], []), "rlgpt.x")]
            elif isinstance(node, ast.Name):
                texts = [node.id]
            for text in texts:
                if match := word.search(text):
                    yield f"{path}:{getattr(node, 'lineno', 0)}: core names the plugin {match[1]!r}"


def main() -> int:
    package = ROOT / "core" / "rlgpt"
    rooms = order((ROOT / "docs" / "architecture.md").read_text())
    plugins = sorted(p.name for p in (ROOT / "plugins").iterdir() if (p / "pyproject.toml").is_file())
    faults = [*order_faults(package, rooms), *circle_faults(package), *naming_faults(package, plugins)]
    for fault in faults:
        print(fault)
    print(f"rooms: {len(faults)} faults in {len(rooms)} rooms")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
