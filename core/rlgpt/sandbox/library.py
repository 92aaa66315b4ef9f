"""Defines the class :class:`Library`, which has data about the primitives that a coded action may call and the view
keys that it can read. The functions in the guest, the checks of requests and the text in the prompt are made from the
library.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from rlgpt.domain import CodedFeatures, CodedFunction, Name, Parameter, Value
from rlgpt.sandbox.guest.modules import PREIMPORTED

Vectors = Literal["all", "plain", "none"]
"""The functions of the module ``vec`` that prompts describe: ``all``, ``plain`` (only functions without quaternions) or
``none``. The guest always has all functions.
"""

OBSERVE = "observe"
"""The name of the request for the view. This request has no arguments and takes no primitive step. It is no primitive
of a plugin.
"""


class Signature(Value):
    """The name, arguments and documentation of one primitive (a function of the plugin that coded actions call).

    :ivar doc: the effect of the primitive, with units.
    :ivar parameters: the arguments of the primitive, typed and bounded.
    """

    name: Name
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    outcome: Mapping[str, str] = Field(default_factory=dict, description="key of the outcome -> meaning")


class ViewDoc(Value):
    """One key of the view.

    :ivar size: how many numbers of the key a policy observes; 0 if only code can use the key (for example text or lists
        of varying length).
    """

    name: str
    doc: str = ""
    unit: str = ""
    source: Literal["observed", "privileged"] = "observed"
    size: int = Field(default=0, ge=0)


class Library(Value):
    """The library of a task: its primitives, its view keys, and the functions of ``vec`` that prompts describe."""

    primitives: tuple[Signature, ...]
    view: tuple[ViewDoc, ...] = ()
    vectors: Vectors = "all"

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [s.name for s in self.primitives]
        taken = {OBSERVE, "run", "can_start", *PREIMPORTED} & set(names)
        if taken or len(set(names)) != len(names):
            raise ValueError(
                f"names of primitives must differ, and these names are reserved: {sorted(taken)}; got {names}"
            )
        for signature in self.primitives:
            parameters = [p.name for p in signature.parameters]
            if len(set(parameters)) != len(parameters):
                raise ValueError(f"parameters of {signature.name!r} must differ, got {parameters}")
            for name in (signature.name, *parameters):
                if keyword.iskeyword(name):
                    raise ValueError(
                        f"{name!r} (of {signature.name!r}) is a keyword of Python, so it cannot name a function"
                    )
        keys = [v.name for v in self.view]
        if len(set(keys)) != len(keys):
            raise ValueError(f"keys of the view must differ, got {keys}")
        return self

    def with_features(self, functions: Iterable[CodedFunction]) -> Library:
        """A copy of the library in which the outputs of the features in ``functions`` are further keys of the view."""
        outputs = [o for f in functions if isinstance(f, CodedFeatures) for o in f.outputs]
        docs = [ViewDoc(name=o.name, doc=o.doc, unit=o.unit, size=1) for o in outputs]
        return self.model_copy(update={"view": (*self.view, *docs)})

    @property
    def functions(self) -> dict[str, tuple[str, ...]]:
        """For each function that makes a request, the names of its arguments, in order. The first function in the dict
        is ``observe``.
        """
        return {OBSERVE: ()} | {s.name: tuple(p.name for p in s.parameters) for s in self.primitives}
