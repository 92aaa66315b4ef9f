"""``design()``: both loops on an environment without a plugin.

The package ``rlgpt`` imports this module eagerly, so that ``rlgpt.design`` is the function and never this module. So it
imports nothing heavy before it is called.
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
    """Let a language model write coded actions for any gymnasium environment, and PPO learn with them.

    The bundle that comes back works with ``rlgpt.extend(env, actions=bundle)`` under any trainer; it is also saved in
    ``folder / "bundle"``. Coded actions are built from ``act``, ``repeat`` and ``act_until``, which are derived from
    the action space, and see what the observation space holds.

    :param make_env: makes a new environment each time; with ``render_mode=`` among its arguments videos can be made.
        Or the id under which gymnasium knows it.
    :param goal: what is to be achieved, a sentence for the language model.
    :param llm: a model's name as litellm knows it; the path of a transcript (``.jsonl``) to replay; an object of
        :class:`rlgpt.llm.base.LLM`; or settings by the names of :class:`rlgpt.llm.settings.LLMSettings`, such as
        ``{"model": "openai/NAME", "api_base": URL, "budget": {"dollars": 5}}``. None only with agents that need none
        (``agents="rl_only"``).
    :param docs: what an expert knows about the environment: units, signs, dynamics. At most 6,000 characters are used.
        Default: the environment's docstring.
    :param labels: names of the action's parts (values of a Discrete, numbers of a Box), or name -> meaning.
    :param observations: names of the numbers of a one-dimensional observation, or name -> meaning with its unit. Of a
        Dict or Tuple: part -> meaning, or part -> names of its numbers: ``{"achieved_goal": ["x", "y", "z"]}``.
    :param success: what counts as success. A rule in words, such as ``is_success at the end`` or ``terminated and not
        crashed`` (:mod:`rlgpt.plugin.rules`); or a number: the return that an episode must reach; or a function that
        is called after every step (:data:`rlgpt.plugin.judged.Success`), whose docstring the language model reads.
        Default: none where ``score`` is given; else ``success`` or ``is_success`` in info, if the environment reports
        it; else none, and the return is the score.
    :param score: the number that says how good an episode was: ``return``, or a key of info (``-KEY`` where less is
        better), or the fields of a :class:`rlgpt.domain.Score`.
    :param metrics: numbers of info that are recorded: keys in a list, or key -> meaning, or key -> fields of a
        :class:`rlgpt.domain.Metric` (``{"unit": "m", "reduce": "min"}``). Dots lead into mappings.
    :param primitives: skills of your own (:class:`rlgpt.plugin.Primitive`). Users of the bundle need them too.
    :param horizon: primitive steps of an episode at most. Default: the environment's own limit, else 1,000, and the run
        says so.
    :param trial: number of episodes with random actions, and of episodes with the idle action, that are played before
        the run begins to see how the rules judge them. Their steps are no part of the budget. 0: none are played, as
        for a real robot.
    :param idle: the action that replaces a choice that is not allowed to start, for one step: a label of a Discrete's
        value, or an action of the space. Default: a label with such a name (``noop``, ``stay``, ...), else zeros. The
        bundle carries it.
    :param states: saves and restores the environment (:class:`rlgpt.plugin.StateCodec`), so that training can begin
        where coded actions led to. Default: the attributes of an environment in plain Python, if a trial shows that
        they are enough; objects in them need ``AttributeStates(classes=...)``.
    :param folder: of the run. An existing run is resumed: finished stages are read, no request that was paid for is
        repeated. Default: a new folder under ``runs/``.
    :param progress: shows progress, instead of the configuration's observers. Default: a live line on a terminal, lines
        of text elsewhere.
    :param overrides: every other setting of :class:`rlgpt.config.RunConfig`, as in ``rlgpt train KEY=VALUE``:
        ``budget``, ``iterations``, ``seed``, ``agents``, ``trainer``, ``report_episodes``, ...; mappings where the
        command line has dots: ``hyperparameters={"num_envs": 8}``, ``setup={"gamma": 0.97}``,
        ``sandbox={"view_bytes": 16384}``. ``trainer``, ``agents`` and ``observers`` take a name, a mapping with
        ``_target_``, or an object.
    :raises ConfigError: something given cannot be used; found before anything is asked or written.
    :raises PluginError: the environment pays a reward that is not a finite number.
    :raises RunError: ``folder`` holds another run.
    :raises LLMError: the language model failed, or its replies ended, before an iteration was finished. If this happens
        later, the run stops and returns the best bundle so far; the same call continues it.
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
