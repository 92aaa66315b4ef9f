"""The command line: its import is fast, and every user error gives a message and an exit status."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rlgpt.errors import UnknownNameError

Call = Callable[..., tuple[int, str, str]]

HEAVY = ("torch", "hydra", "omegaconf", "litellm", "numpy", "gymnasium", "matplotlib", "pydantic", "rich", "wasmtime")


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"]])
def test_help_command_does_not_import_slow_packages(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom rlgpt.cli import main\n"
        f"try: main({arguments})\nexcept SystemExit: pass\n"
        f"print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"
    assert "usage: rlgpt" in ran.stdout


def test_call_without_a_command_prints_the_help(rlgpt: Call) -> None:
    status, out, _ = rlgpt()
    assert status == 0
    for command in ("train", "resume", "evaluate", "report", "tasks", "doctor", "new-plugin"):
        assert command in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tarin",), "unknown command 'tarin'. Did you mean 'train'?"),
        (("skills", "foo"), "unknown command 'foo'. Valid: list, remove, show, test."),
        (
            ("bundle", "chek", "x"),
            "unknown command 'chek'. Did you mean 'check'",
        ),
    ],
)
def test_error_about_a_misspelt_command_names_it_and_the_valid_commands(
    rlgpt: Call, arguments: tuple[str, ...], says: str
) -> None:
    status, _, err = rlgpt(*arguments)
    assert status == 2
    assert says in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("train", "jobs=4"), "'jobs=4': jobs is a flag of rlgpt train. Write --jobs 4."),
        (("evaluate", "run", "video=true"), "'video=true': video is a flag of rlgpt evaluate. Write --video."),
    ],
)
def test_override_with_the_name_of_a_flag_is_refused(rlgpt: Call, arguments: tuple[str, ...], says: str) -> None:
    status, _, err = rlgpt(*arguments)
    assert status == 2
    assert says in err


@pytest.mark.parametrize("arguments", [("train", "--sed", "1"), ("tasks", "--foo"), ("report", "x", "--foo")])
def test_command_line_refuses_an_unknown_flag(rlgpt: Call, arguments: tuple[str, ...]) -> None:
    status, _, err = rlgpt(*arguments)
    assert status == 2
    assert "has no argument" in err


@pytest.mark.parametrize("command", ["resume", "evaluate", "report"])
def test_commands_on_runs_refuse_a_folder_without_a_run(rlgpt: Call, command: str, tmp_path: Path) -> None:
    status, _, err = rlgpt(command, str(tmp_path / "nowhere"))
    assert status == 2
    assert "there is no run at" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 99}', '{"schema_version": 1, "task": 3}'])
@pytest.mark.parametrize("command", ["resume", "evaluate", "report"])
def test_commands_on_runs_refuse_a_corrupt_run_file_and_leave_it_unchanged(
    rlgpt: Call, command: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(text)
    status, _, err = rlgpt(command, str(tmp_path))
    assert status == 2
    assert "run.json" in err
    assert "Traceback" not in err
    assert (tmp_path / "run.json").read_text() == text


def test_tasks_command_lists_the_tasks_of_a_pattern_as_text_or_json(rlgpt: Call) -> None:
    status, out, _ = rlgpt("tasks", "grid/*")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ["grid/door", "grid/key"]
    assert '"id": "grid/door"' in rlgpt("tasks", "grid/d*", "--json")[1]


def test_tasks_command_refuses_a_pattern_that_matches_no_task(rlgpt: Call) -> None:
    status, _, err = rlgpt("tasks", "grid/doors*")
    assert status == 2
    assert "grid/door" in err
    status, _, err = rlgpt("tasks", "gird/*")
    assert status == 2
    assert "unknown plugin 'gird'. Did you mean 'grid'? Valid: " in err
    assert "No installed plugin has this name." in err


def test_evaluate_command_refuses_a_negative_seed(rlgpt: Call) -> None:
    assert rlgpt("evaluate", "run", "--seed", "-4") == (
        2,
        "",
        "rlgpt: --seed -4: the number must be at least 0.\n",
    )


@pytest.mark.parametrize("command", [("resume",), ("evaluate",)])
def test_command_on_one_run_names_the_runs_in_the_folder_of_a_sweep(
    rlgpt: Call, command: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("0", "1"):
        (tmp_path / "sweep" / name).mkdir(parents=True)
        (tmp_path / "sweep" / name / "run.json").write_text("{}")
    status, _, err = rlgpt(*command, str(tmp_path / "sweep"))
    assert status == 2
    assert f"such as {tmp_path}/sweep/0 or {tmp_path}/sweep/1." in err


def test_skills_command_refuses_the_folder_of_a_run_and_tells_that_a_library_is_empty(
    rlgpt: Call, tmp_path: Path
) -> None:
    (tmp_path / "library" / "plan").mkdir(parents=True)
    status, out, _ = rlgpt("skills", "list", str(tmp_path / "library"))
    assert status == 0
    assert "contains no skill yet" in out
    (tmp_path / "library" / "run.json").write_text("{}")
    status, _, err = rlgpt("skills", "list", str(tmp_path / "library"))
    assert status == 2
    assert "is the folder of a run, not a library" in err


def test_tasks_command_with_a_plugin_name_suggests_the_pattern_of_that_plugin(rlgpt: Call) -> None:
    status, _, err = rlgpt("tasks", "grid")
    assert status == 2
    assert "`rlgpt tasks 'grid/*'`" in err


def test_unknown_name_error_does_not_list_forty_valid_names() -> None:
    names = [f"car/road_{i}" for i in range(40)]
    said = str(UnknownNameError("task", "car/road_7x", names, listed="`rlgpt tasks` lists them."))
    assert "Did you mean 'car/road_7'" in said
    assert "40 are valid: `rlgpt tasks` lists them." in said
    assert said.count("car/road_") == 4
    assert "Valid: car/road_0, " in str(UnknownNameError("task", "car/road_7x", names))


@pytest.mark.usefixtures("broken")
def test_tasks_command_names_a_plugin_that_cannot_be_imported_and_lists_the_others(rlgpt: Call) -> None:
    status, out, err = rlgpt("tasks")
    assert status == 0
    assert "grid/door" in out
    assert "'crooked' is broken" in err
    assert "a_module_that_is_not_there" in err


@pytest.mark.usefixtures("broken")
def test_train_command_fails_when_the_plugin_of_its_task_cannot_be_imported(rlgpt: Call) -> None:
    status, _, err = rlgpt("train", "task=crooked/any", "trainer=ppo")
    assert status == 2
    assert "a_module_that_is_not_there" in err
    assert "Traceback" not in err


def test_tasks_command_without_plugins_suggests_new_plugin(rlgpt: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLGPT_DISABLE_PLUGINS", "1")
    status, out, _ = rlgpt("tasks")
    assert status == 0
    assert "new-plugin" in out


def test_version_flag_prints_the_version(rlgpt: Call) -> None:
    assert rlgpt("--version")[:2] == (0, "0.1.0\n")
