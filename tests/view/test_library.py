"""The data of runs that the live page receives, for finished, unfinished, damaged and hostile run folders."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from folders import append, exchange, iteration, make_planned_run, make_run, stories, write_stages
from rlgpt.domain import CodedAction, ComparedPlan, GoalGraph, Rehearsal, SubGoal
from rlgpt.errors import ConfigError, RlgptError, RunError, UnknownNameError
from rlgpt.files import Folder
from rlgpt.llm.exchange import Forgotten
from rlgpt.observers.entries import FILE
from rlgpt.report.graph import markup
from rlgpt.report.write import page_of
from rlgpt.runs import Run
from rlgpt.view.growing import GrowingLines
from rlgpt.view.library import Library
from rlgpt.view.plain import plain
from rlgpt.view.progress import Progress


def only(library: Library) -> str:
    (line,) = library.runs()
    return str(line["id"])


def test_list_of_rlgpt_view_contains_each_run(tmp_path: Path) -> None:
    make_run(tmp_path / "sweep" / "0")
    make_run(tmp_path / "sweep" / "1", seed=1, status="stopped")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    library = Library([tmp_path])
    lines = {line["name"]: line for line in library.runs()}
    assert {name: line["status"] for name, line in lines.items()} == {
        "sweep/0": "finished",
        "sweep/1": "stopped",
        "broken": "unreadable",
    }
    first = lines["sweep/0"]
    assert (first["group"], first["method"], first["success"], first["steps"]) == ("sweep", "RL-GPT", 0.85, 11_020)
    bills = library.bills([line["id"] for line in lines.values()])
    assert (bills[first["id"]]["tokens"], bills[first["id"]]["dollars"]) == (360, 0.03)
    assert bills[first["id"]]["report"]["episodes"] == 20
    assert bills[first["id"]]["report"]["interval"] == pytest.approx([0.64, 0.948], abs=0.001), "Wilson: 17 of 20"
    assert "fault" in bills[lines["broken"]["id"]]


def test_run_page_has_plan_code_learning_and_dialogue(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    library = Library([tmp_path])
    key = only(library)
    run = library.run(key)
    assert run["report"]["success"] == 0.85
    assert run["steps"]["total"] == 11_020
    assert run["settings"]["agents.name"] == "slow_fast_critic"
    assert run["stage"] == {"name": "train", "facts": {"iteration": 0}}
    assert run["own"] is True
    grasp, pull = run["iterations"][0]["plan"]["parts"]
    assert (grasp["became"], grasp["tone"]) == ("kept, 2 versions", "good")
    assert pull["became"] == "learned"
    turn = library.iteration(key, 0)
    assert [e["label"] for e in turn["evaluations"]] == ["code alone", "selection, sampled"]
    assert turn["critique"]["summary"].startswith("The handle is reached")
    assert turn["learning"] == [["searched", "40 episodes, 50% succeeded, in the first 4,500 steps: reach 0.2"]]

    repair = library.attempt(key, 0, "actions", "grasp_handle", 1)
    assert ["add", "+    yield move_to(x=x - reach, y=y, z=z)  # stand off first"] in [list(d) for d in repair["diff"]]
    assert "".join(t for _, t in repair["source"][0]) == "def run(reach=0.1):"
    assert repair["review"]["findings"][0]["problem"] == "The hand stops 3 cm short."
    assert [d["calls"] for d in repair["decisions"]] == [0, 2]
    played = library.decision(key, 0, "grasp_handle", 1, 1)
    assert (played["before"]["hand"], played["after"]["hand"]) == ([0.1, 0.2], [0.4, 0.2])
    assert played["calls"][1]["outcome"] == {"holding": False}
    (review,) = repair["review_exchanges"]
    said = library.exchange(key, review)
    assert said["messages"][0]["images"][0].startswith("data:image/png;base64,")
    assert (said["reply"], said["prompt_tokens"], said["seconds"]) == ("A plan.", 100, 2.5)


def test_live_page_shows_the_finished_stages_of_an_unfinished_iteration(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", task="grid/door", seed=0, config={})
    library = Library([tmp_path])
    key = only(library)
    assert library.run(key)["iterations"] == []
    made = iteration(0)
    run.rewrite("iterations/0/plan", made.plan)
    (grasp, pull) = library.run(key)["iterations"][0]["plan"]["parts"]
    assert (grasp["became"], pull["became"]) == ("not written yet", "to be learned")
    write_stages(run, made, finished=False)
    assert library.run(key)["iterations"][0]["plan"]["parts"][0]["became"] == "kept, 2 versions"
    assert library.iteration(key, 0)["evaluations"] == []
    append(run, "llm.jsonl", exchange())
    assert [e["number"] for e in library.exchanges(key)] == [0]
    append(run, "llm.jsonl", exchange(number=1))
    assert [e["attempt"] for e in library.exchanges(key)] == [0, 1]


def test_live_page_shows_the_plans_of_an_iteration_while_and_after_they_are_compared(tmp_path: Path) -> None:
    run, made = Run.create(tmp_path / "run", task="grid/door", seed=0, config={}), iteration(0)
    library, here = Library([tmp_path]), "iterations/0/plans"
    key = only(library)
    other = made.plan.model_copy(update={"sub_actions": made.plan.sub_actions[:1]})
    for number, plan in enumerate((other, made.plan)):
        run.rewrite(f"{here}/{number}/plan", plan)
    (attempt, *_) = made.rehearsals["grasp_handle"]
    run.rewrite(f"{here}/0/actions/grasp_handle/0", attempt)
    append(run, "llm.jsonl", exchange(role="review"), exchange(role="review", plan=1))
    (shown,) = library.run(key)["iterations"]
    assert [(p["number"], p["names"], p["rounds"], p["fate"]) for p in shown["plans"]] == [
        (0, ["grasp_handle"], [], ("", "")),
        (1, ["grasp_handle", "pull"], [], ("", "")),
    ]
    assert len(shown["plan"]["parts"]) == 1
    assert library.attempt(key, 0, "actions", "grasp_handle", 0)["review_exchanges"] == [0]

    run.rewrite(f"{here}/1/actions/grasp_handle/0", attempt)
    for number, wins in ((0, 1), (1, 4)):
        run.rewrite(f"{here}/{number}/rounds/0", stories.evaluation(wins, 5, "code"))
    (shown,) = library.run(key)["iterations"]
    assert [p["rounds"] for p in shown["plans"]] == [["1 of 5"], ["4 of 5"]]
    plans = [
        ComparedPlan(number=n, plan=made.plan, rounds=(stories.evaluation(w, 5, "code"),), kept=n == 1)
        for n, w in ((0, 1), (1, 4))
    ]
    run.once(here, tuple[ComparedPlan, ...], lambda: tuple(plans))
    (shown,) = library.run(key)["iterations"]
    assert [p["fate"] for p in shown["plans"]] == [("dropped after round 1", "warn"), ("goes on", "good")]
    assert len(shown["plan"]["parts"]) == 2
    assert library.attempt(key, 0, "actions", "grasp_handle", 0)["review_exchanges"] == [1]


def test_page_of_a_run_with_sub_goals_has_their_graph_and_leads_to_what_each_became(tmp_path: Path) -> None:
    make_planned_run(tmp_path / "run")
    library = Library([tmp_path])
    key = only(library)
    graph = library.run(key)["graph"]
    assert [(n["name"], n["needs"], n["standing"]) for n in graph["nodes"]] == [
        ("key_held", [], False),
        ("alive", [], True),
        ("door_open", ["key_held"], False),
        ("goal_reached", ["door_open"], False),
    ]
    held, alive, door, _ = graph["nodes"]
    assert (held["calls"], held["done"], held["failed"], held["alone"], held["iterations"]) == (2, 2, 0, 0.5, 1)
    assert (door["calls"], door["done"], door["failed"]) == (2, 1, 1)
    assert (alive["calls"], alive["alone"], alive["run"]) == (0, None, None)
    assert (graph["episodes"], graph["successes"]) == (2, 1)
    (line,) = library.comparison([key], "steps", "run")["lines"]
    assert (line["points"], line["end"], line["last"]) == (1, 22_140, "0.50"), "the success of the whole graph"

    part = library.run(door["run"])
    assert (part["name"], part["status"], part["whole"]) == ("run: door_open", "finished", {"id": key, "name": "run"})
    assert part["iterations"][0]["plan"]["parts"][0]["became"] == "kept, 2 versions"
    assert library.attempt(door["run"], 0, "actions", "grasp_handle", 1)["diff"]
    assert (part["bill"]["calls"], library.run(key)["bill"]["calls"]) == (1, 2), "the dialogue about this sub-goal"
    assert library.exchange(door["run"], 0)["reply"] == "A plan."
    for act in (library.stop, library.resume):
        with pytest.raises(ConfigError, match="stop or resume the whole run"):
            act(door["run"])
    assert len(library.runs()) == 1, "a sub-goal has no line in the list"


def test_page_and_report_draw_the_same_graph_of_sub_goals(tmp_path: Path) -> None:
    run = make_planned_run(tmp_path / "run")
    library = Library([tmp_path])
    drawing = library.run(only(library))["graph"]["drawing"]
    (story,) = page_of([run]).stories
    assert story.graph is not None
    assert markup(drawing) == story.graph.drawing
    names = [shape[2][0] for box in drawing[2] for shape in box[2] if shape[1].get("class") == "name"]
    assert names == ["key_held", "alive", "door_open", "goal_reached"]
    assert sum(shape[0] == "path" for shape in drawing[2]) == 4, "two arrows with their tips"


def test_graph_in_which_sub_goals_have_many_needs_is_drawn(tmp_path: Path) -> None:
    """This graph has more than two million ways from its first to its last sub-goal."""
    names = [f"goal_{n}" for n in range(24)]
    nodes = [
        SubGoal(name=n, goal="g", done="d", horizon=9, needs=tuple(names[max(0, i - 8) : i]))
        for i, n in enumerate(names)
    ]
    run = Run.create(tmp_path / "run", task="grid/door", seed=0, config={})
    run.rewrite("plan/0", GoalGraph(nodes=tuple(nodes)))
    library = Library([tmp_path])
    shown = library.run(only(library))["graph"]
    assert [node["name"] for node in shown["nodes"]] == names


def test_run_whose_record_is_a_link_does_not_hide_other_runs(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "run")
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "runs" / "strange").mkdir()
    (tmp_path / "runs" / "strange" / "run.json").symlink_to(tmp_path / "secret")
    lines = {line["name"]: line for line in Library([tmp_path / "runs"]).runs()}
    assert {name: line["status"] for name, line in lines.items()} == {"run": "finished", "strange": "unreadable"}
    assert "it is a link" in lines["strange"]["reason"]


def test_learning_curves_can_be_drawn_over_steps_time_or_dollars(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    library = Library([tmp_path])
    key = only(library)
    ends = {axis: library.comparison([key], axis, "run")["lines"][0]["end"] for axis in ("steps", "seconds", "dollars")}
    assert ends == {"steps": 6000, "seconds": 17, "dollars": 0.01}, "the pause between the sessions does not count"
    assert library.figure([key], "seconds", "run", "dark").startswith(b"<svg")


@pytest.mark.parametrize("episodes", [0, -2])
def test_learning_curve_has_no_point_of_a_training_without_episodes(tmp_path: Path, episodes: int) -> None:
    run = make_run(tmp_path / "run")
    numbers = [{"train/episodes": n, "train/success": 1.0} for n in (episodes, 3)]
    entries = [{"kind": "numbers", "step": step, "numbers": n} for step, n in enumerate(numbers)]
    (run.folder / FILE).write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    assert Progress(run).curve("steps") == [(1, 1.0)]


def test_comparison_names_the_settings_that_differ(tmp_path: Path) -> None:
    for n, budget in enumerate((30_000, 30_000, 60_000)):
        make_run(tmp_path / str(n), seed=n, budget=budget)
    library = Library([tmp_path])
    keys = [line["id"] for line in sorted(library.runs(), key=lambda line: line["name"])]
    found = library.comparison(keys, "steps", "method")
    assert found["differences"] == [{"name": "budget", "values": ["30000", "30000", "60000"]}]
    assert sorted(line["runs"] for line in found["lines"]) == [1, 2]
    with pytest.raises(ConfigError, match="0 runs are given"):
        library.comparison([], "steps", "run")


@pytest.mark.parametrize(
    "ask",
    [
        lambda lib, key: lib.run("0" * 16),
        lambda lib, key: lib.iteration(key, 9),
        lambda lib, key: lib.attempt(key, 0, "actions", "../../../secret", 0),
        lambda lib, key: lib.attempt(key, 0, "..", "actions", 0),
        lambda lib, key: lib.attempt(key, 0, "actions", "grasp_handle", 9),
        lambda lib, key: lib.decision(key, 0, "grasp_handle", 0, 9),
        lambda lib, key: lib.exchange(key, 99),
        lambda lib, key: lib.video(key, "../run.json"),
    ],
)
def test_request_for_an_unknown_run_iteration_or_action_gives_a_readable_error(tmp_path: Path, ask: Any) -> None:
    make_run(tmp_path / "run")
    library = Library([tmp_path])
    with pytest.raises(RlgptError):
        ask(library, only(library))


def test_live_page_reads_no_file_of_a_run_through_a_link(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs" / "run")
    (tmp_path / "secret").write_text(exchange("canary").model_dump_json() + "\n")
    library = Library([tmp_path / "runs"])
    key = only(library)
    for name in ("llm.jsonl", FILE):
        (run.folder / name).unlink()
        (run.folder / name).symlink_to(tmp_path / "secret")
    (run.folder / "videos").mkdir()
    (run.folder / "videos" / "x.mp4").symlink_to(tmp_path / "secret")
    for ask in (lambda: library.exchanges(key), lambda: library.run(key), lambda: library.video(key, "x.mp4")):
        with pytest.raises(RlgptError, match="is a link"):
            ask()


def test_any_json_line_in_a_run_made_by_others_is_shown_or_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    odd = [
        *("1", "[]", "{}", '{"request": 1, "reply": {}}', "{", '"x"', "[" * 5000, '{"a": 1e999}'),
        '{"request": {"key": [], "messages": [1, {"images": ["javascript:1", 7]}]}, "reply": {"usage": [1]}}',
        '{"kind": "numbers", "time": 7, "step": "x", "numbers": {"train/success": "x", "train/score": 1e308}}',
        '{"kind": "stage", "facts": [1], "name": {}, "step": -1}',
        Forgotten(time="t", forgotten=exchange().request.key).model_dump_json(),
    ]
    for name in ("llm.jsonl", FILE):
        with (run.folder / name).open("a") as file:
            file.writelines(f"{line}\n" for line in odd)
    library = Library([tmp_path])
    key = only(library)
    json.dumps([library.run(key), library.exchanges(key)], allow_nan=False)
    assert library.exchange(key, 3)["messages"][0]["images"] == [], "no other address than a PNG in the file"
    for axis in ("steps", "seconds", "dollars"):
        library.figure([key], axis, "run", "light")


def test_plain_converts_any_value_to_json_of_limited_length_without_control_characters() -> None:
    sent = plain({"a\u202e": float("nan"), "b": [float("inf"), 1 << 70, "x" * 30_000, {1, 2}, object]})
    text = json.dumps(sent, allow_nan=False)
    assert "a\\u202e" in sent
    assert "\u202e" not in text
    assert sent["b"][:2] == [None, float(1 << 70)]
    assert len(text) < 25_000


def test_growing_file_is_read_incrementally_and_from_the_start_after_a_replacement(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines: GrowingLines[Any] = GrowingLines(Folder(tmp_path, RunError), path.name, lambda line: line)
    assert lines.update() == []
    path.write_text("1\n2\n3")
    assert lines.update() == [1, 2], "the last line is still being written"
    with path.open("a") as file:
        file.write("3\n[4]\n")
    assert lines.update() == [1, 2, 33, [4]]
    assert lines.line(3) == [4]
    path.write_text("9\n8\n")
    assert lines.update(seconds=0) == [9]
    assert not lines.complete
    assert lines.update() == [9, 8]
    assert lines.complete
    with pytest.raises(RunError, match="no line 3"):
        lines.line(3)


def test_growing_file_that_another_thread_reads_returns_its_values_so_far(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("1\n2\n3\n")
    reached, go_on = Event(), Event()

    def wait(line: Any) -> Any:
        if line == 2:
            reached.set()
            assert go_on.wait(60)
        return line

    lines: GrowingLines[Any] = GrowingLines(Folder(tmp_path, RunError), "x.jsonl", wait)
    other = Thread(target=lines.update)
    other.start()
    assert reached.wait(60)
    assert (lines.update(seconds=0), lines.complete) == ([1], False)
    go_on.set()
    other.join(60)
    assert (lines.update(seconds=60), lines.complete) == ([1, 2, 3], True)


def test_live_page_limits_the_size_of_sources_and_the_number_of_decisions(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    action = CodedAction(name="grasp_handle", doc="d", source="x = 1\n" * 20_000)
    run.rewrite("iterations/0/actions/grasp_handle/0", Rehearsal(attempt=0, action=action))
    library = Library([tmp_path])
    shown = library.attempt(only(library), 0, "actions", "grasp_handle", 0)
    assert len(json.dumps(shown)) < 400_000


def test_error_about_an_unknown_run_says_to_reload_the_page(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Reload the page"):
        Library([tmp_path]).run("x")


def test_folder_of_several_runs_has_their_success_with_an_interval(tmp_path: Path) -> None:
    for n in range(5):
        make_run(tmp_path / "sweep" / str(n), seed=n).update(success_rate=n / 4)
    make_run(tmp_path / "alone" / "run")
    make_run(tmp_path / "mixed" / "a")
    make_run(tmp_path / "mixed" / "b", status="stopped", agents={"name": "rl_only"})
    found = Library([tmp_path]).sweeps()
    assert set(found) == {"sweep", "mixed"}, "a folder with one run is no sweep"
    sweep, mixed = found["sweep"], found["mixed"]
    assert (sweep["runs"], sweep["steps"], sweep["statuses"]) == (5, 5 * 11_020, {"finished": 5})
    assert sweep["success"]["point"] == 0.5
    assert 0 <= sweep["success"]["low"] < 0.5 < sweep["success"]["high"] <= 1
    assert set(mixed["methods"]) == {"RL-GPT", "pure RL"}
    assert mixed["success"] is None, "a mean over methods says nothing"


def test_comparison_names_the_runs_without_a_curve_and_the_settings_that_a_run_lacks(tmp_path: Path) -> None:
    make_run(tmp_path / "a", only_here=1)
    Run.create(tmp_path / "b", task="grid/door", seed=0, config={})
    library = Library([tmp_path])
    keys = [line["id"] for line in sorted(library.runs(), key=lambda line: line["name"])]
    found = library.comparison(keys, "seconds", "run")
    assert (found["without"], found["crowded"]) == (["b"], 0)
    assert {"name": "only_here", "values": ["1", "-"]} in found["differences"]


def test_frames_of_a_rehearsal_have_their_moments(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    library = Library([tmp_path])
    repair = library.attempt(only(library), 0, "actions", "grasp_handle", 1)
    assert [m["step"] for m in repair["moments"]] == [5, 17, 21]
    assert repair["moments"][1]["text"] == "after move_to (primitive 1)"


def test_learned_part_of_a_finished_iteration_without_training_was_not_needed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    library = Library([tmp_path])
    (run.folder / "iterations" / "0" / "training.json").unlink()
    _, pull = library.run(only(library))["iterations"][0]["plan"]["parts"]
    assert pull["became"] == "not needed"
