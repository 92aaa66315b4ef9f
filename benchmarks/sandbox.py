"""Measures the cost of the sandbox in single calls, with many workers at the same time, in memory and in training.

    python benchmarks/sandbox.py              # all parts, about ten minutes
    python benchmarks/sandbox.py --quick      # a smoke test of all but training, seconds
    python benchmarks/sandbox.py --parts calls workers training

============  ======================================================================================================
``calls``     microseconds of a primitive (alone, with a view, eight in a yield), a view, ``can_start``, an instance
``workers``   the same in eight processes at once, and the memory of each
``training``  steps per CPU-second on the kitchen over those with the same coded actions as plain generators
============  ======================================================================================================

All comparisons with Python outside the sandbox use short alternating blocks (see ``interleaved.py``). The script prints
lines of JSON.
"""

from __future__ import annotations

import os
import sys

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

import sandbox_calls
import sandbox_training
import sandbox_workers
import suite

PARTS = {"calls": sandbox_calls.measure, "workers": sandbox_workers.measure, "training": sandbox_training.measure}


if __name__ == "__main__":
    sys.exit(suite.run_parts(__doc__ or "", PARTS))
