"""The front door for environments without a plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.agents.build import KINDS, WITHOUT_LLM, build_agents
from rlgpt.design.call import call_of
from rlgpt.design.folder import new_folder, run_in
from rlgpt.design.model import Model, recorded
from rlgpt.design.prepare import ConstantPluginFactory, prepare
from rlgpt.domain import Bundle
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.llm.reporting import ReportingLLM
from rlgpt.loop import LoopContext, LoopSettings, run
from rlgpt.loop.progress import ProgressReporter, progress_reporter
from rlgpt.loop.reserve import check_budget
from rlgpt.options import load_bundle, save_bundle
from rlgpt.plugin.defaults import Named
from rlgpt.plugin.generic import MakeEnv
from rlgpt.plugin.judged import Success
from rlgpt.plugin.types import Primitive
from rlgpt.rl.base import Hyperparameters, Trainer
from rlgpt.sandbox import SandboxLimits

TRAINERS = ("ppo", "sample_factory")


def run_design(
    make_env: MakeEnv | str,
    goal: str,
    llm: Model | None,
    *,
    docs: str | None = None,
    labels: Named | None = None,
    observations: Named | None = None,
    success: Success | float | None = None,
    primitives: Sequence[Primitive] = (),
    horizon: int | None = None,
    idle: Any = None,
    budget: int = 60_000,
    trainer: str | Trainer = "ppo",
    hyperparameters: Mapping[str, Any] | None = None,
    budgets: SandboxLimits | Mapping[str, Any] | None = None,
    agents: str = "slow_fast_critic",
    seed: int = 0,
    folder: str | Path | None = None,
    progress: ProgressReporter | None = None,
    **settings: Any,
) -> Bundle:
    """See :func:`rlgpt.design`."""
    chosen = validated(LoopSettings, {"budget": budget, "seed": seed, **settings})
    call = call_of(
        make_env,
        goal,
        llm,
        trainer=trainer,
        success=success,
        primitives=primitives,
        docs=docs,
        labels=labels,
        observations=observations,
        horizon=horizon,
        idle=idle,
    )
    trainer = trainer_of(trainer)
    if agents not in KINDS:
        raise UnknownNameError("kind of agents", agents, KINDS)
    if llm is None and agents not in WITHOUT_LLM:
        raise ConfigError(
            "llm is None; give a model's name as litellm knows it, or the path of a transcript. "
            f"Without a language model: agents={' or '.join(WITHOUT_LLM)}."
        )
    learning = validated(Hyperparameters, hyperparameters or {}, "hyperparameters")
    limits = budgets if isinstance(budgets, SandboxLimits) else validated(SandboxLimits, budgets or {}, "budgets")
    plugin, task = prepare(
        make_env,
        goal,
        docs=docs,
        labels=labels,
        observations=observations,
        success=success,
        horizon=horizon,
        primitives=primitives,
        idle=idle,
        budgets=limits,
    )
    where = Path(folder) if folder is not None else new_folder(task)
    config = {
        "task": task.model_dump(mode="json"),
        "docs": plugin.knowledge(task),
        **plugin.world.model_dump(mode="json"),
        "agents": agents,
        "trainer": trainer.name,
        "hyperparameters": learning.model_dump(mode="json"),
        "budgets": limits.model_dump(mode="json"),
        **chosen.model_dump(mode="json"),
        "call": call,
    }

    def context(show: ProgressReporter) -> LoopContext:
        model = None if llm is None else ReportingLLM(recorded(llm, folder=where, seed=seed, task=task.id), show)
        steps, turns = chosen.budget // chosen.iterations, chosen.iterations
        team = build_agents(agents, model, plugin, task, budgets=limits, training_steps=steps, iterations=turns)
        if not (where / "run.json").exists():
            check_budget(chosen, task, team)
        record = run_in(where, task, seed, config)
        return LoopContext(
            chosen, task, plugin, ConstantPluginFactory(plugin), team, trainer, learning, record, limits, show
        )

    with progress or progress_reporter() as show:
        made = context(show)
        show.message(f"run {where}")
        result = run(made)
        if result.stopped is not None:
            show.message(f"stopped: {result.stopped}")
    if result.report is None:
        assert result.stopped is not None
        raise result.stopped
    bundle = load_bundle(where / "bundle").model_copy(update={"world": plugin.world})
    save_bundle(bundle, where / "bundle")
    return bundle


def trainer_of(trainer: str | Trainer) -> Trainer:
    """The trainer of that name, or the one given.

    :raises UnknownNameError: there is none of that name.
    :raises ConfigError: it needs an extra that is not installed.
    """
    if isinstance(trainer, Trainer):
        return trainer
    if trainer == "ppo":
        from rlgpt.rl.ppo import PPO

        return PPO()
    if trainer == "sample_factory":
        try:
            from rlgpt.rl.sample_factory import SampleFactory
        except ImportError as missing:
            raise ConfigError(
                "trainer='sample_factory' needs an extra that is not installed: `rlgpt doctor` tells how. Or use 'ppo'."
            ) from missing
        return SampleFactory()
    raise UnknownNameError("trainer", str(trainer), TRAINERS, "Or give an object of rlgpt.rl.base.Trainer.")
