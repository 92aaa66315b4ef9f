"""Language models. The package ``rlgpt.llm`` has one interface for all providers of language models, and handles
budgets, recordings, replays and structured replies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = [
    "LLM",
    "LLMBudget",
    "LLMContext",
    "LLMSettings",
    "LiteLLM",
    "Message",
    "ModelSettings",
    "Recorder",
    "Replay",
    "Reply",
    "ReportingLLM",
    "Request",
    "RequestKey",
    "Role",
    "Spending",
    "Transcript",
    "Usage",
    "ask",
    "build_llm",
]

if TYPE_CHECKING:
    from rlgpt.llm.base import LLM, Message, Reply, Request, RequestKey, Role, Usage
    from rlgpt.llm.budget import LLMBudget, Spending
    from rlgpt.llm.build import LLMContext, build_llm
    from rlgpt.llm.litellm_llm import LiteLLM
    from rlgpt.llm.record import Recorder
    from rlgpt.llm.replay import Replay
    from rlgpt.llm.reporting import ReportingLLM
    from rlgpt.llm.settings import LLMSettings, ModelSettings
    from rlgpt.llm.structured import ask
    from rlgpt.llm.transcript import Transcript
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.llm.base": ("LLM", "Message", "Reply", "Request", "RequestKey", "Role", "Usage"),
            "rlgpt.llm.budget": ("LLMBudget", "Spending"),
            "rlgpt.llm.build": ("LLMContext", "build_llm"),
            "rlgpt.llm.litellm_llm": ("LiteLLM",),
            "rlgpt.llm.record": ("Recorder",),
            "rlgpt.llm.replay": ("Replay",),
            "rlgpt.llm.reporting": ("ReportingLLM",),
            "rlgpt.llm.settings": ("LLMSettings", "ModelSettings"),
            "rlgpt.llm.structured": ("ask",),
            "rlgpt.llm.transcript": ("Transcript",),
        },
    )
