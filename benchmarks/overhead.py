"""Measures the cost of rlgpt for a step, a training, an environment in another process, and the start of an
environment. ``sandbox.py`` measures the sandbox.

    python benchmarks/overhead.py              # all parts, about 15 minutes
    python benchmarks/overhead.py --quick      # a smoke test of all but training, seconds
    python benchmarks/overhead.py --parts step worker training

==============  ====================================================================================================
``step``        CPU time of a step of ``extend(env)``, divided by the time of ``env``, with the same actions and states
``training``    primitive steps per CPU-second (all processes) of each trainer, over plain Sample Factory's, on the
                kitchen with recorded actions, so that all of them simulate the same
``worker``      microseconds of a step of an environment in another process, over the plain step
``start``       CPU seconds until an environment has its first observation
==============  ====================================================================================================

All overhead ratios compare short blocks of steps that alternate within one run (see ``interleaved.py``). The script
prints lines of JSON.
"""

from __future__ import annotations

import os
import sys

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

import start_cost
import step_cost
import suite
import training_cost
import worker_cost

PARTS = {
    "step": step_cost.measure,
    "worker": worker_cost.measure,
    "start": start_cost.measure,
    "training": training_cost.measure,
}


if __name__ == "__main__":
    sys.exit(suite.run_parts(__doc__ or "", PARTS))
