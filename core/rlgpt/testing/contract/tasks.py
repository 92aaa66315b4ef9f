"""Laws that need no environment, about tasks, knowledge and defaults, and about the cost of the plugin's import."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib import import_module

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.manager import PluginManager
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.testing.contract.causes import needs
from rlgpt.testing.contract.laws import Laws

HEAVY = (
    *("cv2", "gymnasium_robotics", "hydra", "jax", "litellm", "matplotlib", "mujoco", "pygame", "sample_factory"),
    *("tensorflow", "torch", "wasmtime"),
)


class TaskLaws(Laws):
    """Tests that tasks are valid, and that the import of the plugin's module loads no simulator."""

    def test_the_manager_accepts_it(self) -> None:
        manager = PluginManager([], disabled="")
        manager.register(import_module(self.module), self.module)
        assert manager.tasks(), f"{self.module} offers no task. rlgpt_plugins() must return plugins with tasks."

    def test_importing_and_listing_tasks_is_light(self) -> None:
        code = (
            f"import sys, {self.module} as m\n"
            "for p in m.rlgpt_plugins():\n    p.tasks()\n"
            f"print(*[h for h in {HEAVY!r} if h in sys.modules])"
        )
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
        assert ran.returncode == 0, f"importing {self.module} in a fresh interpreter fails:\n{ran.stderr[-2000:]}"
        heavy = ran.stdout.split()
        assert not heavy, f"importing {self.module} and tasks() load {heavy}. Import these packages only in make_env."

    def test_tasks_are_keyed_by_ids_that_start_with_the_name(self, plugin: EnvironmentPlugin) -> None:
        assert plugin.tasks(), f"{plugin.name}.tasks() is empty. A plugin offers at least one task."
        for key, task in plugin.tasks().items():
            assert key == task.id, f"tasks() has {task.id!r} under the key {key!r}. Use the task's id as its key."
            assert task.plugin == plugin.name, f"{task.id!r} does not start with '{plugin.name}/'. Rename the task."

    @needs()
    def test_tasks_are_described_in_words(self, plugin: EnvironmentPlugin, task: Task) -> None:
        assert task.goal.strip(), f"{task.id}: describe the goal in one sentence."
        assert task.success.strip() or task.score is not None, (
            f"{task.id}: describe success in words, or give the task a score."
        )

    @needs()
    def test_knowledge_is_bounded(self, plugin: EnvironmentPlugin, task: Task) -> None:
        length = len(plugin.knowledge(task))
        assert length <= 10_000, f"{task.id}: knowledge() has {length} characters; at most 10,000 go into a prompt."

    @needs()
    def test_trainer_defaults_are_hyperparameters(self, plugin: EnvironmentPlugin, task: Task) -> None:
        Hyperparameters(**plugin.trainer_defaults(task))
        for name, (low, high) in plugin.trainer_bounds(task).items():
            value = float(plugin.trainer_defaults(task).get(name, getattr(Hyperparameters(), name)))
            assert low <= value <= high, (
                f"{task.id}: trainer_bounds() allows {name} from {low} to {high}; its usual value is {value}. "
                "Widen the bounds, or change trainer_defaults()."
            )

    @needs()
    def test_transcripts_are_files(self, plugin: EnvironmentPlugin, task: Task) -> None:
        for path in plugin.transcripts(task):
            assert path.suffix == ".jsonl", f"{path}: the name of a recording must end in .jsonl."
            assert path.is_file(), f"{path} is missing. Add recordings to the package data."

    @needs()
    def test_limits_and_doctor(self, plugin: EnvironmentPlugin, task: Task) -> None:
        limits = plugin.limits(task)
        assert limits.max_envs >= 1, f"{task.id}: limits().max_envs must be 1 or more."
        assert limits.option_steps is None or limits.option_steps >= 1, (
            f"{task.id}: limits().option_steps must be 1 or more, or None for as many as an episode has."
        )
        for check in plugin.doctor():
            assert check.ok or check.advice, (
                f"doctor(): {check.name!r} is not ok and has no advice. Set advice to what the user must do."
            )

    def test_environment_specs_can_be_pickled(self, plugin: EnvironmentPlugin, task: Task) -> None:
        spec = EnvSpec(task, plugin.default_setup(task), factory=plugin.name)
        assert pickle.loads(pickle.dumps(spec)) == spec
