"""The selection between code, tuned code and the modes of the policy (sampled, greedy): the number of episodes of each
candidate, the kept candidate, and the result after a kill.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import Episode, Evaluation
from rlgpt.loop.race import ERROR, evidence
from rlgpt.loop.selection import BLOCK, CODE, TUNED, Block, Selection

MOST = 20
OUTCOMES = st.lists(st.booleans(), min_size=MOST, max_size=MOST)


class Known:
    """A candidate whose results are given for each seed. An episode takes ``length`` steps."""

    def __init__(self, mode: Any, wins: Sequence[bool], length: int = 10) -> None:
        self.mode, self.wins, self.played, self.length = mode, wins, list[int](), length

    def play(self, acting: Any, seeds: Sequence[int]) -> Evaluation:
        self.played += seeds
        episodes = tuple(
            Episode(seed=s, success=self.wins[s], total_reward=0, primitive_steps=self.length, decisions=1)
            for s in seeds
        )
        return Evaluation(mode=self.mode, episodes=episodes)


def select(
    wins: dict[str, Sequence[bool]],
    blocks: dict[int, Block] | None = None,
    *,
    steps: int = 10**6,
    stop: int = 99,
    lengths: Sequence[int] = (10, 10, 10, 10),
) -> tuple[Selection, dict[str, Known]]:
    """Run a selection in which code has already played ten episodes. A kill happens before the storing of block
    ``stop``.
    """
    blocks = {} if blocks is None else blocks
    judges = {name: Known(name, w, length) for (name, w), length in zip(wins.items(), lengths, strict=False)}
    first = judges[CODE].play(None, range(10)) if CODE in wins else None
    players: Any = {name: (judge, SimpleNamespace(sharpness=1.0)) for name, judge in judges.items()}
    race = Selection(players, range(MOST), code=first, least=10, steps=steps, traces=0)

    def store(number: int, block: Block) -> None:
        if number == stop:
            raise KeyboardInterrupt
        blocks[number] = Block.model_validate_json(block.model_dump_json())

    race.run(blocks.get, store)
    return race, judges


@given(OUTCOMES, OUTCOMES, OUTCOMES)
def test_selection_plays_each_seed_once_and_keeps_the_best(a: list[bool], b: list[bool], c: list[bool]) -> None:
    race, judges = select({"sampled": a, "greedy": b, CODE: c})
    assert all(len(set(j.played)) == len(j.played) for j in judges.values())
    assert race.code is not None
    evaluations = [race.policy, *race.rivals, race.code]
    assert sum(len(e.episodes) for e in evaluations) == sum(len(j.played) for j in judges.values())
    assert {e.mode for e in evaluations} == {"sampled", "greedy", CODE}
    first = {name: sum(w[:10]) for name, w in (("sampled", a), ("greedy", b))}
    if len(race.policy.episodes) > 10:
        assert first[race.policy.mode] == max(first.values()), "only the better mode plays more than ten episodes"
        assert all(len(r.episodes) <= 10 for r in race.rivals)


LENGTHS = st.lists(st.integers(1, 50), min_size=3, max_size=3)


@given(OUTCOMES, OUTCOMES, OUTCOMES, LENGTHS, st.integers(0, 3000))
def test_race_takes_at_most_its_steps_after_its_first_seed_and_stops_only_if_few_are_left(
    a: list[bool], b: list[bool], c: list[bool], lengths: list[int], steps: int
) -> None:
    race, judges = select({"sampled": a, TUNED: b, CODE: c}, steps=steps, lengths=lengths)
    policy, tuned, code = (len(judges[name].played) for name in ("sampled", TUNED, CODE))
    taken = policy * lengths[0] + tuned * lengths[1] + (code - 10) * lengths[2]
    assert taken <= max(steps, lengths[0] + lengths[1])
    assert not race.cut_short or steps - taken < sum(lengths)


@given(OUTCOMES, OUTCOMES, OUTCOMES, OUTCOMES)
def test_tuned_code_plays_the_seeds_of_the_others_until_it_is_dropped(
    a: list[bool], b: list[bool], c: list[bool], d: list[bool]
) -> None:
    race, judges = select({"sampled": a, "greedy": b, CODE: c, TUNED: d})
    assert race.tuned is not None
    assert race.tuned.mode == TUNED
    assert judges[TUNED].played == list(range(len(race.tuned.episodes))) == [e.seed for e in race.tuned.episodes]
    assert {race.policy.mode, *(r.mode for r in race.rivals)} == {"sampled", "greedy"}
    if len(judges[TUNED].played) < 10:
        rival, error = ERROR / 3, len(judges[TUNED].played)
        assert any(_decided(d[:error], other[:error], rival) for other in (a, b, c)), (
            "the bound is shared by 4 candidates"
        )


def _decided(ours: Sequence[bool], theirs: Sequence[bool], error: float) -> bool:
    """Whether one of two candidates is better on the seeds so far, with the error bound ``error``."""
    wins, losses = (sum(x > y for x, y in zip(*pair, strict=True)) for pair in ((ours, theirs), (theirs, ours)))
    return max(evidence(wins, losses), evidence(losses, wins)) * error >= 1


def test_code_and_tuned_code_continue_their_race_after_the_policy_was_dropped() -> None:
    close = [i % 4 > 0 for i in range(MOST)]
    race, judges = select({"sampled": [False] * MOST, CODE: close, TUNED: close[1:] + close[:1]})
    assert len(judges["sampled"].played) < 12
    assert len(judges[CODE].played) == len(judges[TUNED].played) == MOST
    assert race.policy.success_rate == 0


def test_tuned_code_that_beats_all_others_plays_as_many_episodes_as_code() -> None:
    lost = [False] * MOST
    _, judges = select({"sampled": lost, "greedy": lost, CODE: lost, TUNED: [True] * MOST})
    assert len(judges[TUNED].played) == len(judges[CODE].played) == 10
    assert len(judges["sampled"].played) < 10
    assert select({"sampled": lost, CODE: lost})[0].tuned is None


@given(OUTCOMES, OUTCOMES, OUTCOMES, OUTCOMES, st.integers(0, MOST // BLOCK), st.integers(0, 500))
def test_resumed_selection_has_the_result_of_an_uninterrupted_selection(
    a: list[bool], b: list[bool], c: list[bool], d: list[bool], stop: int, steps: int
) -> None:
    wins = {"sampled": a, "greedy": b, CODE: c, **({TUNED: d} if any(d) else {})}
    whole, _ = select(wins, steps=steps)
    blocks: dict[int, Block] = {}
    try:
        select(wins, blocks, steps=steps, stop=stop)
    except KeyboardInterrupt:
        assert set(blocks) == set(range(stop))
    again, _ = select(wins, blocks, steps=steps)
    assert (again.policy, again.rivals, again.code) == (whole.policy, whole.rivals, whole.code)
    assert again.tuned == whole.tuned
    stored = sum(len(e.episodes) for block in blocks.values() for e in block.evaluations)
    assert stored + 10 == sum(
        len(e.episodes) for e in (again.policy, *again.rivals, again.code, again.tuned) if e is not None
    )


def test_much_worse_policy_plays_few_selection_episodes() -> None:
    race, judges = select({"sampled": [False] * MOST, "greedy": [False] * MOST, CODE: [True] * MOST})
    assert len(judges["sampled"].played) == len(judges["greedy"].played) <= 7
    assert len(judges[CODE].played) == 10
    assert race.code is not None
    assert race.code.success_rate > race.policy.success_rate


def test_much_better_policy_plays_as_many_selection_episodes_as_code() -> None:
    race, judges = select({"sampled": [True] * MOST, CODE: [False] * MOST})
    assert len(judges["sampled"].played) == len(judges[CODE].played) == 10
    assert race.policy.success_rate == 1


def test_selection_plays_all_seeds_when_the_candidates_are_similar() -> None:
    close = [i % 2 == 0 for i in range(MOST)]
    race, judges = select({"sampled": close, CODE: close[1:] + close[:1]})
    assert len(judges["sampled"].played) == len(judges[CODE].played) == MOST
    assert not race.cut_short


def test_with_few_steps_the_better_mode_takes_the_steps_of_the_other_mode() -> None:
    close = [i % 2 == 0 for i in range(MOST)]
    _, judges = select({"sampled": close[1:] + close[:1], "greedy": close, CODE: close}, steps=100)
    assert len(judges["sampled"].played) == 3, "three episodes of ten steps in each mode are half of the steps"
    assert len(judges["greedy"].played) == 7


def test_step_limit_ends_a_selection_after_at_least_one_seed() -> None:
    close = [i % 2 == 0 for i in range(MOST)]
    wins = {"sampled": close, "greedy": close}
    race, judges = select(wins, steps=65)
    assert [len(j.played) for j in judges.values()] == [3, 3]
    assert race.cut_short
    assert [len(j.played) for j in select(wins, steps=0)[1].values()] == [1, 1]


def test_selection_with_one_candidate_plays_the_requested_seeds() -> None:
    race, judges = select({"sampled": [True] * MOST})
    assert len(judges["sampled"].played) == 10
    assert race.rivals == ()
    assert race.code is None


def test_resumed_selection_plays_a_stored_block_of_other_modes_again() -> None:
    close = [i % 2 == 0 for i in range(MOST)]
    ways = {"sampled": close, "sharpened": close, CODE: close}
    blocks: dict[int, Block] = {}
    select(ways, blocks)
    fewer, _ = select({"sampled": close, CODE: close}, dict(blocks))
    assert (fewer.policy, fewer.code) == (select({"sampled": close, CODE: close})[0].policy, fewer.code)
    more, judges = select({**ways, "greedy": close}, dict(blocks))
    assert [len(r.episodes) for r in more.rivals] == [10, 10]
    assert judges["greedy"].played[:BLOCK] == list(range(BLOCK))
