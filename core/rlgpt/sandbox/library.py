"""What a coded action may call and see, as data: the source of the guest's functions, the checks and the prompt."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from rlgpt.domain import Name, Parameter, Value
from rlgpt.sandbox.guest.modules import PREIMPORTED

Vectors = Literal["all", "plain", "none"]
"""The functions of ``vec`` that prompts describe: ``all``; ``plain``, those without quaternions; ``none``. The guest
has all of them in every case.
"""

OBSERVE = "observe"
"""The request for the view. It has no arguments, costs no primitive step and is not a primitive of a plugin."""


class Signature(Value):
    """One primitive.

    :ivar doc: its effect, with units.
    :ivar parameters: typed and bounded.
    """

    name: Name
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    outcome: Mapping[str, str] = Field(default_factory=dict, description="key of the outcome -> meaning")


class ViewDoc(Value):
    """One key of the view.

    ``size`` is the count of numbers for a policy; 0 where only code can use the key (text, lists of varying length).
    """

    name: str
    doc: str = ""
    unit: str = ""
    source: Literal["observed", "privileged"] = "observed"
    size: int = Field(default=0, ge=0)


class Library(Value):
    """The primitives and the view of a task, and what is offered beside them."""

    primitives: tuple[Signature, ...]
    view: tuple[ViewDoc, ...] = ()
    vectors: Vectors = "all"

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [s.name for s in self.primitives]
        taken = {OBSERVE, "run", "can_start", *PREIMPORTED} & set(names)
        if taken or len(set(names)) != len(names):
            raise ValueError(f"names of primitives must differ, and these are taken: {sorted(taken)}; got {names}")
        for signature in self.primitives:
            parameters = [p.name for p in signature.parameters]
            if len(set(parameters)) != len(parameters):
                raise ValueError(f"parameters of {signature.name!r} must differ, got {parameters}")
            for name in (signature.name, *parameters):
                if keyword.iskeyword(name):
                    raise ValueError(f"{name!r} (of {signature.name!r}) is a word of Python's: no name of a function")
        keys = [v.name for v in self.view]
        if len(set(keys)) != len(keys):
            raise ValueError(f"keys of the view must differ, got {keys}")
        return self

    @property
    def functions(self) -> dict[str, tuple[str, ...]]:
        """Name of every function that makes a request, ``observe`` first -> names of its arguments, in order."""
        return {OBSERVE: ()} | {s.name: tuple(p.name for p in s.parameters) for s in self.primitives}
