"""Runs coded functions in the sandbox, at every primitive step of an episode. Coded functions are features (numbers for
the view), reward terms, and predicates (whether a sub-goal is reached).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rlgpt.domain import CodedFeatures, CodedFunction, CodedPredicate, CodedReward, Plain, Verdict
from rlgpt.domain.functions import neutral
from rlgpt.errors import SandboxError
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.code_runner import CodeRunner, GuestSetup
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.instances import Instances
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import SandboxLimits

Result = bool | float | dict[str, float]


@dataclass
class Answers:
    """The answers of all coded functions at one primitive step.

    :ivar features: for each output of a feature, a number within the bounds of the output.
    :ivar rewards: for each reward term, its potential or reward, a number within the bounds of the term.
    :ivar predicates: for each predicate, whether its sub-goal is reached.
    :ivar verdicts: the verdicts on the functions that failed at this primitive step.
    """

    features: dict[str, float] = field(default_factory=dict)
    rewards: dict[str, float] = field(default_factory=dict)
    predicates: dict[str, bool] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()


class FunctionRunner(CodeRunner):
    """Runs one coded function in a separate WebAssembly instance. The function's memory (a dict) lasts as long as this
    instance.
    """

    def __init__(self, function: CodedFunction, setup: GuestSetup) -> None:
        super().__init__(function.name, function.source, function.entry, setup, lambda: None)
        self.function = function

    @property
    def neutral(self) -> Result:
        """The neutral answer, which replaces the answer of a failed function. The neutral answer is 0 (or the bound
        that is nearest to 0) for a number, and False for a predicate.
        """
        match self.function:
            case CodedFeatures(outputs=outputs):
                return {o.name: o.neutral for o in outputs}
            case CodedReward(low=low, high=high):
                return neutral(low, high)
        return False

    def evaluate(
        self, view: Mapping[str, Plain], known: dict[tuple[str, ...], Packed | str | Refused]
    ) -> Result | Verdict:
        """Return the checked answer of the coded function, with its numbers clipped into their bounds.

        :param known: the parts of the view that were encoded before, by their keys.
        :raises PluginError: the part of ``view`` that the function can read contains a value that is not plain.
        """
        part = self.part(view)
        text = known.get(tuple(part))
        if text is None:
            try:
                text = encode(part, self.name, self._limits.view_bytes)
            except Refused as refused:
                text = refused
            known[tuple(part)] = text
        if isinstance(text, Refused):
            return self.verdict(text)
        ready = self.load()
        if isinstance(ready, Verdict):
            return ready
        packed = text

        def read(reply: bytes, limits: SandboxLimits) -> Result:
            return self._checked(replies.value(reply, limits))

        return self._call("call-function", self.name, packed, kind="function", read=read)

    def _checked(self, value: Result) -> Result:
        match self.function, value:
            case CodedPredicate(), bool():
                return value
            case CodedReward(low=low, high=high), float():
                return min(max(value, low), high)
            case CodedFeatures(outputs=outputs), dict():
                declared = [o.name for o in outputs]
                if value.keys() != set(declared):
                    got = ", ".join(sorted(value))[:200] or "nothing"
                    raise Refused("type", f"`features` must return exactly {', '.join(declared)[:200]}; got {got}")
                return {o.name: min(max(value[o.name], o.low), o.high) for o in outputs}
        raise Refused("reply", "the guest's message is not an answer of this function")


class Functions:
    """All coded functions of an episode. Features are evaluated before other functions, because reward terms and
    predicates may read the outputs of the features in the view.

    A coded function that fails causes one verdict in an episode. A failed function is not called again in this episode,
    unless the cause was a wall-clock timeout. Its answer is then neutral (zero or False), but a reward term of kind
    ``potential`` keeps its last value. One coded function cannot change another coded function.

    :param seed: seed of Python's module ``random`` in each function.
    :param quarantined: names of quarantined functions, which are not called; their answers are neutral.
    :raises SandboxError: two functions or outputs have the same name, or there are too many functions.
    """

    def __init__(
        self,
        limits: SandboxLimits,
        library: Library,
        functions: Sequence[CodedFunction],
        seed: int,
        on_turn: Callable[[], None] | None = None,
        quarantined: Collection[str] = (),
        instances: Instances | None = None,
    ) -> None:
        self.limits = limits
        check(functions, library, limits)
        setup = GuestSetup(
            limits=limits,
            checker=Checker(Library(primitives=())),
            functions="{}",
            view=tuple(key.name for key in library.view),
            pieces=len(functions),
            seed=seed,
            on_turn=on_turn,
            instances=instances or Instances(),
        )
        runners = [FunctionRunner(f, setup) for f in functions]
        self._features = [r for r in runners if isinstance(r.function, CodedFeatures)]
        self._others = [r for r in runners if not isinstance(r.function, CodedFeatures)]
        self._failed = set(quarantined)
        self._newest: dict[str, Result] = {}

    def evaluate(self, view: Mapping[str, Plain]) -> Answers:
        """Call every coded function with ``view``.

        :raises PluginError: ``view`` contains a value that is not plain.
        """
        answers, verdicts = Answers(), list[Verdict]()
        for runner, answer in self._ask(self._features, view, verdicts):
            assert isinstance(answer, dict), f"{runner.name} is a feature"
            answers.features.update(answer)
        for runner, answer in self._ask(self._others, {**view, **answers.features}, verdicts):
            if isinstance(answer, bool):
                answers.predicates[runner.name] = answer
            elif isinstance(answer, float):
                answers.rewards[runner.name] = answer
        answers.verdicts = tuple(verdicts)
        return answers

    def fuel_used(self, name: str) -> int:
        """Units of fuel that the function ``name`` used for its newest answer; 0 if the function was not called."""
        return next(r.fuel_used for r in (*self._features, *self._others) if r.name == name)

    def _ask(
        self, runners: Sequence[FunctionRunner], view: Mapping[str, Plain], verdicts: list[Verdict]
    ) -> Iterator[tuple[FunctionRunner, Result]]:
        known: dict[tuple[str, ...], Packed | str | Refused] = {}
        for runner in runners:
            if runner.name in self._failed:
                yield runner, self._instead(runner)
                continue
            runner.add_step()
            answer = runner.evaluate(view, known)
            if isinstance(answer, Verdict):
                verdicts.append(answer)
                if answer.kind != "wall":  # A slow machine, not the function, may be the cause of a wall-clock timeout.
                    self._failed.add(runner.name)
                    runner.drop()
                answer = self._instead(runner)
            self._newest[runner.name] = answer
            yield runner, answer

    def _instead(self, runner: FunctionRunner) -> Result:
        """The answer that replaces the answer of a failed function. A failed reward term of kind ``potential`` keeps
        its last value, so that it adds no reward.
        """
        function = runner.function
        if isinstance(function, CodedReward) and function.kind == "potential":
            return self._newest.get(runner.name, runner.neutral)
        return runner.neutral


def check(functions: Sequence[CodedFunction], library: Library, limits: SandboxLimits) -> None:
    """Check that the names of all functions, of their outputs and of the view keys differ.

    :raises SandboxError: two functions have the same name, two outputs or view keys have the same name, or there are
        more functions than ``limits.instances``.
    """
    if len(functions) > limits.instances:
        raise SandboxError(
            f"there are {len(functions)} features, reward terms and predicates; at most {limits.instances} are "
            "allowed, because each keeps its instance: SandboxLimits(instances=...)."
        )
    names = [f.name for f in functions]
    keys = [key.name for key in library.view] + [
        o.name for f in functions if isinstance(f, CodedFeatures) for o in f.outputs
    ]
    for what, given in (("functions", names), ("outputs, and of keys of the view,", keys)):
        if doubles := sorted({name for name in given if given.count(name) > 1}):
            raise SandboxError(f"names of {what} must differ; used twice: {', '.join(doubles)}.")
