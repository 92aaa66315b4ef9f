"""Makes the report on runs, which is an HTML page with learning curves, tables and videos."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = [
    "Film",
    "write_page",
]

if TYPE_CHECKING:
    from rlgpt.report.video import Film
    from rlgpt.report.write import write_page
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.report.video": ("Film",),
            "rlgpt.report.write": ("write_page",),
        },
    )
