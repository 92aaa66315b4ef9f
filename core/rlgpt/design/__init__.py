"""The function ``design()`` plans, writes code and learns on an environment that has no plugin.

The package ``rlgpt`` imports the module ``rlgpt.design`` eagerly, so that ``rlgpt.design`` is the function and never
the module. The module ``rlgpt.design`` imports nothing heavy before the function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rlgpt.design.parts import Model
    from rlgpt.domain import Bundle, Score
    from rlgpt.loop import Observer
    from rlgpt.plugin.defaults import Named
    from rlgpt.plugin.generic import MakeEnv
    from rlgpt.plugin.judged import Success
    from rlgpt.plugin.types import Primitive, StateCodec

__all__ = ["design"]


def design(
    make_env: MakeEnv | str,
    goal: str,
    llm: Model | None = None,
    *,
    docs: str | None = None,
    labels: Named | None = None,
    observations: Named | None = None,
    success: Success | str | float | None = None,
    score: Score | Mapping[str, Any] | str | None = None,
    metrics: Mapping[str, Any] | Sequence[str] | None = None,
    primitives: Sequence[Primitive] = (),
    horizon: int | None = None,
    trial: int = 3,
    idle: Any = None,
    states: StateCodec | None = None,
    folder: str | Path | None = None,
    progress: Observer | None = None,
    **overrides: Any,
) -> Bundle:
    """Let a language model write coded actions (options of the policy) for any gymnasium environment, and let PPO learn
    with them.

    The bundle that ``design()`` returns works with ``rlgpt.extend(env, actions=bundle)`` and any trainer; ``design()``
    also writes it to the subfolder ``bundle`` of ``folder``. Coded actions call the primitives ``act``, ``repeat`` and
    ``act_until``, which are derived from the action space, and get the content of the observation space in their view.

    :param make_env: a function that makes a new environment at each call, or the id of an environment in gymnasium. For
        videos, the function ``make_env`` needs an argument ``render_mode``.
    :param goal: the goal of the task, as one sentence for the language model.
    :param llm: a model's name in litellm's form, or the path of a recording (``.jsonl``) to replay, or an object of
        :class:`rlgpt.llm.base.LLM`, or settings by the names of :class:`rlgpt.llm.settings.LLMSettings`, such as
        ``model``, ``api_base`` and ``budget``. ``llm=None`` is valid only if the agents need no model
        (``agents="rl_only"``).
    :param docs: expert knowledge about the environment, such as units, signs and dynamics. At most 10,000 characters
        are used. By default, the language model reads the environment's docstring, class and settings, without settings
        that look like secrets.
    :param labels: names of the action's parts (the values of a Discrete space, or the numbers of a Box), as a list or
        as a mapping from each name to its meaning.
    :param observations: names of the numbers of a one-dimensional observation, as a list or as a mapping from each name
        to its meaning with its unit. For a Dict or Tuple space, ``observations`` is a mapping from each part of the
        space to the meaning of the part, or to the names of its numbers, such as ``x``, ``y`` and ``z``.
    :param success: the definition of success: a rule such as ``is_success at the end`` or ``terminated and not
        crashed`` (:mod:`rlgpt.plugin.rules`), a number (the return that an episode must reach), or a function that is
        called after every step (:data:`rlgpt.plugin.judged.Success`). The language model reads the docstring of this
        function. By default, a task with a ``score`` has no success. Without a ``score``, the default rule of success
        is ``success`` or ``is_success`` in info. If the environment reports neither of the two in its first step nor in
        the trial, the task has no success, and its score is the return.
    :param score: the number that measures the quality of an episode, which is ``return``, or a key of info (``-KEY`` if
        less is better), or the fields of a :class:`rlgpt.domain.Score`.
    :param metrics: numbers of info that are recorded, as a list of keys, or as a mapping from each key to its meaning
        or to the fields of a :class:`rlgpt.domain.Metric` such as ``unit``. A key of info with dots leads into nested
        mappings.
    :param primitives: primitives in addition to the default ones (:class:`rlgpt.plugin.Primitive`). Users of the
        returned bundle need these additional primitives too.
    :param horizon: maximal number of primitive steps of an episode. By default, the horizon is the environment's own
        limit. If the environment has no limit of steps, the horizon is 1,000, and a message says so.
    :param trial: number of random episodes that are played before the run to test the rules of success. The trial also
        has the same number of episodes with the idle action, and one episode with each of at most 8 other constant
        actions. The steps of the trial are not part of the run's budget. Use 0 for a real robot.
    :param idle: the action that does nothing, either a label of a Discrete space or an action of the space. If a chosen
        coded action may not start, the idle action is taken for one primitive step instead. By default, the idle action
        is the action with a label such as ``noop`` or ``stay``. If no label means an idle action, all numbers of the
        idle action are 0. The bundle stores the idle action.
    :param states: an object that saves and restores the environment's state (:class:`rlgpt.plugin.StateCodec`), so that
        training episodes can begin where coded actions ended. By default, the attributes of an environment in plain
        Python are its saved state, if a test shows that these attributes are the whole state. For a state with
        attributes that are objects, the user passes ``AttributeStates(classes=...)``.
    :param folder: the run's folder. If the folder contains a run, ``design()`` resumes this run. A resumed run reads
        the results of its finished stages and sends no answered request again. By default, ``design()`` makes a new
        folder under ``runs/``.
    :param progress: an observer that shows progress. The progress observer replaces the observers of the configuration.
        By default, progress is shown as a live line on a terminal, and otherwise as lines of text.
    :param overrides: all other settings of :class:`rlgpt.config.RunConfig`, with the names of ``rlgpt train
        KEY=VALUE``, such as ``budget``, ``iterations``, ``seed``, ``agents``, ``trainer`` and ``report_episodes``. A
        key with a dot on the command line corresponds to a nested mapping in Python, as in
        ``hyperparameters=dict(num_envs=8)``, ``setup=dict(gamma=0.97)`` or ``sandbox=dict(view_bytes=16384)``. The
        arguments ``trainer``, ``agents`` and ``observers`` take a name, a mapping with ``_target_``, or an object.
    :raises ConfigError: an argument is not valid. ``design()`` checks its arguments before it sends a request or writes
        a file.
    :raises PluginError: a reward of the environment is not a finite number.
    :raises RunError: ``folder`` contains another run.
    :raises LLMError: a request to the language model failed, or none of its replies was usable. The error is also
        raised if the budget for the language model is spent, or the recording has no further reply, before the end of
        the first iteration. If this happens later, the run stops, and ``design()`` returns the best bundle so far.
        After an error, another call of ``design()`` with the same arguments continues the run.
    """
    from rlgpt.design.designing import run_design

    described = {
        "docs": docs,
        "labels": labels,
        "observations": observations,
        "success": success,
        "score": score,
        "metrics": metrics,
        "horizon": horizon,
        "trial": trial,
        "idle": idle,
    }
    return run_design(make_env, goal, llm, described, primitives, states, folder, progress, overrides)
