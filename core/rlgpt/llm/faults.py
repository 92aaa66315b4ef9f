"""Explains failed requests to a provider of language models, and decides whether a request is sent again."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass

from rlgpt.errors import ConfigError, LLMError, RlgptError
from rlgpt.secrets import redact

_CONFIG = {401: "the key was refused", 403: "the key may not use this model", 404: "there is no such model or address"}
_NOISE = re.compile(
    r"^(litellm\.\w+: )?(\w+: )?(\w+Exception - )?|, Received response - .*|This looks like a bug in LiteLLM.*"
)
"""Text that litellm adds around the provider's message."""


@dataclass(frozen=True)
class Fault:
    """The cause of one failed request.

    :ivar what: the cause as text, without API keys.
    :ivar advice: one sentence that tells the user what to do about the failed request.
    :ivar again: whether a later try may succeed.
    :ivar error: the class of the error that is raised after the last failed request.
    :ivar wait: the pause in seconds that the provider asks for; None if the provider asks for no pause.
    """

    what: str
    advice: str = ""
    again: bool = True
    error: type[RlgptError] = LLMError
    wait: float | None = None


def diagnose(error: BaseException, *, timeout: float, where: str, keys: str) -> Fault:
    """Find the cause of an error from litellm. The class of litellm's error does not show the cause, because litellm
    reports, for example, a refused connection as HTTP status 500.

    :param timeout: the time limit of the request in seconds.
    :param where: the address of the request, for error messages.
    :param keys: name of the environment variable with the API key, for error messages.
    """
    status = getattr(error, "status_code", None)
    text = _NOISE.sub("", " ".join(redact(str(error)).split()))[:300]
    causes = list(_causes(error))
    if any(isinstance(c, TimeoutError) or type(c).__name__ in ("Timeout", "APITimeoutError") for c in causes):
        return Fault(f"no answer within {timeout:g} s", "Raise llm.timeout, or choose a faster model.")
    if any(isinstance(c, ConnectionRefusedError) for c in causes):
        return Fault(f"connection refused: no server listens at {where}", "Start the server, or correct llm.api_base.")
    if any(isinstance(c, socket.gaierror) for c in causes):
        return Fault(
            f"the host of {where} is unknown, or there is no network", "Correct llm.api_base, or use llm=replay."
        )
    if any(isinstance(c, ssl.SSLError) for c in causes):
        return Fault(f"no safe connection to {where}: {text}", again=False)
    if "LLM Provider NOT provided" in text:
        return Fault(
            "no provider is named", "Write PROVIDER/MODEL, like openai/gpt-4o.", again=False, error=ConfigError
        )
    if status in _CONFIG:
        advice = f"Check {keys}." if status != 404 else "Check llm.model and llm.api_base."
        return Fault(f"{_CONFIG[status]} (HTTP {status}): {text}", advice, again=False, error=ConfigError)
    if status == 429:
        spent = any("insufficient_quota" in str(getattr(c, "body", "")) for c in causes)
        if spent:
            return Fault(f"the account has no credit left: {text}", "Add credit, then resume the run.", again=False)
        return Fault(f"too many requests (HTTP 429): {text}", "Wait, then resume the run.", wait=_retry_after(error))
    if isinstance(status, int) and 400 <= status < 500 and status != 408:
        advice = "Check llm.model, llm.temperature, llm.max_tokens and llm.extra."
        return Fault(f"the provider refused the request (HTTP {status}): {text}", advice, again=False)
    root = redact(f"; {type(causes[-1]).__name__}: {causes[-1]}"[:200]) if "Connection error" in text else ""
    return Fault(f"the provider failed ({type(error).__name__}: {text}{root})", "Resume the run later.")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or {}
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:  # The header may also contain a date. In that case the exponential backoff applies.
        return None
    return seconds if 0 <= seconds < float("inf") else None
