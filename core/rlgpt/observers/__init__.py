"""Observers of runs. The package offers the progress display of the terminal, and an observer that combines several
observers.

The names of the package ``rlgpt.observers`` are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = ["PlainProgressReporter", "RichProgressReporter", "Several"]

if TYPE_CHECKING:
    from rlgpt.observers.progress import PlainProgressReporter, RichProgressReporter
    from rlgpt.observers.several import Several
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.observers.progress": ("PlainProgressReporter", "RichProgressReporter"),
            "rlgpt.observers.several": ("Several",),
        },
    )
