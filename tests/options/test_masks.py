"""Which choices of an extended environment are masked: actions that may not start, and quarantined actions."""

from __future__ import annotations

from typing import Any

import pytest
from grid_actions import IDLE, KEY, TO_KEY, USE, WALK, action, grid
from rlgpt import extend
from rlgpt.domain import Parameter
from rlgpt.errors import UnknownNameError
from rlgpt.sandbox import encode as encoding
from rlgpt.testing.grid import GridPlugin


def test_coded_action_that_may_not_start_is_masked_and_its_choice_takes_one_idle_step() -> None:
    env = grid(USE)
    _, info = env.reset(seed=4)
    assert list(info["action_mask"]) == [1, 1, 1, 1, 1, 0]
    _, _, _, _, info = env.step(5)
    assert (info["ended"], info["duration"]) == ("masked", 1)


def test_error_in_can_start_masks_the_coded_action_with_a_verdict() -> None:
    """The verdict is reported once for each call of ``can_start``, and in the decision whose action could not start."""
    odd = action("odd", "def can_start(view):\n    return view['nope']\n\ndef run():\n    yield use()\n")
    env = grid(odd, trace=True)
    _, info = env.reset(seed=4)
    (verdict,) = info["verdicts"]
    assert (verdict.kind, verdict.line) == ("error", 2)
    assert verdict.message.startswith("in can_start(view): KeyError: no key 'nope'; of the view there are: ")
    _, _, _, _, info = env.step(5)
    assert len(info["verdicts"]) == 1
    assert info["decision"].ended == "masked"
    assert info["decision"].verdict == verdict


def test_quarantine_masks_a_coded_action_from_the_next_reset_on() -> None:
    env = grid(TO_KEY)
    env.reset(seed=0)
    env.quarantine(["to_key"])
    assert env.step(env.extension.write("to_key"))[4]["ended"] == "returned"
    assert env.reset(seed=0)[1]["action_mask"][-1] == 0
    assert env.step(5)[4]["ended"] == "masked"
    with pytest.raises(UnknownNameError):
        env.quarantine(["nothing"])


def test_environment_quarantines_an_action_after_three_violations(caplog: pytest.LogCaptureFixture) -> None:
    """The environment counts violations itself, unless the caller gives ``quarantined`` or calls ``quarantine()``."""
    bad = action("bad", "def run():\n    yield 5\n")
    endings: dict[str, list[str]] = {}
    for who in ("environment", "caller", "caller, later"):
        env = grid(bad, IDLE, trace=True, **({"quarantined": ()} if who == "caller" else {}))
        if who == "caller, later":
            env.quarantine(())
        endings[who] = []
        for seed in range(3):
            env.reset(seed=seed)
            for _ in range(2):
                info = env.step(5)[4]
                endings[who].append(info["ended"])
    assert endings["environment"] == ["violation"] * 4 + ["masked"] * 2
    assert endings["caller"] == endings["caller, later"] == ["violation"] * 6
    (record,) = caplog.records
    assert "'bad' is masked from the next episode on, after 3 violations" in record.getMessage()


@pytest.mark.parametrize("interrupt_every", [None, 1, 5])
def test_action_that_fails_in_each_call_is_masked_after_three_calls_of_any_number_of_decisions(
    interrupt_every: int | None,
) -> None:
    late = action("late", "def run():\n    for _ in range(20):\n        yield use()\n    yield 5\n")
    env = grid(late, interrupt_every=interrupt_every)
    for call in range(3):
        _, info = env.reset(seed=call)
        assert info["action_mask"][5] == 1
        ended = "running"
        while ended == "running":
            ended = env.step(5)[4]["ended"]
        assert ended == "violation"
    assert env.reset(seed=3)[1]["action_mask"][5] == 0


def test_action_stays_available_if_less_than_a_tenth_of_its_calls_has_a_violation() -> None:
    sometimes = action("sometimes", "def run(fails=0.0):\n    yield 5 if fails > 0.5 else use()\n")
    sometimes = sometimes.model_copy(update={"parameters": (Parameter(name="fails", low=0, high=1, default=0),)})
    masked = []
    for good in (26, 28):
        env = grid(sometimes)
        env.reset(seed=0)
        for fails in (*[0.0] * good, *[1.0] * 3):
            if env.step(env.extension.write("sometimes", {"fails": fails}))[2:4] != (False, False):
                env.reset(seed=0)
        masked.append(env.reset(seed=1)[1]["action_mask"][5] == 0)
    assert masked == [True, False]


def test_decision_for_a_quarantined_action_has_the_verdict_quarantined() -> None:
    env = grid(IDLE, quarantined=["idle"], trace=True)
    env.reset(seed=0)
    _, _, _, _, info = env.step(5)
    assert info["decision"].verdict.kind == "quarantined"
    assert "verdicts" not in info, "the verdict 'quarantined' is not a violation"


def test_view_is_encoded_once_for_all_can_start_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[Any] = []
    encode = encoding._encode
    monkeypatch.setattr(encoding, "_encode", lambda *args: encoded.append(args[0]) or encode(*args))
    whole = USE.source.replace("view['agent']", "dict(view)['agent']")
    env = grid(USE, *(USE.model_copy(update={"name": name}) for name in ("second", "third")))
    _, info = env.reset(seed=4)
    assert list(info["action_mask"][-3:]) == [0, 0, 0]
    view = env.view()
    assert encoded == [{key: view[key] for key in ("agent", "key")}], "only what the code reads"
    encoded.clear()
    grid(*(USE.model_copy(update={"name": name, "source": whole}) for name in ("first", "second"))).reset(seed=4)
    assert encoded == [view]


def test_action_mask_allows_all_choices_if_no_action_may_start() -> None:
    env = grid(USE, IDLE, base_actions=(), quarantined=["idle"])
    _, info = env.reset(seed=4)
    assert list(info["action_mask"]) == [1, 1]
    assert env.step(1)[4]["ended"] == "masked"


def test_plugin_method_applicable_is_called_after_every_decision() -> None:
    class Guarded(GridPlugin):
        def applicable(self, action: str, view: Any) -> bool:
            return bool(view["agent"] != view["key"])

    for plugin, after in ((Guarded(), 0), (GridPlugin(), 1)):
        env = extend(plugin.make_env(KEY, seed=0), (TO_KEY,), plugin=plugin, task=KEY)
        assert env.reset(seed=0)[1]["action_mask"][-1] == 1
        assert env.step(env.extension.write("to_key"))[4]["action_mask"][-1] == after


def test_changing_the_returned_action_mask_does_not_change_the_next_mask() -> None:
    env = grid(TO_KEY, WALK, quarantined=["walk"])
    masks = [env.reset(seed=0)[1]["action_mask"]]
    for _ in range(3):
        masks[-1][:] = 0
        masks.append(env.step(env.extension.write("to_key"))[4]["action_mask"])
        assert list(masks[-1]) == [1] * (len(masks[-1]) - 1) + [0]
