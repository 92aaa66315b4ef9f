"""What rlgpt costs: of a step, of training, of an environment in another process. The sandbox's: ``sandbox.py``.

    python benchmarks/overhead.py              # all three parts, about 11 minutes
    python benchmarks/overhead.py --quick      # a smoke test of all but training, seconds
    python benchmarks/overhead.py --parts step worker training

==============  ====================================================================================================
``step``        CPU time of ``extend(env)`` over that of ``env``, the same actions through the same states
``training``    primitive steps per CPU-second (all processes) of each trainer, over plain Sample Factory's, on the
                kitchen with recorded actions, so that all of them simulate the same
``worker``      microseconds of a step of an environment in another process, over the plain step
==============  ====================================================================================================

Everything is compared in short blocks, in turn, within one run; see ``ratios.py``. Ends with lines of JSON.
"""

from __future__ import annotations

import os
import sys

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

import parts
import step_cost
import training_cost
import worker_cost

PARTS = {
    "step": step_cost.measure,
    "worker": worker_cost.measure,
    "training": training_cost.measure,
}


if __name__ == "__main__":
    sys.exit(parts.main(__doc__ or "", PARTS))
