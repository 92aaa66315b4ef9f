"""Makes the components of a run. A *component* is a part of a run that a user chooses by name or by ``_target_``, such
as the trainer, the team of agents, an observer or the executor.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator

from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin import PluginManager

T = TypeVar("T")

EXTRAS = {
    "sample_factory": "sample-factory",
    "tensorboard": "tensorboard",
    "wandb": "wandb",
    "mlflow": "mlflow",
    "ray": "ray",
}
"""For packages that a component of rlgpt needs, the name of the extra that installs the package."""


class Component(BaseModel):
    """The user's choice of a component of the run, with the component's settings. The user gives a name that rlgpt or
    an installed plugin registers for the component, or a dotted name.

    :ivar name: the registered name, as in ``trainer=NAME``.
    :ivar target: the dotted name ``package.module.Class`` of a component without a registered name. In files and on the
        command line, the field ``target`` is written ``_target_``.
    """

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    name: str | None = None
    target: str | None = Field(default=None, alias="_target_")

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @model_serializer(mode="plain")
    def _plain(self) -> dict[str, Any]:
        head = {"_target_": self.target} if self.target else {"name": self.name} if self.name else {}
        fields = {key: getattr(self, key) for key in type(self).model_fields if key not in ("name", "target")}
        return {**head, **fields, **self.settings}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the component, which are keyword arguments for its factory."""
        return dict(self.model_extra or {})

    def with_settings(self, settings: Mapping[str, Any]) -> Component:
        return type(self).model_validate({**self.model_dump(), **settings})


def factory_of(kind: str, component: Component, manager: PluginManager) -> Callable[..., Any]:
    """Import the factory (a class or a function) that makes the component of the run.

    :param kind: the kind of component, which is a key of :data:`rlgpt.plugin.manager.HOOKS`.
    :raises UnknownNameError: no installed distribution registers a component with this name.
    :raises ConfigError: the factory cannot be imported.
    """
    if component.target is None and component.name is None:
        raise ConfigError(f"{kind} has no name: write {kind}=NAME. Valid: {', '.join(manager.parts(kind))}.")
    target = component.target or manager.part(kind, str(component.name))
    where = f"{kind}._target_={target}" if component.target else f"{kind}={component.name}"
    own = target.removeprefix("rlgpt.") if target.startswith("rlgpt.") else ""
    package = next((p for p in EXTRAS if f".{p}." in f".{own}." and find_spec(p) is None), None)
    if package is not None:
        extra = f"'rlgpt[{EXTRAS[package]}]'"
        how = f"pip install {extra}" if kind != "trainer" else f"`rlgpt doctor` prints the command for {extra}"
        raise ConfigError(f"{where} needs an extra that is not installed: {how}.")
    try:
        made = pkgutil.resolve_name(target)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{where} cannot be imported: {error}. Name a class or function: package.module.Class."
        ) from error
    if not callable(made):
        raise ConfigError(f"{where} is a {type(made).__name__}; name a class or function: package.module.Class.")
    return made  # type: ignore[no-any-return]


def make(kind: str, component: Component, base: type[T], manager: PluginManager, *given: Any) -> T:
    """Make the component. The function calls the factory of the component with the arguments ``given`` and with the
    component's settings.

    :param base: the type that the component must have.
    :raises UnknownNameError: no component has this name, or the component does not have one of the given settings.
    :raises ConfigError: the component cannot be imported or made, or does not have the type ``base``.
    """
    factory, where = factory_of(kind, component, manager), _where(kind, component)
    if isinstance(factory, type) and not issubclass(factory, base):
        raise ConfigError(f"{where} is not a {base.__name__}: name a subclass of {base.__module__}.{base.__name__}.")
    arguments = checked(kind, factory, component.settings, len(given))
    try:
        made = factory(*given, **arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where} cannot be made: {' '.join(str(error).split())}.") from error
    if not isinstance(made, base):
        raise ConfigError(f"{where} made a {type(made).__name__}; it must make a {base.__module__}.{base.__name__}.")
    return made


def checked(kind: str, factory: Callable[..., Any], settings: Mapping[str, Any], positional: int) -> dict[str, Any]:
    """Check the settings of a component, and return the keyword arguments for ``factory``. If the factory has a
    parameter ``settings`` whose type is a pydantic model, all settings become fields of this model.

    :param positional: number of leading arguments of the factory that are not settings. These arguments come first.

    :raises UnknownNameError: the factory has no setting of this name.
    """
    if (model := settings_model(factory)) is not None:
        return {"settings": validated(model, settings, kind)}
    parameters, open_ = _keywords(factory, positional)
    for key in settings:
        if key not in parameters and not open_:
            raise UnknownNameError("key", f"{kind}.{key}", [f"{kind}.{name}" for name in parameters])
    return dict(settings)


def effective(
    kind: str, factory: Callable[..., Any], settings: Mapping[str, Any], positional: int = 0
) -> dict[str, Any]:
    """All settings of the component that ``factory`` makes, as values of JSON. A setting that is not given has its
    default.
    """
    if (model := settings_model(factory)) is not None:
        return validated(model, settings, kind).model_dump(mode="json")
    parameters, _ = _keywords(factory, positional)
    plain = {k: p.default for k, p in parameters.items() if isinstance(p.default, int | float | str | None)}
    return {**plain, **settings}


def settings_model(factory: Callable[..., Any]) -> type[BaseModel] | None:
    """The pydantic model of the factory's parameter ``settings``; None if the factory has no such parameter."""
    made = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]
    try:
        hint = get_type_hints(made).get("settings")
    except (NameError, TypeError):
        return None
    return next((o for o in get_args(hint) or (hint,) if isinstance(o, type) and issubclass(o, BaseModel)), None)


def _where(kind: str, component: Component) -> str:
    return f"{kind}._target_={component.target}" if component.target else f"{kind}={component.name}"


def _keywords(factory: Callable[..., Any], positional: int) -> tuple[dict[str, inspect.Parameter], bool]:
    """The parameters of ``factory`` by name, without the first ``positional`` parameters. The second returned value
    says whether the factory accepts any keyword (``**kwargs``).
    """
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return {}, True
    open_ = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)][positional:]
    return {p.name: p for p in named}, open_
