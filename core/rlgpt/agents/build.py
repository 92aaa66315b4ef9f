"""Builds the teams of agents. A *team* consists of a slow agent, a fast agent and a critic. The team
``slow_fast_critic`` is the full method; all other teams are ablations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from rlgpt.agents.base import Critic, FastAgent, SlowAgent
from rlgpt.agents.critic import LLMCritic
from rlgpt.agents.fast import LLMFast
from rlgpt.agents.fixed import FixedActions, FixedPlan, NoCritic, primitive_actions, primitives_plan, rl_plan
from rlgpt.agents.mode import Mode
from rlgpt.agents.slow import LLMSlow
from rlgpt.agents.solo import LLMSolo
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.llm.base import LLM, Role
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.library import library_of
from rlgpt.sandbox import Library, SandboxLimits

WITHOUT_LLM = ("rl_only", "primitives_only")
"""Names of the teams that need no language model. Error messages show these names."""

Models = LLM | Mapping[Role, LLM]
"""Either one language model for all roles, or a mapping from each role to its language model."""


@dataclass(frozen=True)
class Agents:
    """A team of agents, with switches that control what the outer loop does with the team's results.

    :ivar kind: the name of the team.
    :ivar train: whether a policy is trained. If ``train`` is False, the policy keeps its initial weights (team
        ``untrained``), or the run has no policy (team ``code_only``).
    :ivar evaluate: whether an iteration is judged by an evaluation of the policy, or else of the plan's coded actions
        in order.
    :ivar rehearse: whether the team's coded actions are rehearsed and repaired. ``rehearse`` is False if no agent of
        the team can repair code.
    :ivar revise: whether a further iteration of the outer loop can change the result. ``revise`` is False if the team's
        plan and code never change.
    """

    kind: str
    slow: SlowAgent
    fast: FastAgent
    critic: Critic
    train: bool = True
    evaluate: Literal["policy", "code"] = "policy"
    rehearse: bool = True
    revise: bool = True


@dataclass(frozen=True)
class TeamContext:
    """The objects from which a team is built. The factory of a plugin's team (hook ``rlgpt_agents``) gets a
    ``TeamContext``.

    :ivar kind: the name under which a run selects the team, as in ``agents=NAME``.
    :ivar connect: a function that connects to the language models of the run and returns them. Only teams that need a
        language model call ``connect``. ``connect`` raises ConfigError or TranscriptError if no language model is
        available.
    :ivar library: the primitives and the view that coded actions may use.
    :ivar limits: limits of the sandbox.
    :ivar iterations: maximal number of iterations of the outer loop, which the prompts state; None if this number is
        unknown.
    :ivar prompts: a folder whose files replace prompts of rlgpt with the same names (see
        :class:`~rlgpt.agents.prompt.Prompt`).
    """

    kind: str
    plugin: EnvironmentPlugin
    task: Task
    connect: Callable[[], Models]
    library: Library
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    iterations: int | None = None
    prompts: Path | None = None

    def mode(self, *, learns: bool = True) -> Mode:
        return Mode(learns=learns, iterations=self.iterations)


def rl_only(context: TeamContext) -> Agents:
    """A team without a language model. A policy over the base actions learns with the plugin's default setup."""
    return pure_rl(context.kind)


def pure_rl(kind: str = "rl_only") -> Agents:
    """The team of :func:`rl_only`, built without a :class:`TeamContext`."""
    return Agents(kind, FixedPlan(rl_plan()), FixedActions(), NoCritic(), rehearse=False, revise=False)


def learning_on() -> Agents:
    """The team of :func:`rl_only` for one sub-goal of a graph. Each further iteration of this team continues the
    training of the previous iteration.
    """
    return replace(pure_rl(), revise=True)


def primitives_only(context: TeamContext) -> Agents:
    """A team without a language model. In this team, a policy over the plugin's primitives learns."""
    plugin, task = context.plugin, context.task
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    slow, fast = FixedPlan(primitives_plan(actions)), FixedActions(actions)
    return Agents(context.kind, slow, fast, NoCritic(), rehearse=False, revise=False)


def one_agent(context: TeamContext) -> Agents:
    """A team of a single agent, which writes plan, code and learning setup in one reply, without a critic."""
    solo = LLMSolo(
        model_for(context.connect(), "solo"), context.library, context.limits, context.mode(), prompts=context.prompts
    )
    return Agents(context.kind, solo, solo, NoCritic())


def slow_fast(context: TeamContext) -> Agents:
    """A team of slow agent and fast agent without a critic. Without a critic, a rehearsal fails only if a verdict stops
    the code.
    """
    models = context.connect()
    return Agents(context.kind, *_slow_and_fast(context, models, context.mode()), NoCritic())


def slow_fast_critic(context: TeamContext) -> Agents:
    """The team of the whole method RL-GPT, with slow agent, fast agent and critic."""
    return _whole(context)


def untrained(context: TeamContext) -> Agents:
    """A team of slow agent, fast agent and critic that does not train the policy over the extended action space."""
    return _whole(context, train=False)


def code_only(context: TeamContext) -> Agents:
    """A team of slow agent, fast agent and critic that trains no policy and runs the plan's coded actions in order."""
    return _whole(context, train=False, evaluate="code", learns=False)


TEAMS: Mapping[str, Callable[[TeamContext], Agents]] = {
    team.__name__: team
    for team in (rl_only, code_only, primitives_only, untrained, one_agent, slow_fast, slow_fast_critic)
}


def build_agents(
    kind: str,
    llm: Models | None,
    plugin: EnvironmentPlugin,
    task: Task,
    *,
    library: Library | None = None,
    limits: SandboxLimits | None = None,
    iterations: int | None = None,
) -> Agents:
    """Build one of rlgpt's own teams of agents without a run configuration.

    :param kind: a key of :data:`TEAMS`.
    :param llm: the language model or models of the team; None if the team needs no language model.
    :param library: the primitives and the view that coded actions may use. If ``library`` is None, the function makes
        the task's library of primitives and view.
    :raises UnknownNameError: there is no team with the name ``kind``.
    :raises ConfigError: the team needs a language model, and ``llm`` is None.
    """
    if kind not in TEAMS:
        raise UnknownNameError("agents", kind, TEAMS, "Set agents=NAME.")

    def connect() -> Models:
        if llm is None:
            raise ConfigError(
                f"agents={kind} needs a language model, and none is given; set llm=... or use "
                f"agents={' or '.join(WITHOUT_LLM)}."
            )
        return llm

    library, limits = library or library_of(plugin, task), limits or SandboxLimits()
    return TEAMS[kind](TeamContext(kind, plugin, task, connect, library, limits, iterations))


def _whole(context: TeamContext, *, learns: bool = True, **more: Any) -> Agents:
    models, mode = context.connect(), context.mode(learns=learns)
    review = model_for(models, "review")
    critic = LLMCritic(model_for(models, "critic"), mode, review_llm=review, prompts=context.prompts)
    return Agents(context.kind, *_slow_and_fast(context, models, mode), critic, **more)


def _slow_and_fast(context: TeamContext, models: Models, mode: Mode) -> tuple[SlowAgent, FastAgent]:
    library, limits, prompts = context.library, context.limits, context.prompts
    slow = LLMSlow(model_for(models, "slow"), mode, prompts=prompts)
    fast, setup = model_for(models, "fast"), model_for(models, "setup")
    function = model_for(models, "function", or_else="fast")
    return slow, LLMFast(fast, library, limits, mode, setup_llm=setup, function_llm=function, prompts=prompts)


def model_for(models: Models, role: Role, or_else: Role | None = None) -> LLM:
    """The language model for the role ``role``.

    :param or_else: the role whose model is used if ``models`` has no model for ``role``.
    :raises UnknownNameError: ``models`` has no model for these roles.
    """
    if isinstance(models, LLM):
        return models
    if role not in models and or_else is not None:
        role = or_else
    if role not in models:
        hint = "Give one model for each role, or one model for all roles."
        raise UnknownNameError("role with a language model", role, models, hint)
    return models[role]
