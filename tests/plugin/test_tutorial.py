"""docs/tutorials/plugin.md: each block is the file that its first line names, and the contract tests pass after each
step.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from rlgpt.plugin.scaffold import create

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "plugin.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def _run(root: Path, *arguments: str) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *(p for p in sys.path if p)])}
    ran = subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, text=True, env=env, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]


def test_contract_tests_pass_after_each_step_of_the_plugin_tutorial(tmp_path: Path) -> None:
    create("mountain", tmp_path)
    root = tmp_path / "rlgpt-mountain"
    (root / "rlgpt_mountain" / "env.py").unlink()
    files = [(m[1], block) for block in BLOCKS if (m := re.match(r"# (rlgpt_mountain/\w+\.py)\n", block))]
    assert [f for f, _ in files] == [f"rlgpt_mountain/{n}.py" for n in ("plugin", "skills", "plugin")]
    for file, block in files:
        (root / file).write_text(block)
        if file.endswith("plugin.py"):
            _run(root, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider")
    scripts = [b for b in BLOCKS if not b.startswith("# rlgpt_mountain/")]
    assert len(scripts) == 2
    _run(root, "-c", "\n".join(scripts))


def test_contract_tests_refuse_the_primitive_of_the_tutorial_that_solves_the_task_alone(tmp_path: Path) -> None:
    create("mountain", tmp_path)
    root = tmp_path / "rlgpt-mountain"
    (root / "rlgpt_mountain" / "plugin.py").write_text(BLOCKS[0])
    (root / "refused.py").write_text(
        """
import pytest
from rlgpt.plugin import Primitive
from rlgpt.testing import PluginContract
from rlgpt_mountain.plugin import MountainPlugin

def push_along(ctx):
    for _ in range(200):
        yield 2 if ctx.observation[1] >= 0 else 0

class Solving(MountainPlugin):
    def primitives(self, task):
        return (Primitive("push_along", "Push the way the car moves.", push_along, max_steps=200),)

(task,) = Solving().tasks().values()
with pytest.raises(AssertionError, match="alone succeeds in 20 of 20 episodes"):
    PluginContract().test_no_single_call_is_a_solution(Solving(), task)
"""
    )
    _run(root, "refused.py")
