"""An example distribution that adds a slow agent, a trainer, a language model and an observer to rlgpt."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.plugin import hookimpl


@hookimpl
def rlgpt_agents() -> Mapping[str, str]:
    return {"random_plans": "rlgpt_randomsearch.agents.random_plans"}


@hookimpl
def rlgpt_trainers() -> Mapping[str, str]:
    return {"random_search": "rlgpt_randomsearch.trainer.RandomSearch"}


@hookimpl
def rlgpt_llms() -> Mapping[str, str]:
    return {"file_replies": "rlgpt_randomsearch.llm.file_replies"}


@hookimpl
def rlgpt_observers() -> Mapping[str, str]:
    return {"curve": "rlgpt_randomsearch.observer.Curve"}


@hookimpl
def rlgpt_config() -> str:
    return "pkg://rlgpt_randomsearch.conf"
