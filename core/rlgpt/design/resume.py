"""A run of ``design()`` from its folder alone, where gymnasium's registry knows the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rlgpt.agents.build import WITHOUT_LLM, build_agents
from rlgpt.design.call import WORLD, read_call
from rlgpt.design.designing import run_design, trainer_of
from rlgpt.design.prepare import ConstantPluginFactory, prepare
from rlgpt.domain import Bundle
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.llm.settings import LLMSettings
from rlgpt.loop import LoopContext, LoopSettings
from rlgpt.loop.progress import ProgressReporter
from rlgpt.rl.base import Hyperparameters
from rlgpt.runs import Run
from rlgpt.sandbox import SandboxLimits


def opened(run: Run, watching: ProgressReporter) -> LoopContext:
    """What plays the policies of a run of ``design()``. Nobody is asked: its agents are those of ``rl_only``.

    :raises ConfigError: only what called ``design()`` can make the environment.
    """
    config = run.record.config["design"]
    call, limits = read_call(config), validated(SandboxLimits, config["budgets"], "budgets")
    plugin, task = prepare(**{name: call[name] for name in WORLD if name in call}, budgets=limits)
    return LoopContext(
        settings=validated(LoopSettings, {k: config[k] for k in LoopSettings.model_fields if k in config}),
        task=task,
        plugin=plugin,
        factory=ConstantPluginFactory(plugin),
        agents=build_agents("rl_only", None, plugin, task),
        trainer=trainer_of(call["trainer"]),
        hyperparameters=validated(Hyperparameters, config["hyperparameters"], "hyperparameters"),
        run=run,
        budgets=limits,
        observer=watching,
    )


def go_on(folder: Path, changes: Mapping[str, str]) -> Bundle:
    """Make the call again that began the run in ``folder``.

    :param changes: settings of :class:`~rlgpt.loop.LoopSettings` but the seed, as text; or ``llm``.
    :raises ConfigError: only what called ``design()`` can go on with it; or a setting that cannot be used.
    """
    config = Run.open(folder).record.config["design"]
    call = read_call(config)
    settings = {k: config[k] for k in LoopSettings.model_fields if k in config}
    valid = [k for k in settings if k != "seed"]
    for key in changes:
        if key not in (*valid, "llm"):
            raise UnknownNameError("setting of a run of design()", key, (*valid, "llm"), "A run keeps all others.")
    told = dict(changes)
    llm = told.pop("llm", call.pop("llm"))
    if llm is None and config["agents"] not in WITHOUT_LLM:
        raise ConfigError(
            f"the language model of {folder} was an object of its caller's: go on by the same call of design() "
            "(folder=...), or name another: llm=MODEL, or llm=FILE.jsonl, a transcript."
        )
    return run_design(
        **call,
        llm=validated(LLMSettings, llm, "llm") if isinstance(llm, Mapping) else llm,
        hyperparameters=config["hyperparameters"],
        budgets=config["budgets"],
        agents=config["agents"],
        folder=folder,
        **{**settings, **told},
    )
