"""``design()``: both loops on an environment nobody prepared.

The package ``rlgpt`` imports this module eagerly, so that ``rlgpt.design`` is the function and never this module. So it
imports nothing heavy before it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rlgpt.design.model import Model
    from rlgpt.domain import Bundle
    from rlgpt.loop.progress import ProgressReporter
    from rlgpt.plugin.defaults import Named
    from rlgpt.plugin.generic import MakeEnv
    from rlgpt.plugin.judged import Success
    from rlgpt.plugin.types import Primitive
    from rlgpt.rl.base import Trainer
    from rlgpt.sandbox import SandboxLimits

__all__ = ["design"]


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
    budgets: SandboxLimits | Mapping[str, Any] | None = None,
    agents: str = "slow_fast_critic",
    seed: int = 0,
    folder: str | Path | None = None,
    progress: ProgressReporter | None = None,
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
    :param primitives: skills of your own (:class:`rlgpt.plugin.types.Primitive`). Who uses the bundle needs them too.
    :param horizon: primitive steps of an episode at most. Default: the environment's own limit, else 1,000.
    :param idle: what a refused choice does for its one step: a label of a Discrete's value, or an action of the space.
        Default: a label that says so (``noop``, ``stay``, ...), else zeros. The bundle carries it.
    :param budget: primitive steps in all: rehearsals, training, selection. What selection can take at most is put
        by (``selection_episodes`` times ``horizon`` for each judgement); what leaves nothing to learn with is refused.
    :param trainer: ``ppo``, ``sample_factory``, or a :class:`~rlgpt.rl.base.Trainer`.
    :param hyperparameters: by the names of :class:`~rlgpt.rl.base.Hyperparameters`.
    :param budgets: of the sandbox (:class:`rlgpt.sandbox.SandboxLimits`), or some of them by name; default: those of
        ``SandboxLimits()``. Who uses the bundle gives the same: ``extend(env, bundle, sandbox=Sandbox(budgets))``.
    :param agents: who takes part (:func:`rlgpt.agents.build.build_agents`).
    :param folder: of the run. One that exists is gone on with: finished stages are read, nothing that was paid for is
        asked again. Default: a new one under ``runs/``.
    :param progress: shows progress; default: a live line on a terminal, lines of text elsewhere.
    :param settings: further ones of :class:`~rlgpt.loop.LoopSettings` (``iterations``, ``repairs``, ...).
    :raises ConfigError: something given cannot be used; found before anything is asked or written.
    :raises PluginError: the environment pays a reward that is no finite number.
    :raises RunError: ``folder`` holds another run.
    :raises LLMError: the language model failed, or its replies ended, before an iteration was finished. What ends
        later ends the run cleanly: the best so far comes back, and the same call goes on.
    """
    from rlgpt.design.designing import run_design

    return run_design(
        make_env,
        goal,
        llm,
        docs=docs,
        labels=labels,
        observations=observations,
        success=success,
        primitives=primitives,
        horizon=horizon,
        idle=idle,
        budget=budget,
        trainer=trainer,
        hyperparameters=hyperparameters,
        budgets=budgets,
        agents=agents,
        seed=seed,
        folder=folder,
        progress=progress,
        **settings,
    )
