"""Laws about environments that ``rlgpt.extend()`` extends."""

from __future__ import annotations

import numpy as np

from rlgpt.domain import CodedAction, Task
from rlgpt.options import extend
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.contract.causes import (
    DOCUMENTED,
    ENDED,
    FITTED,
    KEYS,
    LABELLED,
    PLAYED,
    SEEDED,
    VALID,
    VIEWED,
    needs,
)
from rlgpt.testing.contract.first import check
from rlgpt.testing.contract.laws import Laws, same
from rlgpt.testing.stage import Stage


class ExtensionLaws(Laws):
    """Tests that an extended environment is a valid gymnasium environment, and that without coded actions it behaves
    like the base environment.
    """

    @needs(PLAYED, LABELLED, SEEDED)
    def test_without_coded_actions_nothing_changes(self, plugin: EnvironmentPlugin, task: Task) -> None:
        env = extend(plugin.make_env(task, seed=0), plugin=plugin, task=task)
        with Stage(plugin, task) as bare:
            assert env.action_space == bare.env.action_space, f"{task.id}: extend() changed the action space."
            assert env.observation_space == bare.env.observation_space, f"{task.id}: extend() changed observations."
            for seed in self.effort.seeds:
                assert same(bare.reset(seed), env.reset(seed=seed)[0]), f"{task.id}: extended starts differ."
                for _ in range(self.effort.steps):
                    if bare.over:
                        break
                    action = bare.env.action_space.sample()
                    expected, found = bare.step(action)[:4], env.step(action)[:4]
                    assert same(expected, found), f"{task.id}: a step differs under extend() with no coded action."
        env.close()

    @needs(PLAYED, LABELLED, SEEDED, VALID, KEYS, DOCUMENTED, ENDED)
    def test_it_passes_check_env_extended(self, plugin: EnvironmentPlugin, task: Task) -> None:
        first = plugin.primitives(task)[0]
        coded = CodedAction(
            name="contract_probe",
            doc=f"Call {first.name} once.",
            source=f"def run():\n    yield {first.name}()\n",
            max_steps=max(1, first.max_steps),
        )
        for actions in ((), (coded,)):
            env = extend(plugin.make_env(task, seed=0), actions, plugin=plugin, task=task)
            check(env)
            env.close()

    @needs(PLAYED, LABELLED, KEYS, VIEWED, FITTED, DOCUMENTED, ENDED)
    def test_a_coded_action_runs(self, plugin: EnvironmentPlugin, task: Task) -> None:
        first = plugin.primitives(task)[0]
        source = f"def run():\n    view = yield observe()\n    yield {first.name}()\n"
        coded = CodedAction(name="contract_probe", doc="probe", source=source, max_steps=max(1, first.max_steps))
        env = extend(plugin.make_env(task, seed=0), (coded,), plugin=plugin, task=task)
        env.reset(seed=0)
        action = _choose(env, len(env.layout.branches) - 1)
        info = env.step(action)[4]
        env.close()
        assert not info.get("verdicts"), (
            f"{task.id}: calling {first.name}() in a coded action causes the verdicts {info['verdicts']}."
        )
        assert info["ended"] in ("returned", "episode", "limit"), (
            f"{task.id}: the coded action ended {info['ended']!r}."
        )


def _choose(env: object, branch: int) -> object:
    space = env.action_space  # type: ignore[attr-defined]
    space.seed(0)
    sample = space.sample()
    return (np.int64(branch), *sample[1:]) if isinstance(sample, tuple) else np.int64(branch)
