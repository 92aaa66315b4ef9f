"""Submit two runs to a new cluster of Ray, and print their outcomes.

    python submit_stories.py FOLDER PIPE

The first execution of run 0 waits for PIPE.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rlgpt.executors.ray import Ray
from story_jobs import StoryJob, run_story

if __name__ == "__main__":
    folder, gate = Path(sys.argv[1]), sys.argv[2]
    with Ray(run_story, jobs=1) as executor:
        executor.submit(StoryJob(0, "", folder / "0", fault=f"wait:{gate}", at=40))
        executor.submit(StoryJob(1, "", folder / "1"))
        print(json.dumps({job.number: outcome for job, outcome in executor.as_completed()}))
