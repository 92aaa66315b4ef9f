"""Messages about settings name every faulty key."""

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


def test_single_invalid_setting_raises_its_specific_error() -> None:
    with pytest.raises(UnknownNameError, match=r"'setup\.gama'.*Did you mean 'setup\.gamma'"):
        validated(Settings, {"gama": 1}, "setup")
    with pytest.raises(ConfigError, match=r"setup\.gamma=1\.2 cannot be used: .*less than or equal to 1"):
        validated(Settings, {"gamma": 1.2}, "setup")


def test_message_names_every_invalid_setting() -> None:
    with pytest.raises(ConfigError) as caught:
        validated(Settings, {"gamma": 1.2, "inner": {"size": "much"}, "speed": 1})
    for words in ("gamma=1.2 cannot be used", "inner.size='much' cannot be used", "unknown key 'speed'"):
        assert words in str(caught.value)


def test_a_message_about_many_faults_is_short() -> None:
    with pytest.raises(ConfigError, match=r"And 92 more\.$"):
        validated(Settings, {f"key{n}": n for n in range(100)})
