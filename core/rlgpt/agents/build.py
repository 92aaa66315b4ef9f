"""Which agents take part: the full method and its ablations, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

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
from rlgpt.sandbox import SandboxLimits

Kind = Literal["rl_only", "code_only", "primitives_only", "untrained", "one_agent", "slow_fast", "slow_fast_critic"]
KINDS: tuple[str, ...] = get_args(Kind)
WITHOUT_LLM = ("rl_only", "primitives_only")


@dataclass(frozen=True)
class Agents:
    """Who takes part, and what the loop does with what they make.

    :ivar train: a policy is trained; False leaves it as it begins (``untrained``) or makes none (``code_only``).
    :ivar evaluate: what an iteration is judged by: the policy, or the plan's coded actions in order.
    :ivar rehearse: coded actions are tried and repaired; False where nobody would repair them.
    :ivar revise: a further iteration can bring something new; False where plan and code are fixed.
    """

    kind: str
    slow: SlowAgent
    fast: FastAgent
    critic: Critic
    train: bool = True
    evaluate: Literal["policy", "code"] = "policy"
    rehearse: bool = True
    revise: bool = True


def build_agents(
    kind: str,
    llm: LLM | Mapping[Role, LLM] | None,
    plugin: EnvironmentPlugin,
    task: Task,
    *,
    budgets: SandboxLimits | None = None,
    training_steps: int | None = None,
    iterations: int | None = None,
) -> Agents:
    """The agents of ``kind``:

    ====================  ======================================================================================
    ``rl_only``           no language model: PPO on base actions with the plugin's default setup
    ``primitives_only``   no language model: PPO over the plugin's primitives
    ``code_only``         slow, fast and critic; the plan's actions in order, nothing is learnt
    ``untrained``         slow, fast and critic; the extended policy stays untrained
    ``one_agent``         one agent plans, writes and sets up in a single reply; no critic
    ``slow_fast``         slow and fast; rehearsals are judged by errors alone
    ``slow_fast_critic``  the whole method
    ====================  ======================================================================================

    :param llm: one for every role, or one for each role; None where the kind needs none.
    :param training_steps: told to the agents, where known; so is ``iterations``.
    :raises UnknownNameError: no such kind.
    :raises ConfigError: the kind needs a language model.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of agents", kind, KINDS, "Set agents=KIND.")
    if kind in WITHOUT_LLM:
        return _without_llm(kind, plugin, task)
    if llm is None:
        raise ConfigError(
            f"agents={kind} needs a language model; set llm=... or use agents={' or '.join(WITHOUT_LLM)}."
        )
    mode = Mode(learns=kind != "code_only", training_steps=training_steps, iterations=iterations)
    library = library_of(plugin, task)
    if kind == "one_agent":
        solo = LLMSolo(_of(llm, "solo"), library, budgets, mode)
        return Agents(kind, solo, solo, NoCritic())
    return Agents(
        kind,
        LLMSlow(_of(llm, "slow"), mode),
        LLMFast(_of(llm, "fast"), library, budgets, mode, setup_llm=_of(llm, "setup")),
        NoCritic() if kind == "slow_fast" else LLMCritic(_of(llm, "critic"), mode, review_llm=_of(llm, "review")),
        train=kind not in ("code_only", "untrained"),
        evaluate="code" if kind == "code_only" else "policy",
    )


def _without_llm(kind: str, plugin: EnvironmentPlugin, task: Task) -> Agents:
    if kind == "rl_only":
        slow, fast = FixedPlan(rl_plan()), FixedActions()
    else:
        actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
        slow, fast = FixedPlan(primitives_plan(actions)), FixedActions(actions)
    return Agents(kind, slow, fast, NoCritic(), rehearse=False, revise=False)


def _of(llm: LLM | Mapping[Role, LLM], role: Role) -> LLM:
    if isinstance(llm, LLM):
        return llm
    if role not in llm:
        raise UnknownNameError("role with a language model", role, llm, "Give each role one, or a single one for all.")
    return llm[role]
