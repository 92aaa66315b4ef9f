"""Crashes and kills of real workers raise a clear error. The next reset starts a new worker, and no process remains."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.envs import WorkerEnv, WorkerTimeouts
from rlgpt.errors import WorkerError

from .conftest import Recipes, gone, handles

CRASHES = [
    ("die", ["was killed by signal 9 (SIGKILL)"]),
    ("exit", ["ended with exit status 3"]),
    ("raise", ["raised ValueError: the world is flat", "worlds.py", "in trouble"]),
    pytest.param("leave", ["raised SystemExit: goodbye"], marks=pytest.mark.slow),
    pytest.param("cut", ["raised PermissionError"], marks=pytest.mark.slow),
    ("hang", ["did not answer within 1 s and was killed"]),
    ("shout", ["ended with exit status 4", "| the end"]),
    pytest.param("orphan", ["ended with exit status 5"], marks=pytest.mark.slow),
]
QUICK = WorkerTimeouts(step=1.0, reset=20.0, close=3.0)


def until(done: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.02)
    return done()


@pytest.mark.parametrize(("how", "words"), CRASHES)
def test_worker_error_explains_a_crash_and_the_next_reset_starts_a_new_worker(
    recipe: Recipes, tmp_path: Path, how: str, words: list[str]
) -> None:
    mark = str(tmp_path / "happened")
    of = {"timeouts": QUICK if how == "hang" else WorkerTimeouts(close=3.0)}
    env = WorkerEnv(recipe("trouble", how=how, mark=mark, of=of))
    first = env.reset(seed=0)[1]["pid"]
    assert env.pid == first
    env.step(0)
    with pytest.raises(WorkerError) as error:
        env.step(0)
    text = str(error.value)
    shouted = [] if how == "shout" else [f"| about to {how}"]
    for word in [*words, *shouted, "worlds.py:trouble", f"worker {first}", "asked to step"]:
        assert word in text
    assert "\x1b" not in text
    assert gone(first)
    with pytest.raises(WorkerError, match="call reset"):
        env.step(0)
    second = env.reset(seed=0)[1]["pid"]
    assert second != first
    assert env.restarts == 1
    assert [env.step(0)[0].item() for _ in range(3)] == [1, 2, 3]
    env.close()
    assert gone(second)


def test_output_of_a_worker_names_a_value_of_info_that_is_left_out(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("everything"))
    env.reset(seed=0)
    env.action_space.seed(0)
    env.step(env.action_space.sample())
    os.kill(env.pid, signal.SIGKILL)
    with pytest.raises(WorkerError) as error:
        env.step(env.action_space.sample())
    lines = str(error.value).splitlines()
    assert "  | info['object'] is left out: Everything cannot be sent" in lines
    assert "  | info['numbered'] is left out: the key 3 of a dict is not text and cannot be sent" in lines
    env.close()


def test_worker_restarts_are_limited_until_an_episode_finishes(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("trouble", how="exit", of={"restarts": 2}))
    for _ in range(2):
        env.reset()
        env.step(0)
        with pytest.raises(WorkerError, match="exit status 3"):
            env.step(0)
    env.reset()
    os.kill(env.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="SIGKILL"):
        env.step(0)
    with pytest.raises(WorkerError, match="restarted 2 times without finishing an episode"):
        env.reset()
    assert env.restarts == 2

    steady = WorkerEnv(recipe("trouble", how="", when="never", of={"restarts": 1}))
    for count in range(3):
        steady.reset()
        while not steady.step(0)[2]:
            pass
        os.kill(steady.pid, signal.SIGKILL)
        with pytest.raises(WorkerError):
            steady.step(0)
        assert steady.restarts == count
    steady.close()


def test_worker_restarts_are_counted_again_after_an_episode_that_a_wrapper_ended(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("trouble", how="", when="never", of={"restarts": 1}))
    for count in range(3):
        env.reset()
        env.step(0)
        env.reset()
        os.kill(env.pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="SIGKILL"):
            env.step(0)
        assert env.restarts == count
    env.close()


def test_reset_of_a_closed_worker_environment_raises_an_error_although_crashes_truncate(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("trouble", how="", when="never", of={"on_crash": "truncate"}))
    env.close()
    with pytest.raises(WorkerError, match="was closed"):
        env.reset()


def test_crash_of_a_worker_truncates_the_episode_when_the_recipe_requests_truncation(
    recipe: Recipes, tmp_path: Path
) -> None:
    of = {"on_crash": "truncate"}
    env = WorkerEnv(recipe("trouble", how="exit", mark=str(tmp_path / "a"), of=of))
    env.reset(seed=0)
    assert env.step(0)[0].item() == 1
    seen, reward, terminated, truncated, info = env.step(0)
    assert (seen.item(), reward, terminated, truncated) == (1, 0.0, False, True)
    assert "exit status 3" in info["crash"]
    assert env.reset(seed=0)[0].item() == 0
    assert env.restarts == 1
    env.close()

    env = WorkerEnv(recipe("trouble", how="exit", when="reset", mark=str(tmp_path / "b"), of=of))
    assert env.reset(seed=0)[0].item() == 0
    assert env.restarts == 1
    env.close()

    env = WorkerEnv(recipe("trouble", how="exit", when="reset", of={**of, "restarts": 2}))
    with pytest.raises(WorkerError, match="asked to reset, ended with exit status 3"):
        env.reset(seed=0)
    assert env.restarts == 2
    env.close()


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("trouble", {"how": "raise", "when": "start"}, ["raised ValueError: the world is flat", "asked to make"]),
        ("trouble", {"how": "exit", "when": "start"}, ["exit status 3", "asked to make", "about to exit"]),
        ("trouble", {"wrong": 1}, ["raised TypeError", "wrong"]),
        ("nothing", {}, ["raised AttributeError", "nothing"]),
        ("huge", {}, ["asked to make", "has 4,294,967,296 bytes; at most 67,108,864", "space_bytes"]),
        ("strange", {}, ["Graph cannot be sent", "Valid: Dict"]),
        ("everything", {"of": {"python": "/nowhere/python"}}, ["no interpreter '/nowhere/python'"]),
        ("everything", {"of": {"python": "/bin/false"}}, ["exit status 1", "asked to make"]),
        ("everything", {"of": {"folder": "/nowhere"}}, ["cannot start", "/nowhere"]),
        ("everything", {"of": {"factory": "/nowhere/x.py:make"}}, ["FileNotFoundError", "/nowhere/x.py"]),
    ],
)
def test_worker_error_explains_a_failed_start(
    recipe: Recipes, name: str, known: dict[str, Any], words: list[str]
) -> None:
    before = handles()
    with pytest.raises(WorkerError) as error:
        WorkerEnv(recipe(name, **known))
    for word in words:
        assert word in str(error.value)
    assert not [h for h in handles() - before if "memfd" not in h]


@pytest.mark.parametrize(("how", "word"), [("shape", "has shape (2,); its space says (1,)"), ("dtype", "has dtype")])
def test_observation_with_another_shape_or_dtype_than_its_space_raises_a_worker_error(
    recipe: Recipes, how: str, word: str
) -> None:
    env = WorkerEnv(recipe("wrong", how=how))
    env.reset()
    with pytest.raises(WorkerError) as error:
        env.step(0)
    assert f"observation {word}" in str(error.value)
    env.close()


def test_float64_observation_is_cast_to_the_dtype_of_its_space(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("wrong", how="range"))
    env.reset()
    assert env.step(0)[0].dtype == "float32"
    env.close()


LIES = {
    "json": b"\x00\x00\x00\x02{]",
    "list": b"\x00\x00\x00\x02[]",
    "deep": b"\x00\x03\x0d\x40" + b"[" * 200_000,
    "endless": b"\xff\xff\xff\xff{}",
    "text": b"\x00\x00\x00\x05\xff\xff\xff\xff\xff",
    "empty": b"\x00\x00\x00\x02{}",
    "half": b"\x00\x00\x00\x09{",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_invalid_answer_of_a_worker_raises_a_worker_error(tmp_path: Path, recipe: Recipes, lie: bytes) -> None:
    """The environment itself writes the invalid answer to the connection of the worker."""
    (tmp_path / "lie").write_bytes(lie)
    path = tmp_path / "liar.py"
    path.write_text(f"""
import os
def make():
    links = [f"/proc/self/fd/{{handle}}" for handle in range(3, 30)]
    found = [link for link in links if os.path.lexists(link) and os.readlink(link).startswith("socket")]
    os.write(int(found[0].split("/")[-1]), open({str(tmp_path / "lie")!r}, "rb").read())
    os._exit(0)
""")
    with pytest.raises(WorkerError, match=r"invalid answer|exit status 0"):
        WorkerEnv(recipe("make", of={"factory": f"{path}:make"}))


def test_closing_a_worker_env_ends_its_processes_and_closes_its_file_descriptors(recipe: Recipes) -> None:
    gc.collect()
    before = handles()
    env = WorkerEnv(recipe("parent"))
    pids = env.reset()[0].tolist()
    assert not any(gone(pid) for pid in pids)
    env.close()
    env.close()
    assert until(lambda: all(gone(pid) for pid in pids))
    with pytest.raises(WorkerError, match="was closed"):
        env.reset()
    with pytest.raises(WorkerError, match="was closed"):
        env.step(0)
    del env
    gc.collect()
    assert not handles() - before


def test_worker_process_ends_when_its_worker_env_is_garbage_collected(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("parent"))
    pids = env.reset()[0].tolist()
    del env
    gc.collect()
    assert until(lambda: all(gone(pid) for pid in pids))


@pytest.mark.parametrize("doing", ["nothing", "a step that hangs"])
def test_worker_process_ends_when_its_parent_is_killed(recipe: Recipes, doing: str) -> None:
    """The test kills the parent, so that the parent cannot end the worker itself."""
    step = "env.step(0)" if doing != "nothing" else "time.sleep(1000)"
    source = f"""
import time
from rlgpt.envs import Recipe, WorkerEnv
env = WorkerEnv(Recipe.model_validate_json({recipe("parent").model_dump_json()!r}))
print(*env.reset()[0].tolist(), flush=True)
{step}
"""
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(text) for text in parent.stdout.readline().split()]
        assert len(pids) == 2
        time.sleep(0.2)
        assert not any(gone(pid) for pid in pids)
        parent.kill()
    assert until(lambda: gone(pids[0]))
    if doing != "nothing":
        assert until(lambda: gone(pids[1]))
    else:
        os.kill(pids[1], signal.SIGKILL)


def test_closing_a_forked_copy_of_a_worker_env_does_not_end_the_worker(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("trouble", how="", when="never"))
    env.reset()
    copy = os.fork()
    if not copy:
        env.close()
        os._exit(0)
    assert os.waitpid(copy, 0)[1] == 0
    assert env.step(0)[0].item() == 1
    env.close()


def test_keyboard_interrupt_during_a_step_ends_the_worker(recipe: Recipes) -> None:
    env = WorkerEnv(recipe("trouble", how="hang"))
    pid = env.reset()[1]["pid"]
    env.step(0)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        env.step(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert gone(pid)
    assert env.reset()[1]["pid"] != pid
    env.close()
