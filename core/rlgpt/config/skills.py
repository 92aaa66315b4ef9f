"""Tests skills in the installed plugins. The test of a skill that somebody else made may need the user's approval."""

from __future__ import annotations

import datetime
from pathlib import Path

from rlgpt.config.environment import Objects, place_of
from rlgpt.config.run_config import EnvironmentConfig, RunConfig
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, RlgptError, SkillError
from rlgpt.plugin import PluginManager
from rlgpt.plugin.origin import installed, origin
from rlgpt.runs import Run
from rlgpt.skills import Skill, SkillLibrary, SkillTest, retest


def library_at(folder: str | Path) -> SkillLibrary:
    """The skill library in an existing folder.

    :raises SkillError: the folder does not exist, or is the folder of a run.
    """
    if Run.exists(Path(folder)):
        raise SkillError(
            f"{folder} is the folder of a run, not a library. Give the folder that runs use as skills=FOLDER."
        )
    if not Path(folder).is_dir():
        raise SkillError(f"there is no library of skills at {folder}. Give the folder that runs use as skills=FOLDER.")
    return SkillLibrary(Path(folder))


def retest_in_plugin(skill: Skill, manager: PluginManager, *, episodes: int, trust: bool = False) -> SkillTest:
    """Play the recorded episodes of ``skill`` again, in the same task with the same settings.

    If the installed version of the plugin cannot make the skill's task, the test fails.

    :param trust: whether the user allows that a skill made by somebody else changes settings of its task, or imports a
        module.
    :raises ConfigError: the plugin is not installed, the user's approval is missing, or only Python code can make the
        environment.
    """
    record = skill.record
    here = installed(record.plugin)
    if here is None:
        raise ConfigError(
            f"the skill {skill.id} needs {record.plugin or 'an unknown distribution'}, which is not installed. Install "
            "it, then test the skill."
        )
    config = _config(skill, trust)
    try:
        place = place_of(config, manager, Objects())
    except RlgptError as fault:
        return SkillTest(
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            plugin=here.distribution,
            version_of_plugin=here.version,
            has_success=record.has_success,
            score=record.score,
            failure=f"its environment cannot be made: {fault}"[:600],
        )
    return retest(skill, place.plugin, place.task, place.factory, origin(place.plugin), episodes=episodes)


def _config(skill: Skill, trust: bool) -> RunConfig:
    record = skill.record
    asked = [f"task_settings.{name}={value}" for name, value in record.settings.items()]
    if record.environment is None:
        config = validated(RunConfig, {"task": record.task, "task_settings": dict(record.settings)})
    else:
        environment = validated(EnvironmentConfig, record.environment, "environment")
        if environment.id is None:
            raise ConfigError(
                f"a call of design() made {skill.id}, and only its caller can make its environment: test it with "
                "rlgpt.skills.retest()."
            )
        asked += [f"import of {environment.id.partition(':')[0]}"] if ":" in environment.id else []
        config = RunConfig(environment=environment)
    if asked and not (trust or skill.is_own):
        raise ConfigError(
            f"{skill.id} was made by somebody else or on another machine, and its test asks for: {', '.join(asked)}. "
            "If you trust the skill, add --trust."
        )
    return config
