"""Fuel (the sandbox's measure of computation) of a call, of an episode and of all actions together. Also the heartbeat
and the number of guest instances.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rlgpt.domain import CodedAction, Verdict
from rlgpt.options import extend
from rlgpt.sandbox import Ask, Done, Guest, Library, Sandbox, SandboxLimits, Turn
from rlgpt.testing.grid import TASKS, GridEnv, GridPlugin

Open = Callable[..., Guest]

WORK = "    for _ in range(10_000): pass\n"
"""A loop that takes about 5 million units of fuel."""
SLOW = f"def run():\n    while True:\n    {WORK}        yield grasp()\n"
ENDLESS = "while True: pass"


def _played(guest: Guest, action: str = "a") -> tuple[Turn, int]:
    """Play a call to its end. Return its last turn, and the fuel of all its turns."""
    turn = guest.start(action)
    fuel = guest.fuel_used
    while isinstance(turn, Ask):
        turn = guest.send({})
        fuel += guest.fuel_used
    return turn, fuel


def _fuel_verdict(turn: object) -> Verdict:
    assert isinstance(turn, Verdict)
    assert turn.kind == "fuel"
    return turn


def test_call_fuel_limits_all_turns_of_a_call_together(open_guest: Open) -> None:
    guest = open_guest(SLOW, limits=SandboxLimits(call_fuel=50_000_000))
    for _ in range(2):
        turn, fuel = _played(guest)
        told = "in one call, its clean-up included (over 50,000,000 units of fuel: SandboxLimits(call_fuel=...))"
        assert told in _fuel_verdict(turn).message
        assert fuel == 50_000_000, "each call has the full fuel"


def test_episode_fuel_limits_all_calls_of_an_action_together(open_guest: Open) -> None:
    source = f"def run():\n{WORK}    yield grasp()\ndef can_start(view):\n{WORK}    return True\n"
    guest = open_guest(source, source, limits=SandboxLimits(episode_fuel=60_000_000))
    for action in ("a", "b"):
        turns: list[object] = []
        while len(turns) < 20 and not isinstance(turns[-1] if turns else None, Verdict):
            turns.append(guest.can_start(action, {}))
            if turns[-1] is True:
                turns.append(_played(guest, action)[0])
        assert len(turns) > 3
        told = "in one episode (over 60,000,000 units of fuel: SandboxLimits(episode_fuel=...))"
        assert told in _fuel_verdict(turns[-1]).message
        assert told in _fuel_verdict(guest.start(action)).message
        assert guest.fuel_used == 0, "the action does not run any more"


def test_each_primitive_step_adds_fuel_to_the_episode_of_an_action(open_guest: Open) -> None:
    """Without this fuel, an action that computes little at each step fails in every long episode."""
    limits = SandboxLimits(episode_fuel=20_000_000, step_fuel=6_000_000, yields=1000)
    guest = open_guest(SLOW, limits=limits)
    turn = guest.start("a")
    for _ in range(30):
        assert isinstance(turn, Ask)
        guest.add_step()
        turn = guest.send({})
    while isinstance(turn, Ask):
        turn = guest.send({})
    _fuel_verdict(turn)
    guest.add_step()
    assert guest.exhausted == {"a"}, "an action without fuel gets no fuel of further steps"


def test_each_primitive_step_adds_fuel_to_the_call_of_an_action(open_guest: Open) -> None:
    guest = open_guest(SLOW, limits=SandboxLimits(call_fuel=20_000_000, step_fuel=6_000_000, yields=1000))
    for _ in range(2):
        turn = guest.start("a")
        for _ in range(30):
            assert isinstance(turn, Ask)
            guest.add_step()
            turn = guest.send({})
        while isinstance(turn, Ask):
            turn = guest.send({})
        assert "in one call" in _fuel_verdict(turn).message


def test_action_without_fuel_for_the_episode_is_masked_until_the_next_reset() -> None:
    """Its verdict counts as one violation, not as one at each attempt."""
    action = CodedAction(name="a", doc="", source=f"def run():\n{WORK}    yield go()\n")
    limits = SandboxLimits(episode_fuel=30_000_000, step_fuel=0)
    env = extend(GridEnv("door", 40), [action], plugin=GridPlugin(), task=TASKS["grid/door"], sandbox=limits)
    a = env.extension.write("a")
    for _ in range(2):
        _, info = env.reset(seed=0)
        verdicts: list[Verdict] = []
        while info["action_mask"][-1]:
            info = env.step(a)[4]
            verdicts += info.get("verdicts", ())
        assert [verdict.kind for verdict in verdicts] == ["fuel"]
        _, _, _, _, info = env.step(a)
        assert info["ended"] == "masked"
        assert info["action_mask"][-1] == 0
        assert "verdicts" not in info


@pytest.mark.parametrize(("count", "each"), [(1, 8_000_000), (2, 8_000_000), (16, 1_000_000)])
def test_load_fuel_of_all_actions_together_is_limited_by_fuel_shares(count: int, each: int) -> None:
    limits = SandboxLimits(load_fuel=8_000_000, turn_fuel=8_000_000, fuel_shares=2)
    for source in (ENDLESS, f"def run(): yield\ndef can_start(view):\n    {ENDLESS}"):
        actions = [CodedAction(name=f"a{i}", doc="", source=source) for i in range(count)]
        guest = Sandbox(limits).open(Library(primitives=()), actions, seed=0)
        loads = [guest.load(action.name) for action in actions]
        answers = loads if source == ENDLESS else guest.can_start_each(guest.actions, {}).values()
        assert [_fuel_verdict(answer).fuel for answer in answers] == [each] * count


def test_fuel_limits_of_an_action_do_not_depend_on_the_fuel_of_other_actions(open_guest: Open) -> None:
    honest = f"def run():\n{WORK}    yield grasp()"
    alone = _played(open_guest("def run(): yield", honest, seed=3), "b")
    guest = open_guest(f"def run():\n    {ENDLESS}\n    yield", honest, seed=3)
    for _ in range(3):
        _fuel_verdict(guest.start("a"))
    assert _played(guest, "b") == alone == (Done(), alone[1])


CLEAN_UPS = {
    "finally": f"    try:\n        yield go()\n    finally:\n        {ENDLESS}\n",
    "__del__": f"    class H:\n        def __del__(self):\n            {ENDLESS}\n    held = H()\n    yield go()\n",
}


@pytest.mark.parametrize("source", CLEAN_UPS.values(), ids=CLEAN_UPS)
def test_endless_clean_up_after_the_last_step_is_a_fuel_violation(source: str) -> None:
    action = CodedAction(name="a", doc="", source=f"def run():\n{source}", max_steps=1)
    env = extend(
        GridEnv("door", 40),
        [action],
        plugin=GridPlugin(),
        task=TASKS["grid/door"],
        sandbox=SandboxLimits(turn_fuel=20_000_000),
    )
    env.reset(seed=0)
    for _ in range(3):
        info = env.step(env.extension.write("a"))[4]
        (verdict,) = info["verdicts"]
        assert "it ran too long while it cleaned up (over 20,000,000 units of fuel" in _fuel_verdict(verdict).message
        assert (info["ended"], verdict.step) == ("limit", 1)
    _, info = env.reset(seed=0)
    assert info["action_mask"][-1] == 0, "three violations quarantine the action"


def test_clean_up_within_its_fuel_limit_is_not_a_violation(open_guest: Open) -> None:
    guest = open_guest(f"def run():\n    try:\n        yield grasp()\n    finally:\n    {WORK}        raise ValueError")
    guest.start("a")
    assert guest.cancel() is None


def test_sandbox_calls_on_turn_before_each_turn(library: Library) -> None:
    beats: list[int] = []
    source = "def run():\n    yield grasp()\n    yield grasp()\ndef can_start(view): return True"
    action = CodedAction(name="a", doc="", source=source)
    guest = Sandbox(on_turn=lambda: beats.append(1)).open(library, [action], seed=0)
    counts = []
    for turn in (lambda: guest.can_start("a", {}), lambda: guest.start("a"), lambda: guest.send({}), guest.cancel):
        turn()
        counts.append(len(beats))
    assert counts == [2, 3, 4, 5], "load and can_start, start, send, clean-up"


def test_least_recently_used_guest_instance_is_dropped_at_the_limit(open_guest: Open) -> None:
    counts = "n = 0\ndef run():\n    global n\n    n += 1\n    yield move_to(tries=n)"
    guest = open_guest(counts, counts, counts, limits=SandboxLimits(instances=2))

    def tries(action: str) -> object:
        turn = guest.start(action)
        assert isinstance(turn, Ask)
        return turn.requests[0].args["tries"]

    assert [tries(action) for action in "aabacab"] == [1, 2, 1, 3, 1, 4, 1]
