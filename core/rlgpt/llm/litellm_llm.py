"""A language model from any provider that litellm supports, or from any server with an OpenAI-compatible interface."""

from __future__ import annotations

import os
import random
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlgpt.domain import Plain
from rlgpt.errors import ConfigError
from rlgpt.llm.base import LLM, Message, Reply, Request, Usage
from rlgpt.llm.estimate import prompt_tokens, text_tokens
from rlgpt.llm.extract import REPLY_LIMIT
from rlgpt.llm.faults import Fault, diagnose
from rlgpt.llm.late import litellm
from rlgpt.llm.patience import pause, within
from rlgpt.secrets import is_secret, redact

_OURS = {
    "model",
    "messages",
    "api_base",
    "base_url",
    "timeout",
    "temperature",
    "max_tokens",
    "num_retries",
    "max_retries",
}
_NEVER = {"api_key", "stream", "drop_params", "mock_response", "fallbacks"}


class MissingKeyError(ConfigError):
    """The provider needs an API key, and none of the environment variables for this key is set."""

    def __init__(self, model: str, variables: Sequence[str], advice: str) -> None:
        super().__init__(f"{model} needs a key: set the environment variable {' or '.join(variables)}. {advice}")


class LiteLLM(LLM):
    """A language model that litellm supports. If a network or server error prevents a reply, the request is sent again.
    Each try has a time limit.

    LiteLLM reads the API key from the environment variable ``key_env``, or from the provider's own variable. With an
    ``api_base``, no API key is needed, but a key in the provider's variable is sent.

    :param model: the name of the model, ``PROVIDER/MODEL``, or ``openai/NAME`` for any OpenAI-compatible ``api_base``.
    :param temperature: the sampling temperature. If the temperature is None, the provider decides the temperature (some
        models refuse a request with a temperature).
    :param timeout: maximal duration of one try of a request in seconds, from sending the request to receiving the last
        byte.
    :param retries: maximal number of further tries after the first try of a request.
    :param price: dollars per million prompt tokens and per million completion tokens. The price is needed if litellm's
        price table does not contain the model.
    :param extra: further arguments of ``litellm.completion``, such as ``top_p`` or ``reasoning_effort``. These
        arguments are sent unchanged. An argument in ``extra`` that the provider does not accept is an error.
    :param sleep: the function that waits between tries.
    :param clock: the function that returns the time in seconds.
    :param rng: the random generator that varies the pauses between tries.
    :raises ConfigError: ``extra`` contains an API key, or an argument for which LiteLLM has its own parameter; or
        ``key_env`` does not look like the name of a secret (:func:`rlgpt.secrets.is_secret`).
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        key_env: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float = 120.0,
        retries: int = 4,
        supports_vision: bool = False,
        price: tuple[float, float] | None = None,
        extra: Mapping[str, Plain] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        if key_env is not None and not is_secret(key_env):
            raise ConfigError(
                f"llm.key_env is {key_env!r}, which processes with environments would inherit. Use a variable "
                "with KEY, TOKEN or SECRET in its name; such variables are removed from these processes."
            )
        self.model, self.api_base, self.key_env, self.supports_vision = model, api_base, key_env, supports_vision
        self.temperature, self.max_tokens, self.timeout, self.retries = temperature, max_tokens, timeout, retries
        self.price, self.extra = price, dict(extra or {})
        self._sleep, self._clock, self._rng = sleep, clock, rng or random.Random()
        if wrong := self.extra.keys() & (_OURS | _NEVER):
            raise ConfigError(
                f"llm.extra of {model!r} contains {', '.join(sorted(wrong))}, which cannot be set in llm.extra. "
                "Set settings of llm directly (llm.temperature, ...); keys come from the environment (llm.key_env)."
            )

    def check(self) -> None:
        """Check that the provider is known and the API key is set. No request is sent.

        :raises ConfigError: the API key is missing. The error message names the environment variable for the API key.
        """
        self._key()

    def complete(self, request: Request) -> Reply:
        """Send the request, with at most ``1 + retries`` tries.

        :raises LLMError: every try failed. The error message contains the cause of the last failed try.
        :raises ConfigError: the API key, the model or the address is wrong, so no further try could succeed.
        """
        arguments = {**self._arguments(request.messages), "api_key": self._key()}
        began = self._clock()
        for tries in range(1, self.retries + 2):
            fault = self._try(arguments)
            if isinstance(fault, Fault):
                if not fault.again or tries > self.retries:
                    break
                self._sleep(pause(tries, fault.wait, self._rng.random()))
            else:
                return self._reply(fault, request, self._clock() - began)
        assert isinstance(fault, Fault)
        count = f" (after {tries} tries)" if tries > 1 else ""
        raise fault.error(redact(f"{self.model}: {fault.what}{count}. {fault.advice}".strip()))

    def _try(self, arguments: Mapping[str, Any]) -> Any | Fault:
        module = litellm()
        try:
            with warnings.catch_warnings():
                # litellm's first call imports more modules, and pydantic warns about types.
                warnings.simplefilter("ignore")
                response = within(self.timeout, lambda: module.completion(**arguments))
        # litellm re-raises exceptions of the provider's library, which can have any class.
        except Exception as error:
            where = self.api_base or "the provider's address"
            return diagnose(error, timeout=self.timeout, where=where, keys=self._key_names())
        return response if response.choices else Fault("the response of the provider contains no choice")

    def _arguments(self, messages: Sequence[Message]) -> dict[str, Any]:
        optional = {"api_base": self.api_base, "temperature": self.temperature, "max_tokens": self.max_tokens}
        return {
            "model": self.model,
            "messages": [{"role": m.role, "content": self._content(m)} for m in messages],
            "timeout": self.timeout,
            "num_retries": 0,
            "max_retries": 0,
            **{k: v for k, v in optional.items() if v is not None},
            **self.extra,
        }

    def _content(self, message: Message) -> str | list[dict[str, Any]]:
        if not message.images:
            return message.content
        if not self.supports_vision:
            return f"{message.content}\n[{len(message.images)} images are left out: this model takes none]"
        images = [{"type": "image_url", "image_url": {"url": url}} for url in message.images]
        return [{"type": "text", "text": message.content}, *images]

    def _reply(self, response: Any, request: Request, seconds: float) -> Reply:
        choice = response.choices[0]
        refusal = (getattr(choice.message, "provider_specific_fields", None) or {}).get("refusal")
        text = str(choice.message.content or refusal or "")[: REPLY_LIMIT + 1].encode(errors="replace").decode()
        finish_reason = "refusal" if refusal else str(choice.finish_reason or "stop")
        reported = getattr(response, "usage", None)
        prompt, completion = (int(getattr(reported, f"{kind}_tokens", 0) or 0) for kind in ("prompt", "completion"))
        estimated = prompt <= 0 or (completion <= 0 and bool(text))
        if estimated:
            prompt, completion = prompt_tokens(request.messages), text_tokens(text)
        dollars = self._dollars(None if estimated else response, prompt, completion)
        usage = Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            dollars=dollars,
            tokens_source="estimated" if estimated else "provider",
            cost_source="unknown" if dollars is None else "price_table",
            seconds=seconds,
        )
        return Reply(text=text, model=self.model, usage=usage, finish_reason=finish_reason)

    def _dollars(self, response: Any, prompt: int, completion: int) -> float | None:
        if self.price is not None:
            return (prompt * self.price[0] + completion * self.price[1]) / 1e6
        try:
            if response is not None:
                return float(litellm().completion_cost(completion_response=response, model=self.model))
            return float(sum(litellm().cost_per_token(self.model, prompt_tokens=prompt, completion_tokens=completion)))
        except Exception:  # litellm raises exceptions of several classes for a model that is not in its table.
            return None

    def _key(self) -> str | None:
        """The API key that is sent; None if litellm finds the key by itself."""
        if self.key_env is not None:
            if not os.environ.get(self.key_env):
                raise MissingKeyError(
                    self.model,
                    [self.key_env],
                    "llm.key_env sets the name of this variable. With null, the provider's own variable is used. A "
                    "server of your own needs no key: llm.api_base=URL.",
                )
            return os.environ[self.key_env]
        missing = self._missing()
        if missing and self.api_base is None:
            raise MissingKeyError(
                self.model,
                missing,
                "Or name another variable: llm.key_env=NAME. A server of your own needs no key: llm.api_base=URL. "
                "llm=replay replays recorded replies without any model.",
            )
        return "none" if missing else None

    def _missing(self) -> list[str]:
        """Names of the environment variables for the provider's API key; empty if one of these variables is set."""
        module = litellm()
        try:
            module.get_llm_provider(self.model, api_base=self.api_base)
        except module.exceptions.BadRequestError as error:
            raise ConfigError(
                f"unknown model {self.model!r}: write PROVIDER/MODEL, like openai/gpt-4o or ollama/llama3; "
                "for an OpenAI-compatible server openai/NAME with llm.api_base=URL."
            ) from error
        found = module.validate_environment(self.model)
        return [] if found["keys_in_environment"] else [n for n in found["missing_keys"] if n.endswith("_API_KEY")]

    def _key_names(self) -> str:
        if self.key_env is not None:
            return self.key_env
        _, provider, *_ = litellm().get_llm_provider(self.model, api_base=self.api_base)
        return f"{provider.upper()}_API_KEY (or llm.key_env)"
