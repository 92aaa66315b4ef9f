"""The messages about invalid settings name every invalid key."""

from __future__ import annotations

import pytest
from pydantic import Field
from rlgpt.domain import Value
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, UnknownNameError


class Inner(Value):
    size: int = 1


class Settings(Value):
    gamma: float = Field(default=0.99, le=1)
    inner: Inner = Inner()


def test_validated_raises_the_specific_error_of_a_single_invalid_setting() -> None:
    with pytest.raises(UnknownNameError, match=r"'setup\.gama'.*Did you mean 'setup\.gamma'"):
        validated(Settings, {"gama": 1}, "setup")
    with pytest.raises(ConfigError, match=r"setup\.gamma=1\.2 cannot be used: .*less than or equal to 1"):
        validated(Settings, {"gamma": 1.2}, "setup")


def test_validated_error_names_every_invalid_setting() -> None:
    with pytest.raises(ConfigError) as caught:
        validated(Settings, {"gamma": 1.2, "inner": {"size": "much"}, "speed": 1})
    for words in ("gamma=1.2 cannot be used", "inner.size='much' cannot be used", "unknown key 'speed'"):
        assert words in str(caught.value)


def test_validated_error_lists_only_the_first_of_many_invalid_settings() -> None:
    with pytest.raises(ConfigError, match=r"And 92 more\.$"):
        validated(Settings, {f"key{n}": n for n in range(100)})
