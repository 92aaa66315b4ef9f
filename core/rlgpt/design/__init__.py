"""``design()``: plans, writes code and learns on an environment that has no plugin.

The package ``rlgpt`` imports this module eagerly, so that ``rlgpt.design`` is the function and never this module.
Therefore the module imports nothing heavy before the function is called.
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

    The returned bundle works with ``rlgpt.extend(env, actions=bundle)`` and any trainer; it is also saved in ``folder /
    "bundle"``. Coded actions call the primitives ``act``, ``repeat`` and ``act_until``, which are derived from the
    action space, and see the content of the observation space.

    :param make_env: a function that makes a new environment at each call, or the environment's gymnasium id. Videos
        need a function with an argument ``render_mode``.
    :param goal: the goal of the task, one sentence for the language model.
    :param llm: a model's name in litellm's form; the path of a recording (``.jsonl``) to replay; an object of
        :class:`rlgpt.llm.base.LLM`; or settings by the names of :class:`rlgpt.llm.settings.LLMSettings`, such as
        ``{"model": "openai/NAME", "api_base": URL, "budget": {"dollars": 5}}``. None is valid only if the agents need
        no model (``agents="rl_only"``).
    :param docs: expert knowledge about the environment: units, signs, dynamics. At most 10,000 characters are used.
        Default: the environment's docstring, class and settings, without settings that look like secrets.
    :param labels: names of the action's parts (values of a Discrete, numbers of a Box), or name -> meaning.
    :param observations: names of the numbers of a one-dimensional observation, or name -> meaning with its unit. For a
        Dict or Tuple: part -> meaning, or part -> names of its numbers, for example ``{"achieved_goal": ["x", "y",
        "z"]}``.
    :param success: defines success. Either a rule, such as ``is_success at the end`` or ``terminated and not crashed``
        (:mod:`rlgpt.plugin.rules`); or a number, the return that an episode must reach; or a function that is called
        after every step (:data:`rlgpt.plugin.judged.Success`), whose docstring the language model reads. Default: no
        success if ``score`` is given; else ``success`` or ``is_success`` in info, if the environment reports it; else
        no success, and the return is the score.
    :param score: the number that measures the quality of an episode: ``return``, or a key of info (``-KEY`` if less is
        better), or the fields of a :class:`rlgpt.domain.Score`.
    :param metrics: numbers of info that are recorded: keys in a list, or key -> meaning, or key -> fields of a
        :class:`rlgpt.domain.Metric` (``{"unit": "m", "reduce": "min"}``). Dots lead into mappings.
    :param primitives: further primitives (:class:`rlgpt.plugin.Primitive`). Users of the bundle need them too.
    :param horizon: maximal number of primitive steps of an episode. Default: the environment's own limit, or 1,000 with
        a message.
    :param trial: before the run, this many episodes with random actions, as many with the idle action and one with each
        other constant action are played, to test the rules of success. The steps of the trial do not count towards the
        budget. Use 0 for a real robot.
    :param idle: the action that does nothing. If a chosen action may not start, the idle action is taken for one
        primitive step instead. Either a label of a Discrete space, or an action of the space. Default: a label such as
        ``noop`` or ``stay``, else zeros. The bundle stores the idle action.
    :param states: saves and restores the environment (:class:`rlgpt.plugin.StateCodec`), so that training episodes can
        begin where coded actions returned. Default: the attributes of an environment in plain Python, if a trial shows
        that they are enough. Attributes that are objects need ``AttributeStates(classes=...)``.
    :param folder: the run's folder. An existing run is resumed: finished stages are read, and no answered request is
        sent again. Default: a new folder under ``runs/``.
    :param progress: an observer that shows progress; it replaces the configuration's observers. Default: a live line on
        a terminal, lines of text elsewhere.
    :param overrides: every other setting of :class:`rlgpt.config.RunConfig`, as in ``rlgpt train KEY=VALUE``:
        ``budget``, ``iterations``, ``seed``, ``agents``, ``trainer``, ``report_episodes``, ...; dots on the command
        line become mappings: ``hyperparameters={"num_envs": 8}``, ``setup={"gamma": 0.97}``, ``sandbox={"view_bytes":
        16384}``. ``trainer``, ``agents`` and ``observers`` take a name, a mapping with ``_target_``, or an object.
    :raises ConfigError: an argument is not valid. Arguments are checked before a request is sent or a file is written.
    :raises PluginError: a reward of the environment is not a finite number.
    :raises RunError: ``folder`` contains another run.
    :raises LLMError: before the end of the first iteration, the language model failed or the recording had no further
        reply. If this happens later, the run stops and returns the best bundle so far; the same call continues the run.
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
