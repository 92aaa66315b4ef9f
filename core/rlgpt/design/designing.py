"""The front door for environments without a plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.agents.build import KINDS, WITHOUT_LLM, build_agents
from rlgpt.anywhere.call import call_of
from rlgpt.anywhere.folder import new_folder, run_in
from rlgpt.anywhere.model import Model, recorded
from rlgpt.anywhere.prepare import Same, prepare
from rlgpt.domain import Bundle
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.loop import LoopContext, LoopSettings, run
from rlgpt.loop.progress import Watcher, watcher
from rlgpt.loop.reserve import check_budget
from rlgpt.loop.watched import Watched
from rlgpt.options import load_bundle, save_bundle
from rlgpt.plugin.base import Primitive
from rlgpt.plugin.generic import MakeEnv, Named
from rlgpt.plugin.judged import Success
from rlgpt.rl.base import Hyperparameters, Trainer
from rlgpt.sandbox import Budgets

TRAINERS = ("ppo", "sample_factory")


def design(
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
    budgets: Budgets | Mapping[str, Any] | None = None,
    agents: str = "slow_fast_critic",
    seed: int = 0,
    folder: str | Path | None = None,
    watching: Watcher | None = None,
    **settings: Any,
) -> Bundle:
    """Let a language model write coded actions for any gymnasium environment, and PPO learn with them.

    The bundle that comes back works with ``rlgpt.extend(env, actions=bundle)`` under any trainer; it also lies in
    ``folder / "bundle"``. Coded actions are built from ``act``, ``repeat`` and ``act_until``, which are derived from
    the action space, and see what the observation space holds.

    :param make_env: makes a new environment each time; with ``render_mode=`` among its arguments videos can be made.
        Or the id under which gymnasium knows it.
    :param goal: what is to be achieved, a sentence for the language model.
    :param llm: a model's name as litellm knows it; the path of a transcript (``.jsonl``) to replay; or an object of
        :class:`rlgpt.llm.base.LLM`. None only with ``agents="rl_only"``.
    :param docs: what an expert would tell of the world: units, signs, dynamics. At most 6,000 characters are used.
        Default: the environment's docstring.
    :param labels: names of the action's parts (values of a Discrete, numbers of a Box), or name -> meaning.
    :param observations: names of the numbers of a one-dimensional observation, or name -> meaning with its unit.
    :param success: ``success(info, total_reward) -> bool``, asked after every step: an episode succeeds where it is
        ever true; ``info["episode_over"]`` is True at the last one; its docstring tells the language model what counts.
        Or a number: the total reward that counts, of an episode that is over.
        Default: what info says under ``success`` or ``is_success``; where it says nothing, the ``reward_threshold`` the
        environment is registered with, which the episode's total reward must reach; where there is none, an episode
        that the environment ends with a positive total reward.
    :param primitives: skills of your own (:class:`rlgpt.plugin.base.Primitive`). Who uses the bundle needs them too.
    :param horizon: primitive steps of an episode at most. Default: the environment's own limit, else 1,000.
    :param idle: what a refused choice does for its one step: a label of a Discrete's value, or an action of the space.
        Default: a label that says so (``noop``, ``stay``, ...), else zeros. The bundle carries it.
    :param budget: primitive steps in all: rehearsals, training, selection. What selection can take at most is put
        by (``selection_episodes`` times ``horizon`` for each judgement); what leaves nothing to learn with is refused.
    :param trainer: ``ppo``, ``sample_factory``, or a :class:`~rlgpt.rl.base.Trainer`.
    :param hyperparameters: by the names of :class:`~rlgpt.rl.base.Hyperparameters`.
    :param budgets: of the sandbox (:class:`rlgpt.sandbox.Budgets`), or some of them by name; default: those of
        ``Budgets()``. Who uses the bundle gives the same: ``extend(env, bundle, sandbox=Sandbox(budgets))``.
    :param agents: who takes part (:func:`rlgpt.agents.build.build_agents`).
    :param folder: of the run. One that exists is gone on with: finished stages are read, nothing that was paid for is
        asked again. Default: a new one under ``runs/``.
    :param watching: shows progress; default: a live line on a terminal, lines of text elsewhere.
    :param settings: further ones of :class:`~rlgpt.loop.LoopSettings` (``iterations``, ``repairs``, ...).
    :raises ConfigError: something given cannot be used; found before anything is asked or written.
    :raises PluginError: the environment pays a reward that is no finite number.
    :raises RunError: ``folder`` holds another run.
    :raises LLMError: the language model failed, or its replies ended, before an iteration was finished. What ends
        later ends the run cleanly: the best so far comes back, and the same call goes on.
    """
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
    limits = budgets if isinstance(budgets, Budgets) else validated(Budgets, budgets or {}, "budgets")
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

    def context(show: Watcher) -> LoopContext:
        model = None if llm is None else Watched(recorded(llm, folder=where, seed=seed, task=task.id), show)
        steps, turns = chosen.budget // chosen.iterations, chosen.iterations
        team = build_agents(agents, model, plugin, task, budgets=limits, training_steps=steps, iterations=turns)
        if not (where / "run.json").exists():
            check_budget(chosen, task, team)
        record = run_in(where, task, seed, config)
        return LoopContext(chosen, task, plugin, Same(plugin), team, trainer, learning, record, limits, show)

    with watching or watcher() as show:
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
