"""The agents of the method. The slow agent plans, the fast agent writes code and sets up the learning, and the critic
judges the results. Each agent has an implementation with a language model and others without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = [
    "Agents",
    "Brief",
    "Critic",
    "FastAgent",
    "FixedActions",
    "FixedPlan",
    "History",
    "LLMCritic",
    "LLMFast",
    "LLMSlow",
    "LLMSolo",
    "Mode",
    "NoCritic",
    "Outcome",
    "SlowAgent",
    "TeamContext",
    "build_agents",
    "make_brief",
    "primitive_actions",
]

if TYPE_CHECKING:
    from rlgpt.agents.base import Brief, Critic, FastAgent, History, Outcome, SlowAgent
    from rlgpt.agents.brief import make_brief
    from rlgpt.agents.build import Agents, TeamContext, build_agents
    from rlgpt.agents.critic import LLMCritic
    from rlgpt.agents.fast import LLMFast
    from rlgpt.agents.fixed import FixedActions, FixedPlan, NoCritic, primitive_actions
    from rlgpt.agents.mode import Mode
    from rlgpt.agents.slow import LLMSlow
    from rlgpt.agents.solo import LLMSolo
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.agents.base": ("Brief", "Critic", "FastAgent", "History", "Outcome", "SlowAgent"),
            "rlgpt.agents.brief": ("make_brief",),
            "rlgpt.agents.build": ("Agents", "TeamContext", "build_agents"),
            "rlgpt.agents.critic": ("LLMCritic",),
            "rlgpt.agents.fast": ("LLMFast",),
            "rlgpt.agents.fixed": ("FixedActions", "FixedPlan", "NoCritic", "primitive_actions"),
            "rlgpt.agents.mode": ("Mode",),
            "rlgpt.agents.slow": ("LLMSlow",),
            "rlgpt.agents.solo": ("LLMSolo",),
        },
    )
