"""``build_llm`` makes a language model from settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rlgpt.domain import Review
from rlgpt.errors import BudgetExceeded, ConfigError, TranscriptError, UnknownNameError
from rlgpt.llm.base import Request
from rlgpt.llm.build import LLMContext, LLMSettings, ModelSettings, build_llm, choose
from rlgpt.llm.litellm_llm import LiteLLM
from rlgpt.llm.record import Recorder
from rlgpt.llm.structured import ask

from .server import GOOD, Provider, error, say


def build(folder: Path, transcripts: tuple[Path, ...] = (), seed: int = 0, **settings: Any) -> Recorder:
    context = LLMContext(folder, seed, transcripts, task="kitchen/kettle", recorded=["kitchen/microwave"])
    return build_llm(LLMSettings(**settings), context)


def test_build_llm_records_replies_that_another_run_can_replay(
    provider: Provider, request_: Request, tmp_path: Path
) -> None:
    provider.script = [say("hm"), say(GOOD)]
    live = build(tmp_path / "a", kind="record", model="openai/m", api_base=provider.url)
    assert ask(live, request_, Review).parsed.works
    assert len(provider.requests) == 2
    replay = build(tmp_path / "b", (tmp_path / "a" / "transcript.jsonl",))
    answer = ask(replay, request_, Review)
    assert [r.text for r in answer.replies] == ["hm", GOOD]
    assert len(provider.requests) == 2
    assert live.spending.tokens == replay.spending.replayed_tokens == 200


def test_live_model_writes_no_recording(provider: Provider, request_: Request, tmp_path: Path) -> None:
    build(tmp_path, kind="live", model="openai/m", api_base=provider.url).complete(request_)
    assert [p.name for p in tmp_path.iterdir()] == ["llm.jsonl"]


def test_build_llm_makes_the_models_of_roles_and_the_fallback_models(
    provider: Provider, request_: Request, tmp_path: Path
) -> None:
    provider.script = [error(404, "none")]
    llm = build(
        tmp_path,
        kind="live",
        model="openai/m",
        api_base=provider.url,
        temperature=0.5,
        roles={"review": {"model": "openai/r", "temperature": 0.1}},
        fallbacks=["openai/f"],
    )
    assert llm.complete(request_).model == "openai/f"
    slow = request_.model_copy(update={"key": request_.key.model_copy(update={"role": "slow"})})
    assert llm.complete(slow).model == "openai/m"
    assert [(r["model"], r["temperature"]) for r in provider.requests] == [("r", 0.1), ("f", 0.5), ("m", 0.5)]


def test_resumed_run_counts_earlier_calls_in_its_llm_budget(
    provider: Provider, request_: Request, tmp_path: Path
) -> None:
    settings = {"kind": "live", "model": "openai/m", "api_base": provider.url, "budget": {"calls": 1}}
    build(tmp_path, **settings).complete(request_)
    again = build(tmp_path, **settings)
    assert again.complete(request_).text == GOOD
    with pytest.raises(BudgetExceeded, match="budget of 1 in calls"):
        again.complete(request_.model_copy(update={"fingerprint": "g"}))


def test_build_llm_checks_api_keys_for_a_new_run_and_not_for_a_run_with_recorded_requests(
    request_: Request, warm: None, tmp_path: Path
) -> None:
    for settings in (
        {"model": "gpt-4o"},
        {"model": "ollama/m", "roles": {"critic": "gpt-4o"}},
        {"model": "ollama/m", "fallbacks": ["gpt-4o"]},
    ):
        with pytest.raises(ConfigError, match=r"gpt-4o needs a key.*OPENAI_API_KEY"):
            build(tmp_path, kind="live", **settings)
    (tmp_path / "llm.jsonl").write_text(recorded(request_))
    assert build(tmp_path, kind="live", model="gpt-4o").complete(request_).text == GOOD


def recorded(request: Request) -> str:
    from rlgpt.llm.base import Reply
    from rlgpt.llm.exchange import Exchange

    return Exchange.of(request, Reply(text=GOOD, model="gpt-4o")).model_dump_json() + "\n"


def test_llm_kinds_live_and_record_without_a_model_raise_an_error(tmp_path: Path) -> None:
    for kind in ("live", "record"):
        with pytest.raises(ConfigError, match=r"need a model: llm\.model=PROVIDER/MODEL"):
            build(tmp_path, kind=kind)


def test_llm_settings_with_a_model_and_without_a_kind_are_of_kind_record() -> None:
    assert LLMSettings().kind == "replay"
    assert LLMSettings(model="openai/m").kind == "record"
    assert LLMSettings(model="openai/m", kind="live").kind == "live"


def test_error_about_a_missing_recording_names_the_tasks_with_recordings(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"'kitchen/kettle'; tasks with recordings: kitchen/microwave. Make one"):
        build(tmp_path)


def test_recording_is_chosen_by_the_setting_or_by_the_seed(tmp_path: Path) -> None:
    paths = tuple(tmp_path / f"kettle-{n}.jsonl" for n in range(3))
    for path in paths:
        path.touch()
    assert [choose(None, paths, seed) for seed in range(4)] == [*paths, paths[0]]
    assert choose(2, paths, 0) == paths[2]
    assert (
        choose("kettle-1", paths, 0) == choose("kettle-1.jsonl", paths, 0) == choose(str(paths[1]), (), 0) == paths[1]
    )
    with pytest.raises(ConfigError, match=r"llm\.transcript=3: there are 3 recordings, numbered from 0"):
        choose(3, paths, 0)
    with pytest.raises(UnknownNameError, match="Did you mean 'kettle-1'"):
        choose("kettel-1", paths, 0)


def test_model_settings_of_a_role_inherit_unset_fields_and_address_and_key_only_within_a_provider() -> None:
    settings = LLMSettings(
        model="openai/m", api_base="http://a", key_env="MY_KEY", temperature=0.3, price=(1, 2), extra={"seed": 1}
    )
    assert settings.derived(ModelSettings(temperature=0.9)) == ModelSettings(
        model="openai/m", api_base="http://a", key_env="MY_KEY", temperature=0.9, price=(1, 2), extra={"seed": 1}
    )
    assert settings.derived(ModelSettings(model="openai/n")) == ModelSettings(
        model="openai/n", api_base="http://a", key_env="MY_KEY", temperature=0.3, extra={"seed": 1}
    )
    assert settings.derived(ModelSettings(model="ollama/n")) == ModelSettings(model="ollama/n", temperature=0.3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "not a name"},
        {"roles": {"boss": "openai/m"}},
        {"fallbacks": [{"timeout": 3}]},
        {"timeout": 0},
        {"key": "x"},
        {"roles": "openai/m"},
        {"roles": ["openai/m"]},
        {"fallbacks": 3},
        {"fallbacks": {"model": "openai/m"}},
        {"timeout": float("inf")},
        {"timeout": 1e12},
        {"price": [-1, -1]},
        {"price": [1, float("inf")]},
    ],
)
def test_llm_settings_refuse_invalid_values(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        LLMSettings(**wrong)


@pytest.mark.parametrize("given", ["openai/m", ["openai/m"], [{"model": "openai/m"}]])
def test_fallback_models_are_given_by_a_name_or_by_a_list(given: Any) -> None:
    assert LLMSettings(fallbacks=given).fallbacks == (ModelSettings(model="openai/m"),)


def test_model_settings_have_one_field_for_each_parameter_of_litellm_model() -> None:
    import inspect

    parameters = set(inspect.signature(LiteLLM).parameters) - {"sleep", "clock", "rng"}
    assert parameters == set(ModelSettings.model_fields)
