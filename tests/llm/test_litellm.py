"""The real litellm with a failing provider: requests are retried after temporary faults. Other faults give a clear
message.
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import Review
from rlgpt.errors import ConfigError, LLMError
from rlgpt.llm.base import Message, Request
from rlgpt.llm.late import litellm
from rlgpt.llm.litellm_llm import LiteLLM
from rlgpt.llm.patience import pause, within
from rlgpt.llm.record import Recorder
from rlgpt.llm.roles import ByRole, WithFallbacks
from rlgpt.llm.structured import ask
from rlgpt.secrets import without_secrets

from .server import FAULTS, GOOD, Provider, error, say

KEY = "sk-verysecret0123456789"


class Naps(list[float]):
    """A replacement of ``time.sleep`` that records the durations in seconds and does not wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def model(provider: Provider | str, **settings: Any) -> LiteLLM:
    base = provider if isinstance(provider, str) else provider.url
    defaults: dict[str, Any] = {"timeout": 5.0, "retries": 2, "sleep": Naps(), "rng": random.Random(0)}
    return LiteLLM(settings.pop("model", "openai/m"), api_base=base, **{**defaults, **settings})


def closed_port() -> str:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{s.getsockname()[1]}/v1"


def test_litellm_model_completes_a_request(provider: Provider, request_: Request) -> None:
    reply = model(provider, temperature=0.2, max_tokens=99, extra={"top_p": 0.5}).complete(request_)
    assert reply.text == GOOD
    assert reply.model == "openai/m"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (70, 30)
    assert (reply.usage.tokens_source, reply.usage.dollars, reply.usage.cost_source) == ("provider", None, "unknown")
    (sent,) = provider.requests
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["top_p"]) == ("m", 0.2, 99, 0.5)
    assert [m["content"] for m in sent["messages"]] == ["You judge.", "judge"]


def test_litellm_model_sends_only_the_settings_that_are_given(provider: Provider, request_: Request) -> None:
    model(provider).complete(request_)
    assert provider.requests[0].keys() == {"model", "messages"}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_litellm_request_succeeds_after_one_fault_of_each_kind(
    provider: Provider, request_: Request, fault: str
) -> None:
    provider.script = [FAULTS[fault]]
    llm = model(provider, timeout=0.4 if fault in ("timeout", "trickle") else 5.0)
    answer = ask(llm, request_, Review)
    assert answer.parsed == Review(works=True)
    direct = fault in ("prose", "no_usage")
    assert len(provider.requests) == (1 if direct else 2)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("truncated_json", "its JSON could not be read"),
        ("wrong_schema", "verdict: there is no such field"),
        ("empty", "it was empty"),
        ("null", "it was empty"),
        ("refusal", "it declined to answer"),
        ("refusal_text", "it declined to answer"),
        ("filtered", "it declined to answer"),
        ("megabyte", "it was longer than 200,000 characters"),
        ("surrogate", "x: there is no such field"),
    ],
)
def test_next_request_describes_the_fault_of_the_previous_reply(
    provider: Provider, request_: Request, fault: str, message: str
) -> None:
    provider.script = [FAULTS[fault]]
    ask(model(provider), request_, Review)
    messages = provider.requests[1]["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert message in messages[-1]["content"]
    assert sum(len(m["content"]) for m in messages) < 25_000


TRANSPORT = (
    "429",
    "429_date",
    "500",
    "503_html",
    "cut_body",
    "cut_connection",
    "html",
    "no_choices",
    "json_null",
    "json_list",
)


@pytest.mark.parametrize("fault", TRANSPORT)
def test_litellm_model_raises_an_error_after_three_transport_faults(
    provider: Provider, request_: Request, fault: str
) -> None:
    naps = Naps()
    provider.script = [FAULTS[fault]] * 3
    with pytest.raises(LLMError, match=r"openai/m: .*after 3 tries") as caught:
        model(provider, sleep=naps).complete(request_)
    assert len(provider.requests) == 3
    assert len(naps) == 2
    assert len(str(caught.value)) < 700


def test_litellm_error_names_a_timeout_or_a_refused_connection(provider: Provider, request_: Request) -> None:
    provider.script = [FAULTS["timeout"], FAULTS["trickle"]]
    with pytest.raises(LLMError, match=r"no answer within 0.3 s \(after 2 tries\). Raise llm.timeout"):
        model(provider, timeout=0.3, retries=1).complete(request_)
    url = closed_port()
    with pytest.raises(LLMError, match=f"connection refused: no server listens at {url}"):
        model(url, retries=1).complete(request_)


def test_litellm_model_waits_for_the_time_in_the_retry_after_header(provider: Provider, request_: Request) -> None:
    naps = Naps()
    provider.script = [FAULTS["429"], FAULTS["429_date"], FAULTS["500"]]
    model(provider, sleep=naps, retries=3).complete(request_)
    assert naps[0] == 7
    assert 1 <= naps[1] < 2
    assert 2 <= naps[2] < 4


def test_pauses_between_retries_grow_up_to_60_seconds() -> None:
    assert [pause(n, None, 1.0) for n in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert pause(1, None, 0.0) == 0.5
    assert pause(40, None, 1.0) == 60
    assert pause(1, 3600, 0.0) == 60
    assert pause(4, 1, 1.0) == 8


def test_within_returns_the_result_or_raises_the_error_of_its_function() -> None:
    assert within(5, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), ConfigError, "the key was refused.*OPENAI_API_KEY"),
        (error(403, "not for you"), ConfigError, "may not use this model"),
        (error(404, "no such model"), ConfigError, "no such model or address"),
        (error(400, "temperature must be 1"), LLMError, "temperature must be 1.*Check llm.model, llm.temperature"),
        (error(429, "You exceeded", "insufficient_quota"), LLMError, "no credit left"),
    ],
)
def test_permanent_provider_errors_are_not_retried(
    provider: Provider, request_: Request, answer: Any, kind: type, said: str
) -> None:
    provider.script = [answer]
    with pytest.raises(kind, match=f"(?s){said}") as caught:
        model(provider).complete(request_)
    assert len(provider.requests) == 1
    assert KEY not in str(caught.value)


def test_error_names_the_variable_of_a_missing_api_key_before_a_request_is_sent(request_: Request, warm: None) -> None:
    for name, variable in (("gpt-4o", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")):
        with pytest.raises(ConfigError, match=f"{name} needs a key: set the environment variable {variable}") as caught:
            LiteLLM(name).check()
        assert caught.value.exit_status == 2
    with pytest.raises(ConfigError, match="set the environment variable MY_KEY"):
        LiteLLM("openai/m", key_env="MY_KEY").complete(request_)
    with pytest.raises(ConfigError, match="unknown model 'nonsense': write PROVIDER/MODEL"):
        LiteLLM("nonsense").check()


def test_failed_request_names_the_key_of_a_provider_that_is_known_by_its_address(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused(Exception):
        status_code = 401

    def refuse(**_: Any) -> None:
        raise Refused("no")

    monkeypatch.setattr(litellm(), "completion", refuse)
    with pytest.raises(ConfigError, match=r"the key was refused.*GROQ_API_KEY"):
        model("https://api.groq.com/openai/v1", model="m").complete(request_)


def test_api_key_is_read_from_the_environment_variable(
    provider: Provider, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(provider).complete(request_)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model(provider).complete(request_)
    monkeypatch.setenv("MY_KEY", "another")
    model(provider, key_env="MY_KEY").complete(request_)
    assert provider.keys == ["Bearer none", f"Bearer {KEY}", "Bearer another"]


@pytest.mark.parametrize("name", ["MY_SETTING", "OPENAI", "HOME", ""])
def test_key_env_must_name_a_variable_that_processes_of_environments_do_not_inherit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of environments do not inherit variables with names such as MY_KEY, and inherit all other variables."""
    monkeypatch.setenv(name or "UNNAMED", KEY)
    with pytest.raises(ConfigError, match=f"llm.key_env is {name!r}, which processes with environments would inherit"):
        LiteLLM("openai/m", key_env=name)
    kept = {"MY_KEY", "MY_TOKEN", "my_secret"}
    assert {LiteLLM("openai/m", key_env=good).key_env for good in kept} == kept
    assert without_secrets(dict.fromkeys({*kept, "MY_SETTING"}, KEY)) == {"MY_SETTING": KEY}


@pytest.mark.parametrize("wrong", ["api_key", "timeout", "stream", "drop_params"])
def test_setting_extra_refuses_an_api_key_or_the_name_of_a_known_setting(wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        LiteLLM("openai/m", extra={wrong: "x"})


def test_records_and_errors_of_a_model_contain_no_api_key(
    provider: Provider, request_: Request, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OTHER_API_KEY", "plainlookingkey")
    provider.script = [say(f"{KEY} and plainlookingkey {GOOD}"), *[error(500, f"boom plainlookingkey {KEY}")] * 3]
    recorder = Recorder(model(provider), tmp_path / "llm.jsonl", transcript=tmp_path / "t.jsonl")
    leaky = request_.model_copy(update={"messages": (Message(role="user", content=f"my key is {KEY}"),)})
    assert ask(recorder, leaky, Review).parsed.works
    with pytest.raises(LLMError) as caught:
        recorder.complete(request_)
    texts = [str(caught.value), *(p.read_text() for p in (tmp_path / "llm.jsonl", tmp_path / "t.jsonl"))]
    assert all("[redacted]" in t for t in texts)
    assert not any(KEY in t or "plainlookingkey" in t for t in texts)


def test_litellm_model_estimates_tokens_if_the_provider_reports_none(provider: Provider, request_: Request) -> None:
    provider.script = [FAULTS["no_usage"]]
    usage = model(provider, price=(1.0, 10.0)).complete(request_).usage
    assert usage.tokens_source == "estimated"
    assert usage.prompt_tokens == (4 + 3) + (4 + 2)
    assert usage.completion_tokens == 4
    assert usage.dollars == pytest.approx((13 * 1 + 4 * 10) / 1e6)


def test_price_table_contains_a_common_model(provider: Provider, request_: Request) -> None:
    usage = model(provider, model="openai/gpt-4o").complete(request_).usage
    assert usage.cost_source == "price_table"
    assert usage.dollars == pytest.approx(70 * 2.5e-6 + 30 * 10e-6)
    provider.script = [FAULTS["no_usage"]]
    assert model(provider, model="openai/gpt-4o").complete(request_).usage.dollars == pytest.approx(13 * 2.5e-6 + 4e-5)


def test_images_are_sent_only_to_models_with_vision(provider: Provider, request_: Request) -> None:
    frame = "data:image/png;base64,iVBORw0KGgo="
    request = request_.model_copy(update={"messages": (Message(role="user", content="look", images=(frame,)),)})
    assert model(provider, supports_vision=True).complete(request).text == GOOD
    model(provider).complete(request)
    seen, blind = (r["messages"][0]["content"] for r in provider.requests)
    assert seen == [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": frame}}]
    assert blind == "look\n[1 images are left out: this model takes none]"


def test_fallback_models_get_the_request_in_order_after_a_failure(provider: Provider, request_: Request) -> None:
    down = model(closed_port(), retries=0)
    assert WithFallbacks(down, model(provider, model="openai/second")).complete(request_).model == "openai/second"
    with pytest.raises(LLMError, match=r"openai/m: connection refused.* Then openai/z: connection refused"):
        WithFallbacks(down, model(closed_port(), model="openai/z", retries=0)).complete(request_)
    with pytest.raises(ConfigError, match="openai/m needs a key"):
        WithFallbacks(LiteLLM("openai/m")).complete(request_)


def test_requests_of_a_role_go_to_the_model_of_that_role(provider: Provider, request_: Request) -> None:
    llm = ByRole(model(provider), {"critic": model(provider, model="openai/wise", supports_vision=True)})
    assert llm.supports_vision
    critic = request_.model_copy(update={"key": request_.key.model_copy(update={"role": "critic"})})
    assert [llm.complete(r).model for r in (request_, critic)] == ["openai/m", "openai/wise"]


def test_importing_rlgpt_llm_does_not_import_litellm() -> None:
    code = "import rlgpt.llm.build, rlgpt.llm.structured, sys; sys.exit(bool({'litellm', 'torch'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
