"""Files of JSON lines that a kill may cut short and a resume appends to."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from rlgpt.domain import Value
from rlgpt.errors import TrainerError

V = TypeVar("V", bound=Value)


def mend(path: Path) -> None:
    """Cut off a last line that lacks its end, so that the next one does not become part of it.

    To be called before the first line is appended, while nobody else writes.
    """
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def read(path: Path, model: type[V]) -> tuple[V, ...]:
    """The values of all whole lines; none where there is no file. A last line that lacks its end is left out.

    :raises TrainerError: a whole line is damaged.
    """
    if not path.exists():
        return ()
    *lines, _ = path.read_bytes().split(b"\n")
    values = []
    for number, line in enumerate(lines, start=1):
        try:
            values.append(model.model_validate_json(line))
        except ValidationError as fault:
            raise TrainerError(
                f"{path} is damaged: line {number} is no {model.__name__} ({fault.errors()[0]['msg']}). Restore it "
                "from a copy, or delete that line: the training goes on without it."
            ) from fault
    return tuple(values)
