"""Laws about saved states. A restored state is exact, a given seed decides the random numbers after the restore, and
damaged states are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlgpt.domain import Task
from rlgpt.errors import StateError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.states import EpisodeState, restore_episode, same, save_episode
from rlgpt.plugin.types import StateCodec
from rlgpt.testing.contract.causes import KEYS, PLAYED, SAVED, SEEDED, VALID, VIEWED, cause, needs
from rlgpt.testing.contract.laws import Laws
from rlgpt.testing.stage import Stage


class StateLaws(Laws):
    """Tests that an episode continues from a restored state in the same way as from the saved state."""

    @cause
    @needs(PLAYED, VALID)
    def test_episodes_can_be_saved_and_restored(self, plugin: EnvironmentPlugin, task: Task) -> None:
        codec = _codec(plugin, task)
        with Stage(plugin, task) as stage:
            try:
                _restore(codec, stage, save_episode(codec, stage.env, stage.context))
            except Exception as fault:
                raise AssertionError(
                    f"{task.id}: saving and restoring an episode raises {type(fault).__name__}: {fault}"
                ) from fault

    @needs(PLAYED, VALID, SEEDED, KEYS, VIEWED, SAVED)
    def test_episodes_go_on_from_a_saved_state_bit_for_bit(self, plugin: EnvironmentPlugin, task: Task) -> None:
        codec = _codec(plugin, task)
        with Stage(plugin, task) as stage, Stage(plugin, task, seed=99) as other:
            for seed in self.effort.seeds:
                saved, actions, first = self._saved(codec, stage, seed)
                other.random(3)
                for again in (stage, other):
                    _restore(codec, again, saved)
                    view = plugin.view(again.context)
                    keys = {key.name for key in plugin.view_keys(task) if not key.alone}
                    assert view.keys() == keys, _NOW.format(task.id)
                    for t, (action, before) in enumerate(zip(actions, first, strict=True)):
                        after = _result(again, action)
                        assert same(after, before), (
                            f"{task.id}: step {t + 1} after restore() differs from this step after save(), from seed "
                            f"{seed}, in {_differences(before, after)}. Save all that the next step depends on: the "
                            "generators of noise, counters, time."
                        )

    @needs(PLAYED, VALID, SEEDED, KEYS, VIEWED, SAVED)
    def test_a_seed_decides_what_is_random_after_a_restore(self, plugin: EnvironmentPlugin, task: Task) -> None:
        codec = _codec(plugin, task)
        with Stage(plugin, task) as stage:
            saved, actions, _ = self._saved(codec, stage, self.effort.seeds[0])
            _restore(codec, stage, saved, seed=5)
            first = _play(stage, actions)
            _restore(codec, stage, saved, seed=5)
            assert same(first, _play(stage, actions)), (
                f"{task.id}: two episodes from one state with the same seed differ. Draw from generators that "
                "restore(seed=...) sets."
            )

    @needs(PLAYED, VALID, SAVED)
    def test_damaged_states_are_refused(self, plugin: EnvironmentPlugin, task: Task) -> None:
        codec, rng = _codec(plugin, task), np.random.default_rng(0)
        with Stage(plugin, task) as stage:
            saved, _, _ = self._saved(codec, stage, self.effort.seeds[0])
            for cut in (0, 1, len(saved.data) // 2, len(saved.data) - 1):
                assert not _accepts(codec, stage, saved.data[:cut]), (
                    f"{task.id}: restore() accepts {cut} of the {len(saved.data)} bytes of a state. Check that the "
                    "state is complete (rlgpt.plugin.state_data) and raise StateError."
                )
            for _ in range(10):
                changed = bytearray(saved.data)
                changed[rng.integers(len(changed))] = rng.integers(256)
                _accepts(codec, stage, bytes(changed))
            _restore(codec, stage, saved)

    def _saved(
        self, codec: StateCodec, stage: Stage, seed: int
    ) -> tuple[EpisodeState, list[Any], list[dict[str, Any]]]:
        """Save the state of an episode at a random step, then play random actions.

        :returns: the saved state, the actions after the save, and the results of these actions.
        """
        rng = np.random.default_rng(seed)
        stage.reset(seed)
        for _ in range(int(rng.integers(1, max(2, self.effort.steps // 2)))):
            if stage.over:
                stage.reset(int(rng.integers(2**30)))
            stage.step(stage.env.action_space.sample())
        if stage.over:
            stage.reset(seed)
        saved, actions, results = save_episode(codec, stage.env, stage.context), list[Any](), list[dict[str, Any]]()
        while len(actions) < self.effort.steps // 2 and not stage.over:
            actions.append(stage.env.action_space.sample())
            results.append(_result(stage, actions[-1]))
        return saved, actions, results


_NOW = "{}: the view right after restore() lacks keys. Compute it from the restored state."


def _codec(plugin: EnvironmentPlugin, task: Task) -> StateCodec:
    codec = plugin.states(task)
    if codec is None:
        pytest.skip("the plugin cannot save and restore this task")
    return codec


def _restore(codec: StateCodec, stage: Stage, saved: EpisodeState, *, seed: int | None = None) -> None:
    """Convert a saved state to JSON and back, as in a file, and then restore it."""
    saved = EpisodeState.model_validate_json(saved.model_dump_json())
    restore_episode(codec, stage.env, stage.context, saved, seed=seed)
    stage.over = False


def _accepts(codec: StateCodec, stage: Stage, damaged: bytes) -> bool:
    """Return whether a codec restores a damaged state. Otherwise the codec must raise StateError."""
    try:
        codec.restore(stage.env, damaged)
    except StateError:
        return False
    except Exception as fault:
        raise AssertionError(
            f"{stage.task.id}: restore() of a damaged state raises {type(fault).__name__}: {fault}. Check each value "
            "(rlgpt.plugin.state_data) and raise StateError."
        ) from fault
    return True


def _play(stage: Stage, actions: list[Any]) -> list[dict[str, Any]]:
    results = []
    for action in actions:
        results.append(_result(stage, action))
        if stage.over:
            break
    return results


def _result(stage: Stage, action: Any) -> dict[str, Any]:
    observation, reward, terminated, truncated, info = stage.step(action)
    view = stage.plugin.view(stage.context)
    terms = [term.value(stage.context) for term in stage.plugin.reward_terms(stage.task)]
    success, step = info.get("success"), stage.context.step
    return {
        "observation": observation,
        "reward": reward,
        "ends": (terminated, truncated),
        "success": success,
        "step": step,
        "view": view,
        "reward terms": terms,
    }


def _differences(before: dict[str, Any], after: dict[str, Any]) -> str:
    return ", ".join(key for key in before if not same(before[key], after[key]))
