"""Builds the objects of a run (agents, trainer, language model and others) from the run's configuration. Every mistake
in the configuration is found before a file is written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rlgpt.agents.build import WITHOUT_LLM, Agents, TeamContext, learning_on
from rlgpt.agents.planner import Planner
from rlgpt.agents.setup_overrides import OverriddenSetup
from rlgpt.config.components import Component, checked, factory_of, make
from rlgpt.config.environment import Objects, Place, place_of
from rlgpt.config.recordings import choosable
from rlgpt.config.run_config import AgentsConfig, RunConfig
from rlgpt.config.settings import complete, refuse_keys
from rlgpt.errors import ConfigError, TranscriptError
from rlgpt.executors import Executor, MakeExecutor
from rlgpt.executors.local import InProcess
from rlgpt.llm.base import LLM
from rlgpt.llm.build import LLMContext, build_llm
from rlgpt.llm.reporting import ReportingLLM
from rlgpt.loop import LoopContext, Observer
from rlgpt.observers import Several
from rlgpt.planner.build import PlannerContext
from rlgpt.planner.context import planned
from rlgpt.plugin import PluginManager
from rlgpt.plugin.defaults import default_setup_of
from rlgpt.plugin.library import library_of
from rlgpt.rl.base import EnvSpec, Hyperparameters, Trainer, refuse_unpicklable
from rlgpt.runs import Run, RunRecord
from rlgpt.sandbox import Library
from rlgpt.skills import SkillLibrary

OBJECT = "object"
"""The name, in the configuration, of a component that the caller of ``design()`` passed as an object. Such a component
cannot be made from the configuration.
"""

NOTHING = Objects()


def build(
    config: RunConfig,
    folder: Path,
    manager: PluginManager,
    *,
    objects: Objects = NOTHING,
    observer: Observer | None = None,
) -> LoopContext:
    """Build the objects of a run, which are plugin, agents, language model, trainer, planner and observers.

    The record of a new run is only in memory; :func:`rlgpt.config.runs.begin` writes it to a file.

    :param folder: the run's folder, which need not exist.
    :param observer: an observer that replaces the observers of the configuration.
    :raises RlgptError: a name or value is not valid, the language model's key is missing, or the run has no recording
        that it can replay.
    """
    refuse_keys(config)
    place = place_of(config, manager, objects)
    config = complete(place.config, place.plugin, place.task, manager)
    watching = observer or observers(config, manager, objects)
    library = library_of(place.plugin, place.task)
    trainer = objects.trainer or make("trainer", _not_object("trainer", config.trainer), Trainer, manager)  # type: ignore[type-abstract]
    record = RunRecord(task=place.task.id, seed=config.seed, created="", config=config.plain())
    connected = _Connected(config, place, folder, manager, objects, watching)
    agents = objects.agents or _team(config, _named_agents(config), place, library, connected, manager)
    if agents.train:
        _check_trainer(config, place, trainer)
    executor = _executor(config, manager)
    if executor is not InProcess:
        refuse_unpicklable(_spec(config, place), "executor=in_process")
    context = LoopContext(
        settings=config.loop,
        task=place.task,
        plugin=place.plugin,
        factory=place.factory,
        agents=agents,
        trainer=trainer,
        hyperparameters=Hyperparameters(**config.hyperparameters.model_dump()),
        fixed_hyperparameters=frozenset(config.fixed_hyperparameters or ()),
        run=Run(folder, record),
        library=library,
        sandbox_limits=config.sandbox,
        observer=watching,
        world=config.environment.prepared.world if config.environment and config.environment.prepared else None,
        skills=None if config.skills is None else SkillLibrary(Path(config.skills)),
        executor=executor,
    )
    if config.planner.name == "none" and config.planner.target is None and objects.planner is None:
        return context
    given = PlannerContext(library, config.sandbox, config.planner.planning, connected, _prompts(config), _file(config))
    planner = objects.planner or make("planner", _not_object("planner", config.planner), Planner, manager, given)  # type: ignore[type-abstract]
    teams = {"both": agents, "code": _for_code(config, agents, place, library, connected, manager), "rl": learning_on()}
    return planned(context, planner, config.planner.planning, teams)


def _check_trainer(config: RunConfig, place: Place, trainer: Trainer) -> None:
    """:raises RlgptError: the trainer cannot learn the task with its default setup and the user's observation keys."""
    trainer.check(_spec(config, place), Hyperparameters(**config.hyperparameters.model_dump()))


def _spec(config: RunConfig, place: Place) -> EnvSpec:
    """The recipe of the task with its default setup and the user's observation keys, without coded actions."""
    setup = default_setup_of(place.plugin, place.task)
    setup = setup.model_copy(update={"observation_keys": config.setup.apply(setup).observation_keys})
    return EnvSpec(place.task, setup, (), place.factory)


def _executor(config: RunConfig, manager: PluginManager) -> MakeExecutor:
    """A function that makes the executor of the configuration.

    :raises RlgptError: the configured executor or one of its settings does not exist.
    """
    part = config.executor
    factory = factory_of("executor", part, manager)
    checked("executor", factory, part.settings, 1)
    if factory is InProcess:
        return InProcess
    return lambda work: make("executor", part, Executor, manager, work)  # type: ignore[type-abstract]


def observers(config: RunConfig, manager: PluginManager, objects: Objects = NOTHING) -> Observer:
    """Make the observers that the configuration names, and add the observers that the caller passed.

    :raises RlgptError: the configuration names an observer that does not exist or cannot be made.
    """
    named = [
        make("observer", part if part.name or part.target else part.with_settings({"name": name}), Observer, manager)
        for name, part in config.observers.items()
        if part is not None
    ]
    return Several([*named, *objects.observers])


class _Connected:
    """A function that connects to the language models of a run and returns them. The language models are made at the
    first call, and all agents of the run share them.
    """

    def __init__(self, *made_from: Any) -> None:
        self._made_from = made_from
        self._models: LLM | None = None

    def __call__(self) -> Any:
        if self._models is None:
            *given, observer = self._made_from
            self._models = ReportingLLM(_llm(*given), observer)
        return self._models


def _team(
    config: RunConfig,
    named: AgentsConfig,
    place: Place,
    library: Library,
    connected: _Connected,
    manager: PluginManager,
) -> Agents:
    context = TeamContext(
        kind=named.name or str(named.target),
        plugin=place.plugin,
        task=place.task,
        connect=connected,
        library=library,
        limits=config.sandbox,
        iterations=config.iterations,
        prompts=_prompts(config),
    )
    team = make("agents", named, Agents, manager, context)
    return replace(team, fast=OverriddenSetup(team.fast, config.setup)) if config.setup.model_fields_set else team


def _named_agents(config: RunConfig) -> AgentsConfig:
    """:raises ConfigError: the caller of ``design()`` passed the team of agents as an object."""
    if config.agents.name == OBJECT:
        raise ConfigError(
            "the caller of design() passed the agents of this run as an object, and an existing run cannot change its "
            f"agents. Repeat the same call in Python with folder={config.folder!r}."
        )
    return config.agents


def _for_code(
    config: RunConfig,
    agents: Agents,
    place: Place,
    library: Library,
    connected: _Connected,
    manager: PluginManager,
) -> Agents:
    """The team of agents for sub-goals of the kind ``code``, without learning. If the run has the default team, its
    prompts also say that nothing is learned.
    """
    if agents.kind == AgentsConfig().name:
        return _team(config, AgentsConfig(name="code_only"), place, library, connected, manager)
    return replace(agents, train=False, evaluate="code" if agents.rehearse else agents.evaluate)


def _file(config: RunConfig) -> Path | None:
    return None if config.planner.file is None else Path(config.planner.file)


def _prompts(config: RunConfig) -> Path | None:
    folder = None if config.agents.prompts is None else Path(config.agents.prompts)
    if folder is not None and not folder.is_dir():
        raise ConfigError(
            f"agents.prompts={str(folder)!r}: there is no such folder. Give a folder, or remove the setting."
        )
    return folder


def _llm(config: RunConfig, place: Place, folder: Path, manager: PluginManager, objects: Objects) -> Any:
    settings = config.llm
    if (given := objects.llm) is not None:
        return build_llm(settings, LLMContext(folder, config.seed), lambda *_: given)
    if settings.kind == OBJECT:
        raise ConfigError(
            "the caller of design() passed the language model of this run as an object. Repeat the same call with "
            "folder=..., or choose another model: llm.model=PROVIDER/MODEL, or llm=replay llm.transcript=FILE."
        )
    transcripts = choosable(config, place.plugin.transcripts(place.task))
    if place.config.environment is not None and settings.kind == "replay" and settings.transcript is None:
        raise TranscriptError(
            "no language model is given: set a model, llm.model=PROVIDER/MODEL; or a recording to replay, "
            f"llm.transcript=FILE; or use agents without a model, agents={' or agents='.join(WITHOUT_LLM)}. In Python: "
            f"llm='PROVIDER/MODEL', llm='FILE.jsonl' or agents={WITHOUT_LLM[0]!r}."
        )
    tasks = manager.tasks().values() if not transcripts and config.environment is None else ()
    recorded = [t.id for t in tasks if manager.plugin(t.plugin).transcripts(t)]
    context = LLMContext(folder, config.seed, transcripts, place.task.id, recorded)
    named = Component.model_validate({"name": settings.kind, "_target_": settings.target})
    return build_llm(settings, context, _checked_llm(factory_of("llm", named, manager), named))


def _checked_llm(factory: Any, named: Component) -> Any:
    def made(settings: Any, context: LLMContext) -> LLM:
        llm = factory(settings, context)
        if not isinstance(llm, LLM):
            which = named.target or named.name
            raise ConfigError(f"llm={which} made a {type(llm).__name__}; it must make a rlgpt.llm.base.LLM.")
        return llm

    return made


def _not_object(kind: str, part: Component) -> Component:
    if part.name == OBJECT:
        raise ConfigError(
            f"the caller of design() passed the {kind} of this run as an object. Repeat the same call with folder=..., "
            f"or choose another {kind}: {kind}=NAME."
        )
    return part
