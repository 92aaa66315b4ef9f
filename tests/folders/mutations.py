"""Random changes in a folder that other people could make: values, keys, broken text, links, pipes and devices."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TEXTS = (
    "",
    "x" * 100_000,
    r"$\frac{$",
    "${oc.env:CANARY_OF_THE_FUZZ}",
    "${oc.create:{_target_: os.abort}}",
    "\x1b]0;owned\x07\x9b2J\u202e",
    "\x00",
    "../../private/id_rsa",
    "/dev/zero",
    "<script>alert(1)</script>",
    "planted_module.Class",
)
NUMBERS = (-1, 0, 99, 1 << 62, -(1 << 62), 1 << 64, 0.5, -0.0, 1e308, float("nan"), float("inf"), -float("inf"))
OTHERS: tuple[Any, ...] = (None, True, [], {}, [[]], {"": {}}, [None] * 1000)


def mutate(folder: Path, private: Path, rng: random.Random) -> str:
    """Make one to three random changes in a run's folder.

    :returns: a description of the changes, for messages.
    """
    return "; ".join(rng.choice(MUTATIONS)(folder, private, rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def _value(folder: Path, private: Path, rng: random.Random) -> str:
    path, value = _json(folder, rng)
    parent, key = rng.choice(list(_places(value)))
    parent[key] = new = rng.choice((rng.choice(TEXTS), rng.choice(NUMBERS), rng.choice(OTHERS)))
    _dump(path, value)
    return f"{path.name}: {key} = {new!r:.40}"


def _dropped(folder: Path, private: Path, rng: random.Random) -> str:
    path, value = _json(folder, rng)
    parent, key = rng.choice(list(_places(value)))
    del parent[key]
    _dump(path, value)
    return f"{path.name}: {key} dropped"


def _foreign(folder: Path, private: Path, rng: random.Random) -> str:
    path, value = _json(folder, rng)
    objects = [value, *(parent[key] for parent, key in _places(value))]
    chosen = rng.choice([o for o in objects if isinstance(o, dict)])
    chosen[rng.choice(("_target_", "extra", "seed", "name", "x"))] = rng.choice(TEXTS)
    _dump(path, value)
    return f"{path.name}: a foreign key"


def _text(folder: Path, private: Path, rng: random.Random) -> str:
    path = rng.choice(_files(folder))
    text = path.read_bytes()
    at = rng.randrange(len(text) + 1)
    insert = rng.choice((b"9" * 5000, b"[" * 100_000, b'{"a":' * 2000, b"\xff\xfe", b"\x00" * 100, b'"\\ud800"', b","))
    path.write_bytes(text[:at] + insert + text[at + rng.choice((0, 1, 1000)) :])
    return f"{path.name}: {insert[:8]!r} at {at}"


def _cut(folder: Path, private: Path, rng: random.Random) -> str:
    path = rng.choice(_files(folder))
    os.truncate(path, rng.choice((0, path.stat().st_size // 2, max(0, path.stat().st_size - 1), 1 << 40)))
    return f"{path.name}: {path.stat().st_size} bytes"


def _replaced(folder: Path, private: Path, rng: random.Random) -> str:
    path = rng.choice([p for p in sorted(folder.rglob("*")) if not p.is_symlink()] or [folder / "new"])
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if not path.parent.is_dir():
        return "nothing"
    kind = rng.choice(("file", "folder", "missing", "zero", "environ", "pipe", "directory", "gone", "second", "self"))
    targets = {"file": private / "id_rsa", "folder": private / "deep", "missing": private / "new", "self": folder}
    targets |= {"zero": Path("/dev/zero"), "environ": Path("/proc/self/environ")}
    if kind in targets:
        path.symlink_to(targets[kind])
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "second":
        os.link(private / "id_rsa", path)
    return f"{path.relative_to(folder)}: {kind}"


def _copied(folder: Path, private: Path, rng: random.Random) -> str:
    files = _files(folder)
    if len(files) < 2:
        return "nothing"
    source, target = rng.sample(files, 2)
    shutil.copyfile(source, target)
    return f"{source.name} copied to {target.name}"


MUTATIONS: tuple[Callable[[Path, Path, random.Random], str], ...] = (
    *(_value,) * 6,
    *(_dropped, _foreign, _text) * 2,
    *(_replaced,) * 4,
    _cut,
    _copied,
)


def _files(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink() and p.stat().st_size < 1 << 30]


def _json(folder: Path, rng: random.Random) -> tuple[Path, Any]:
    """Choose a JSON file. Return its path and its object. For a file of JSON lines, the object is the first line."""
    known = [folder / name for name in ("run.json", "iterations/0/iteration.json", "bundle/bundle.json", "llm.jsonl")]
    paths = [*known, *(p for p in _files(folder) if p.suffix == ".json")]
    for path in rng.sample(paths, len(paths)):
        try:
            value = json.loads(path.read_text().split("\n")[0] if path.suffix == ".jsonl" else path.read_text())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value:
            return path, value
    return folder / "run.json", {"schema_version": 1}


def _dump(path: Path, value: Any) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value) + "\n")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
