"""Executes the jobs of sweeps and studies. Each job is one run. If a job of a sweep is executed again, its run is
resumed.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from rlgpt.cli.compose import run_config
from rlgpt.cli.main import INTERRUPTED
from rlgpt.cli.start import finish, option, start
from rlgpt.config.build import build
from rlgpt.config.components import Component
from rlgpt.config.run_config import RunConfig
from rlgpt.config.runs import resume, with_record
from rlgpt.errors import ConfigError, RlgptError, StopRequested
from rlgpt.executors import JobResult, RunJob
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run
from rlgpt.studies.plan import changes
from rlgpt.terminal import say


def work(job: RunJob) -> JobResult:
    """Start the run of a job, or continue it. The function turns an error, and a requested stop of this run, into a
    message and an exit status, so that the other jobs go on. The traceback of an error that no user can correct is in
    the job's output.
    """
    assert job.folder is not None, "a run has a folder"
    try:
        if job.config is None:
            raise ConfigError(job.fault)
        config = run_config(job.config)
        folder = Path(config.folder or job.folder)
        # The executor runs this job. The job itself uses one process.
        config = config.model_copy(update={"folder": str(folder), "executor": Component(name="in_process")})
        manager = PluginManager()
        return _continued(config, folder, manager) if Run.exists(folder) else start(config, manager)
    except RlgptError as error:
        if job.folder.is_dir() and not any(job.folder.iterdir()):
            job.folder.rmdir()
        say(f"rlgpt: {error}", sys.stderr)
        return JobResult(error.exit_status, message=str(error))
    except StopRequested as stop:
        say(f"rlgpt: {stop}", sys.stderr)
        return JobResult(INTERRUPTED, message=str(stop))
    except Exception as error:
        traceback.print_exc()
        return JobResult(1, message=f"{type(error).__name__}: {error}")


def _continued(config: RunConfig, folder: Path, manager: PluginManager) -> JobResult:
    """Resume the run in ``folder``. If the run is finished, the function only reads its result.

    :raises ConfigError: the run was made with other settings.
    """
    context = build(with_record(config, folder), folder, manager)
    run = Run.open(folder)
    if differ := changes(run, context.run.record.config):
        raise ConfigError(
            f"the run in {folder} was made with {', '.join(differ[:5])}. Use its settings, or choose another folder "
            "(hydra.sweep.dir=...)."
        )
    report = run.report()
    if run.record.status == "finished" and report is not None:
        return JobResult(0, report.evaluation.objective)
    return finish(resume(context, option))
