"""Reports the rules of success and score of an environment without a plugin, and tests these rules in a trial before a
run begins.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from rlgpt.config.prepare import ConstantPluginFactory, guarded, only
from rlgpt.config.run_config import RunConfig
from rlgpt.config.trial import SECONDS, try_out
from rlgpt.config.trial_keys import refuse_misspelt
from rlgpt.config.trial_report import Spelling, description_lines, report, rule_lines
from rlgpt.domain import Score
from rlgpt.loop import LoopContext
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.judged import Asked
from rlgpt.plugin.rules import REPORTED


def say_rules(context: LoopContext, spell: Spelling, *, try_them: bool) -> LoopContext:
    """Report the rules of success and score and the length of an episode to the observer.

    :param spell: how the caller of the run gives an argument of ``design()``.
    :param try_them: whether the trial (:mod:`rlgpt.config.trial`) is played before the report. If the user gave no rule
        and the environment reports ``success`` itself in the trial, the reported value becomes the success.
    :returns: the context with the rules. The configuration in the returned context contains the results of the trial.
    """
    plugin, config = context.plugin, RunConfig(**context.run.record.config)
    environment = config.environment
    if environment is None or environment.prepared is None or not isinstance(plugin, GenericPlugin):
        return context
    tell = context.observer.message
    chosen = environment.success is not None or environment.score is not None or isinstance(plugin.rule, Asked)
    trial = None
    if try_them and environment.trial:
        tell(
            f"trying the rules: {environment.trial} episodes with random actions, {environment.trial} with the idle "
            f"action and one with each other constant action; at most {SECONDS:.0f} s of computing"
        )
        advice = f"Correct the environment. With {spell('trial', 0)}, the error would occur in the run instead."
        tried = plugin if chosen else plugin.judged_by(REPORTED, Score())
        played = functools.partial(try_out, tried, only(tried.tasks()), environment.trial)
        trial = guarded("playing the environment before the run raised", advice, played)
        if not chosen and plugin.rule is None and trial.reported:
            plugin = plugin.judged_by(REPORTED, None)
    task = only(plugin.tasks())
    for line in description_lines(plugin, task, spell, docs=environment.docs) if try_them else ():
        tell(line)
    for line in rule_lines(plugin, task, spell, chosen=chosen, horizon=environment.horizon):
        tell(line)
    if trial is None:
        return context
    own_limit = environment.horizon is None and plugin.has_limit
    refuse_misspelt(trial, task, plugin, own_limit=own_limit, no_trial=spell("trial", 0))
    for line in report(trial, task, plugin, spell, horizon=environment.horizon):
        tell(line)
    prepared = environment.prepared.model_copy(update={"task": task, "world": plugin.world, "trial": trial})
    config = config.model_copy(update={"environment": environment.model_copy(update={"prepared": prepared})})
    return replace(
        replace_record(context, config),
        plugin=plugin,
        task=task,
        factory=ConstantPluginFactory(plugin),
        world=plugin.world,
    )


def replace_record(context: LoopContext, config: RunConfig) -> LoopContext:
    """The context of the run, with the configuration ``config`` in the run's record. The record is changed only in
    memory, not in its file.
    """
    run = context.run
    record = run.record.model_copy(update={"config": config.plain()})
    return replace(context, run=type(run)(run.folder, record))
