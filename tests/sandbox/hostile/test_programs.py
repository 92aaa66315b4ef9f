"""Every hostile program ends with its verdict, within its limits, and without an effect on the host.

The programs run without lint, which is feedback for the model and not a part of the sandbox's boundary. One test also
removes the guest's own restrictions (the list of imports, the missing ``open``), which are not a boundary either.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from fnmatch import filter as matching
from pathlib import Path

import pytest
from hostile_programs import BENIGN, KINDS, Program, Targets, programs
from hostile_stage import KEY, SECRET, TASK, Stage, host_state, straight, watched
from rlgpt.domain import CodedAction, Decision, Verdict
from rlgpt.plugin.library import library_of
from rlgpt.sandbox import Ask, Sandbox, SandboxLimits, lint
from rlgpt.testing.grid import GridPlugin

PROGRAMS = programs()
EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
SOME = pytest.mark.parametrize(
    "program",
    [pytest.param(p, id=p.name, marks=[] if n % 3 == 0 else pytest.mark.slow) for n, p in enumerate(PROGRAMS)],
)
"""All programs, of which the fast tests run every third."""
LIMITS = SandboxLimits()

UNLOCKED = """
def run():
    sys = __builtins__["__import__"].__globals__["sys"]
    surroundings, finders = sys.modules["surroundings"], sys.modules["importlib._bootstrap_external"]
    surroundings.audit.__code__ = (lambda event, _: None).__code__
    surroundings._import.__code__ = (lambda name, *a, **k: __import__(name, *a, **k)).__code__
    surroundings.BUILTINS["open"] = sys.modules["io"].open
    sys.meta_path.append(finders.PathFinder)
    sys.path.append("/")
    yield use()
"""
"""A program that removes the guest's own restrictions (the list of imports, the missing ``open``)."""


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox(LIMITS)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Iterator[Targets]:
    with pytest.MonkeyPatch.context() as patch, watched(tmp_path_factory.mktemp("host")) as found:
        patch.setenv(KEY, SECRET)
        Stage(BENIGN, sandbox).attack()
        gc.collect()  # Close files of earlier tests now, because no file may close between two comparisons.
        yield found


@pytest.fixture(scope="module")
def undisturbed(sandbox: Sandbox) -> Decision:
    """The report of the honest episode after an episode without an attack."""
    stage = Stage(BENIGN, sandbox)
    stage.attack()
    return stage.honest_episode()


def test_hostile_corpus_has_programs_of_every_kind() -> None:
    for kind, patterns in KINDS.items():
        there = {pattern: matching([p.name for p in PROGRAMS], pattern) for pattern in patterns}
        assert all(there.values()), f"of {kind} there are no {[pattern for pattern in there if not there[pattern]]}"
        assert len({name for found in there.values() for name in found}) >= 2, kind


def test_every_file_of_hostile_programs_belongs_to_a_kind_of_attack() -> None:
    wanted = {pattern.partition("/")[0] for patterns in KINDS.values() for pattern in patterns}
    assert {p.name.partition("/")[0] for p in PROGRAMS} == wanted


@pytest.mark.parametrize("verdict", ["error", "load", "type", "reply", "primitive"])
def test_hostile_corpus_refuses_a_program_without_a_message(verdict: str, tmp_path: Path) -> None:
    entry = f'[mute]\nverdict = "{verdict}"\nsource = "x = 1"\n'
    (tmp_path / "kind.toml").write_text(entry)
    with pytest.raises(ValueError, match=r"kind\.toml: \[mute\] ends in .*says"):
        programs(tmp_path)
    (tmp_path / "kind.toml").write_text(f"{entry}says = 'no open() here'\n")
    assert programs(tmp_path) == [Program("kind/mute", "x = 1", verdict, "no open() here")]


def test_hostile_corpus_is_large_and_without_duplicates() -> None:
    assert len(PROGRAMS) >= 150
    assert len({p.source for p in PROGRAMS}) == len(PROGRAMS)
    assert sum(p.verdict == "returned" for p in PROGRAMS) < len(PROGRAMS) / 8, "most programs must be stopped"


@pytest.fixture(scope="module")
def neighbour(sandbox: Sandbox) -> list[tuple[str, str]]:
    """The report of the honest action ``neighbour`` in an episode without an attack."""
    stage = Stage(BENIGN, sandbox)
    stage.env.reset(seed=3)
    first, second = stage.neighbour()
    assert first[0] == "violation"
    assert first[1].startswith("ValueError: [3, 3.14159")
    assert second == ("masked", "")
    return [first, second]


@EACH
def test_hostile_program_in_an_environment_ends_with_its_verdict_and_without_effect_on_the_host(
    program: Program, targets: Targets, undisturbed: Decision, neighbour: list[tuple[str, str]], sandbox: Sandbox
) -> None:
    before = host_state(targets)
    stage = Stage(targets.aim(program.source), sandbox)
    decisions = stage.attack()
    for verdict in stage.verdicts:
        assert (verdict.action, verdict.kind) == ("hostile", program.verdict), verdict
        assert targets.aim(program.says) in verdict.message
        _within_budgets(verdict)
    if not stage.verdicts:
        assert decisions[-1].ended == program.verdict
    assert all(d.duration <= 60 and len(d.calls) <= LIMITS.yields * LIMITS.requests for d in decisions)
    assert SECRET not in repr((stage.verdicts, decisions))
    assert set(stage.env.load_verdicts) <= {"hostile"}
    if not stage.over:
        assert stage.neighbour() == neighbour
    assert stage.honest_episode() == undisturbed
    assert host_state(targets) == before


@SOME
@pytest.mark.parametrize(
    "unlocked", [pytest.param(False, marks=pytest.mark.slow), True], ids=["restricted", "unrestricted"]
)
def test_hostile_program_in_a_guest_alone_has_no_effect_on_the_host(
    program: Program, unlocked: bool, targets: Targets, sandbox: Sandbox
) -> None:
    """The fast tests play each program with the guest's restrictions in an environment, see above."""
    before = host_state(targets)
    sources = {"hostile": targets.aim(program.source), "unlock": UNLOCKED, "honest": BENIGN}
    actions = [CodedAction(name=name, doc="", source=source) for name, source in sources.items()]
    guest = sandbox.open(library_of(GridPlugin(), TASK), actions, seed=0)
    if unlocked:
        assert isinstance(guest.start("unlock", {}), Ask)
    turn = straight(guest)
    if isinstance(turn, Verdict):
        _within_budgets(turn)
        assert SECRET not in turn.message
    straight(guest, action="honest")
    assert host_state(targets) == before


def test_linting_hostile_programs_has_no_effect_on_the_host(targets: Targets) -> None:
    before = host_state(targets)
    for program in PROGRAMS:
        action = CodedAction(name="hostile", doc="", source=targets.aim(program.source))
        assert all(v.kind == "lint" for v in lint(action, library_of(GridPlugin(), TASK)))
    assert host_state(targets) == before


def _within_budgets(verdict: Verdict) -> None:
    limit = max(LIMITS.load_fuel, LIMITS.turn_fuel)
    assert 0 <= verdict.fuel <= limit
    assert (verdict.fuel == limit) == (verdict.kind == "fuel" and "call_fuel" not in verdict.message)
    assert verdict.step <= 60
    assert verdict.message.replace("\n", "").isprintable()
