"""A report makes rows from run folders: runs that differ only in the seed are one method, runs with different settings
are different methods, and all costs are counted.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from report_stories import evaluation, iteration
from rlgpt.cli import main
from rlgpt.domain import Score
from rlgpt.errors import RunError
from rlgpt.files import write_atomic
from rlgpt.llm.base import Message, Reply, Request, RequestKey, Usage
from rlgpt.llm.exchange import Exchange, Journal
from rlgpt.report.curves import draw, svg
from rlgpt.report.html import render
from rlgpt.report.loaded import bill, find
from rlgpt.report.methods import methods
from rlgpt.report.write import page_of, table, write_page
from rlgpt.runs import Report, Run


def made(
    folder: Path, *, seed: int = 0, kind: str = "slow_fast_critic", wins: int = 5, task: str = "a/b", **config: Any
) -> Run:
    """Write a run with one iteration and a report to ``folder``."""
    run = Run.create(folder, task=task, seed=seed, config={"agents": {"name": kind}, "seed": seed, **config})
    finished = iteration(0)
    write_atomic(folder / "iterations/0/iteration.json", finished.model_dump_json())
    report = Report(iteration=0, evaluation=evaluation(wins, 10))
    write_atomic(folder / "report.json", report.model_dump_json())
    run.update(steps=finished.steps, best=0, iterations=1)
    return run


def exchange(tokens: int, dollars: float | None) -> Exchange:
    key = RequestKey(task="a/b", role="slow")
    request = Request(key=key, messages=(Message(role="user", content=str(tokens)),), fingerprint="f")
    return Exchange.of(request, Reply(text="{}", model="m", usage=Usage(prompt_tokens=tokens, dollars=dollars)))


def test_report_groups_runs_that_differ_only_in_their_seed_as_one_method(tmp_path: Path) -> None:
    runs = [made(tmp_path / str(s), seed=s, wins=w) for s, w in enumerate((5, 6, 10))]
    (row,) = page_of(runs).comparisons[0].rows
    assert (row.method, row.runs) == ("RL-GPT", 3)
    assert row.success.point == pytest.approx(0.7)
    assert row.primitive_steps == iteration().steps.total
    assert row.steps_per_success == pytest.approx(30 * 80 / 21)


def test_methods_that_differ_in_a_setting_have_separate_rows(tmp_path: Path) -> None:
    one = made(tmp_path / "1", hyperparameters={"semi_markov": None})
    two = made(tmp_path / "2", hyperparameters={"semi_markov": False})
    base = made(tmp_path / "3", kind="rl_only", hyperparameters={"semi_markov": False})
    assert set(methods([base, one, two])) == {
        "RL-GPT (hyperparameters.semi_markov=None)",
        "RL-GPT (hyperparameters.semi_markov=False)",
        "pure RL",
    }


def test_runs_of_different_seeds_that_replay_different_recordings_are_one_method(tmp_path: Path) -> None:
    def replayed(name: str, seed: int, recording: str) -> Run:
        return made(tmp_path / name, seed=seed, llm={"kind": "replay", "transcript": recording})

    first, second = replayed("a", 0, "0.jsonl"), replayed("b", 1, "1.jsonl")
    assert {k: len(v) for k, v in methods([first, second]).items()} == {"RL-GPT": 2}
    other = replayed("c", 0, "2.jsonl")
    assert len(methods([first, second, other])) == 3, "the same seed with two recordings"
    assert page_of([first, second], title="Car").title == "Car"


def test_description_of_an_environment_is_never_part_of_a_method_name(tmp_path: Path) -> None:
    def design(name: str, seed: int = 0, docs: str = "pages ", **config: Any) -> Run:
        return made(tmp_path / name, seed=seed, environment={"goal": "g " * 200, "docs": docs * 900}, **config)

    one, again, other = design("one"), design("again", 1), design("other", docs="other ")
    assert set(methods([one, again])) == {"RL-GPT"}
    assert {k: len(v) for k, v in methods([one, again, other]).items()} == {"RL-GPT (one)": 2, "RL-GPT (other)": 1}
    few, more = design("few", budget=900), design("more", budget=1800)
    assert set(methods([few, more])) == {"RL-GPT (budget=900)", "RL-GPT (budget=1800)"}
    alone = design("alone", kind="rl_only", trainer={"name": "t" * 90})
    long = design("long", kind="rl_only", trainer={"name": "u" * 90})
    assert set(methods([one, alone, long])) == {
        "RL-GPT",
        f"pure RL (trainer.name={'t' * 24}...)",
        f"pure RL (trainer.name={'u' * 24}...)",
    }


def test_method_name_of_a_run_of_an_earlier_version_is_derived_from_its_agents(tmp_path: Path) -> None:
    run = made(tmp_path / "1")
    trainer = {"_target_": "rlgpt.rl.ppo.PPO"}
    run.update(config={"agents": {"kind": "rl_only"}, "trainer": trainer, "hyperparameters": {"envs": 2, "clip": None}})
    assert set(methods([run])) == {"pure RL"}


def test_report_of_an_earlier_version_keeps_the_evaluation_in_the_mode_that_was_chosen(tmp_path: Path) -> None:
    """Earlier versions played the report once in each mode of the policy."""
    sampled, greedy = evaluation(5, 10), evaluation(9, 10, "greedy")
    for acting, kept in (("greedy", greedy), ("sampled", sampled), (None, sampled)):
        run = made(tmp_path / str(acting))
        earlier = {"sampled": sampled, "sharpened": None, "greedy": greedy}
        stored = {name: e and e.model_dump(mode="json") for name, e in earlier.items()}
        text = json.dumps({"iteration": 0, "mode": "policy", "acting": acting, **stored, "dead_loop_rate": 0.5})
        write_atomic(run.folder / "report.json", text)
        assert run.report() == Report(iteration=0, evaluation=kept, dead_loop_rate=0.5)


@pytest.mark.parametrize("acting", [["greedy"], {}, "iteration", 3])
def test_report_of_an_earlier_version_with_an_unknown_mode_is_read_without_an_internal_error(
    tmp_path: Path, acting: Any
) -> None:
    run, sampled = made(tmp_path), evaluation(5, 10)
    stored = {"iteration": 0, "mode": "policy", "acting": acting, "sampled": sampled.model_dump(mode="json")}
    write_atomic(run.folder / "report.json", json.dumps(stored))
    assert run.report() == Report(iteration=0, evaluation=sampled)


def test_figure_with_long_method_names_has_enough_width_for_the_curves() -> None:
    figure = draw({f"RL-GPT ({'long ' * 16}{i})": [[(0, 0.0), (900, 1.0)]] for i in range(3)})
    svg(figure)
    assert figure.axes[0].get_position().width > 0.4


def test_cost_of_a_run_is_the_sum_over_all_exchanges_with_the_language_model(tmp_path: Path) -> None:
    assert bill([]) == (0, 0)
    assert bill([exchange(10, 0.5), exchange(5, 0.25)]) == (15, 0.75)
    assert bill([exchange(10, 0.5), exchange(5, None)]) == (15, None)
    run = made(tmp_path / "1")
    Journal(run.folder / "llm.jsonl").append(exchange(1200, 0.5))
    page = page_of([run])
    assert (page.comparisons[0].rows[0].tokens, page.stories[0].dollars) == (1200, 0.5)
    assert "$0.5000" in table(page)


def test_report_compares_methods_for_each_task_and_shows_the_best_run(tmp_path: Path) -> None:
    runs = [made(tmp_path / str(i), seed=i, wins=i, task=f"a/t{i % 2}") for i in range(4)]
    runs.append(made(tmp_path / "rl", kind="rl_only", task="a/t0"))
    page = page_of(runs)
    assert [c.title for c in page.comparisons] == ["a/t0", "a/t1"]
    assert [(s.task, s.seed) for s in page.stories if s.title.startswith("RL-GPT")] == [("a/t0", 2), ("a/t1", 3)]


def test_report_finds_the_runs_of_a_sweep(tmp_path: Path) -> None:
    for seed in range(2):
        made(tmp_path / "sweep" / str(seed), seed=seed)
    Run.create(tmp_path / "sweep" / "2", task="a/b", seed=2, config={})
    assert len(find([tmp_path / "sweep", tmp_path / "sweep" / "1"])) == 3
    page = write_page([tmp_path / "sweep"], tmp_path / "out" / "page.html")
    assert "Runs without a finished iteration, which are left out: 1" in page.note
    assert (tmp_path / "out" / "page.html").read_text().startswith("<!doctype html>")


def test_report_of_several_runs_leaves_the_page_of_the_first_run_as_it_is(tmp_path: Path) -> None:
    first, second = (made(tmp_path / name).folder for name in ("a", "b"))
    assert main(["report", str(first)]) == 0
    own = (first / "report.html").read_bytes()
    assert main(["report", str(first), str(second)]) == 0
    assert (first / "report.html").read_bytes() == own
    assert (first / "comparison.html").is_file()


def test_report_refuses_a_folder_without_a_run_with_a_finished_iteration(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no run at"):
        find([tmp_path])
    with pytest.raises(RunError, match="rlgpt resume"):
        page_of([Run.create(tmp_path / "1", task="a/b", seed=0, config={})])


def scored(run: Run, score: float | None, **more: object) -> Run:
    """Give ``run`` a report without success, in which each episode has ``score``."""
    told = evaluation(0, 10, has_success=False, score=Score(), **more)
    if score is not None:
        played = [e.model_copy(update={"score": score, "metrics": {"far": score}}) for e in told.episodes]
        told = told.model_copy(update={"episodes": tuple(played)})
    write_atomic(run.folder / "report.json", Report(iteration=0, evaluation=told).model_dump_json())
    return run


@pytest.mark.parametrize("first", [True, False])
def test_report_page_shows_runs_with_and_without_a_success_of_one_task(tmp_path: Path, first: bool) -> None:
    judged = made(tmp_path / "judged")
    runs = [judged, scored(made(tmp_path / "scored", kind="rl_only"), 7.0)]
    page = page_of(runs if first else runs[::-1])
    rows = {row.method: row for row in page.comparisons[0].rows}
    assert rows["pure RL"].success is None
    assert rows["RL-GPT"].score is None
    assert page.comparisons[0].curves == page_of([judged]).comparisons[0].curves, "a score has no success curve"
    assert str(rows["pure RL"].score) == "7.00"
    assert "7.00 [7.00, 7.00]" in render(page), "the interval over the episodes of the run"
    assert {"success", "score"} <= set(table(page).split())


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e308])
def test_report_shows_no_score_when_the_scores_have_no_finite_mean(tmp_path: Path, odd: float) -> None:
    page = page_of([scored(made(tmp_path / "odd"), odd)])
    assert page.comparisons[0].rows[0].score is None
    assert "nan" not in render(page).split("</style>")[1].lower()
    assert "RL-GPT  -" in table(page)


@pytest.mark.parametrize(("size", "embedded"), [(8 << 20, True), ((8 << 20) + 1, False)])
def test_report_names_a_video_that_is_too_large_to_embed(tmp_path: Path, size: int, embedded: bool) -> None:
    run = made(tmp_path)
    film = tmp_path / "videos" / "best.mp4"
    film.parent.mkdir()
    film.write_bytes(b"\0\0\0\0ftypisom")
    os.truncate(film, size)
    page = render(page_of([run]))
    assert ("data:video/mp4" in page, "videos/best.mp4 is larger than 8 MiB" in page) == (embedded, not embedded)


@pytest.mark.parametrize(("wins", "several"), [((5,), False), ((5, 7), True)])
def test_table_of_a_single_run_has_no_range(tmp_path: Path, wins: tuple[int, ...], several: bool) -> None:
    shown = table(page_of([made(tmp_path / str(seed), seed=seed, wins=w) for seed, w in enumerate(wins)]))
    assert ("success (range)" in shown, "[0.50, 0.70]" in shown) == (several, several)
    assert ("0.50 " in shown, "[0.50, 0.50]" in shown) == (not several, False)


def test_run_without_success_and_score_has_a_row_in_the_report(tmp_path: Path) -> None:
    run = made(tmp_path / "neither")
    told = evaluation(0, 10, has_success=False)
    write_atomic(run.folder / "report.json", Report(iteration=0, evaluation=told).model_dump_json())
    page = page_of([run])
    assert "RL-GPT  -" in table(page)
    assert "<html" in render(page)


def test_report_of_a_design_run_shows_goal_rule_trial_and_the_interval_of_its_episodes(tmp_path: Path) -> None:
    episodes = [{"acting": "random", "success": True}, {"acting": "random", "success": False}, "odd"]
    prepared = {"task": {"success": "an end without a crash"}, "trial": {"episodes": episodes}}
    run = made(tmp_path, wins=10, environment={"goal": "Merge.", "prepared": prepared})
    (story,) = page_of([run]).stories
    assert (story.goal, story.rule) == ("Merge.", "an end without a crash")
    assert "1 of 2 episodes of random actions succeeded" in story.tried
    page = render(page_of([run]))
    assert "success: an end without a crash; before the run, 1 of 2 episodes" in page
    assert "[72 %, 100 %] 10 fresh episodes" in page
    odd = made(tmp_path / "odd", environment={"goal": 3, "prepared": [], "trial": 1})
    assert page_of([odd]).stories[0].goal == ""
