"""Fixtures for tests of language models: a provider on the loopback address, and no API keys in the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from rlgpt.llm.base import Message, Request, RequestKey
from rlgpt.llm.litellm_llm import LiteLLM

from .server import Provider


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def warm() -> None:
    """Import litellm and make its first call, which imports more modules. The first call is slow, and the tests have
    time limits below one second.
    """
    provider = Provider()
    key = RequestKey(task="kitchen/kettle", role="slow")
    messages = (Message(role="user", content="warm"),)
    LiteLLM("openai/m", api_base=provider.url).complete(Request(key=key, messages=messages, fingerprint=""))
    provider.close()


@pytest.fixture
def provider(warm: None) -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


@pytest.fixture
def request_() -> Request:
    return Request(
        key=RequestKey(task="kitchen/kettle", role="review", sub_action="lift"),
        messages=(Message(role="system", content="You judge."), Message(role="user", content="judge")),
        fingerprint="f",
        measured={"success": 0.35},
    )
