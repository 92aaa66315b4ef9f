"""Checks replies of language models for faults that a schema cannot express. Each check returns messages about the
faults for the model that wrote the reply. A check without messages means that the reply is valid.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from rlgpt.agents.base import Brief, History
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFeatures,
    CodedFunction,
    CodedReward,
    FunctionPlan,
    Iteration,
    RLSetup,
    SubAction,
)
from rlgpt.plugin.defaults import SUCCESS
from rlgpt.sandbox import Library, SandboxLimits, lint
from rlgpt.skills import Offered

MAX_CODED_ACTIONS = 8
"""Maximal number of coded actions in a plan. Each action is one more choice that the policy must explore
with a few thousand decisions.
"""

MAX_WEIGHT = 100.0
GAMMA_RANGE = (0.9, 1.0)


def plan_faults(plan: ActionPlan, brief: Brief, history: History = ()) -> list[str]:
    """Find the faults of a plan: names that are already taken, too many coded actions, missing descriptions, and kept
    code that does not exist.
    """
    taken = {
        **dict.fromkeys(brief.primitives, "a primitive"),
        **dict.fromkeys(brief.base_actions, "a base action"),
        "base": "the base action",
        "observe": "a primitive",
    }
    faults = [
        f"the sub-action name {s.name!r} is already the name of {taken[s.name]}; choose another name"
        for s in plan.sub_actions
        if s.name in taken
    ]
    taken |= {
        **dict.fromkeys(_first(brief.observations), "an observation key"),
        **dict.fromkeys(_first(brief.reward_terms), "a reward term"),
    }
    faults += [
        f"the function name {f.name!r} is already the name of {taken[f.name]}; choose another name"
        for f in plan.functions
        if f.name in taken
    ]
    if len(plan.coded) > MAX_CODED_ACTIONS:
        faults.append(f"there are {len(plan.coded)} sub-actions of kind code; at most {MAX_CODED_ACTIONS} are taken")
    return [*faults, *_keep_faults(plan, history, brief.skills)]


def _keep_faults(plan: ActionPlan, history: History, offered: Sequence[Offered]) -> list[str]:
    sources: tuple[Iteration | Offered, ...] = (*history, *offered)
    actions = list(dict.fromkeys(a.name for source in sources for a in source.actions))
    functions = list(dict.fromkeys(f.name for source in sources for f in source.functions))
    parts: tuple[SubAction | FunctionPlan, ...] = (*plan.sub_actions, *plan.functions)
    faults = []
    for part in parts:
        known = actions if isinstance(part, SubAction) else functions
        if not part.keep and not part.description.strip():
            faults.append(f"{part.name}: its description is missing; only what is kept needs none")
        elif part.keep and part.kind == "rl":
            faults.append(f"{part.name}: only code can be kept; leave out `keep` of kind rl")
        elif part.keep and part.name not in known:
            names = ", ".join(known) or "(none)"
            faults.append(f"{part.name}: there is no earlier code of this name to keep. Can be kept: {names}")
    return faults


def action_faults(action: CodedAction, library: Library, limits: SandboxLimits, most_steps: int) -> list[str]:
    """Find the faults of a coded action. Lint checks the source of the coded action, and ``max_steps`` must be at most
    ``most_steps``.
    """
    faults = _lint(action, library, limits)
    if action.max_steps is not None and action.max_steps > most_steps:
        faults.append(f"max_steps is {action.max_steps}; valid in this task: 1 to {most_steps} primitive steps")
    return faults


def _lint(code: CodedAction | CodedFunction, library: Library, limits: SandboxLimits) -> list[str]:
    return [f"line {v.line}: {v.message}" if v.line else v.message for v in lint(code, library, limits)]


def setup_faults(setup: RLSetup, brief: Brief, actions: Collection[CodedAction]) -> list[str]:
    """Find the faults of a setup. Each name in the setup must come from the plugin or from the iteration's code, and
    each value must be in its range.
    """
    horizon = brief.task.horizon
    faults = [
        *_unknown("reward term", setup.reward_weights, _reward_terms(brief)),
        *_unknown("observation key", setup.observation_keys, [*_first(brief.observations), *_outputs(brief.functions)]),
        *_unknown("base action", setup.base_actions or (), brief.base_actions),
        *_unknown("coded action", setup.coded_actions, [a.name for a in actions]),
        *_start_faults(setup, brief, actions),
        *trainer_faults(setup.trainer, brief.trainer_bounds),
    ]
    for term, weight in setup.reward_weights.items():
        if not (math.isfinite(weight) and abs(weight) <= MAX_WEIGHT):
            faults.append(f"the weight of {term!r} is {weight}; it must be within -{MAX_WEIGHT:g} to {MAX_WEIGHT:g}")
    if not any(weight > 0 for weight in setup.reward_weights.values()):
        faults.append("no reward term has a weight above 0, so there is nothing to gain")
    if not GAMMA_RANGE[0] <= setup.gamma <= GAMMA_RANGE[1]:
        faults.append(
            f"gamma is {setup.gamma}; it is per primitive step and must be within {GAMMA_RANGE[0]} to {GAMMA_RANGE[1]}"
        )
    if setup.interrupt_every is not None and setup.interrupt_every > horizon:
        faults.append(f"interrupt_every is {setup.interrupt_every}; an episode has at most {horizon} primitive steps")
    if setup.horizon is not None and setup.horizon > horizon:
        faults.append(f"horizon is {setup.horizon}; the task's own is {horizon}, and training may only be shorter")
    faults += _repeated("observation key", setup.observation_keys)
    faults += _repeated("coded action", setup.coded_actions)
    return faults + _choice_faults(setup, brief, actions)


def function_faults(function: CodedFunction, brief: Brief, library: Library, limits: SandboxLimits) -> list[str]:
    """Find the faults of a coded function. Lint checks the source of the coded function, and the names of the
    function's outputs must be new.
    """
    taken = {
        **dict.fromkeys(_first(brief.observations), "an observation key"),
        **dict.fromkeys(_outputs(f for f in brief.functions if f.name != function.name), "another feature's output"),
    }
    reads_features = not isinstance(function, CodedFeatures)
    faults = _lint(function, library.with_features(brief.functions) if reads_features else library, limits)
    return faults + [
        f"the output name {name!r} is already the name of {taken[name]}; choose another name"
        for name in _outputs([function])
        if name in taken
    ]


def _reward_terms(brief: Brief) -> list[str]:
    coded = [f.name for f in brief.functions if isinstance(f, CodedReward)]
    return list(dict.fromkeys([*_first(brief.reward_terms), SUCCESS.name, *coded]))


def _outputs(functions: Iterable[CodedFunction]) -> list[str]:
    return [o.name for f in functions if isinstance(f, CodedFeatures) for o in f.outputs]


def trainer_faults(trainer: Mapping[str, float], bounds: Mapping[str, tuple[float, float]]) -> list[str]:
    """The faults of the setup's hyperparameters ``trainer``, in words. A setup may choose only hyperparameters in
    ``bounds``, with values within their bounds.
    """
    faults = _unknown("hyperparameter", trainer, bounds)
    for name, value in trainer.items():
        low, high = bounds.get(name, (-math.inf, math.inf))
        if not low <= value <= high:
            faults.append(f"trainer.{name} is {value:g}; valid: {low:g} to {high:g}")
    return faults


def _start_faults(setup: RLSetup, brief: Brief, actions: Collection[CodedAction]) -> list[str]:
    if setup.start_after is None or not brief.restores:
        return _unknown("start state", [setup.reset_option] if setup.reset_option else (), _first(brief.reset_options))
    return _unknown("coded action to start after", [setup.start_after], [a.name for a in actions])


def _choice_faults(setup: RLSetup, brief: Brief, actions: Collection[CodedAction]) -> list[str]:
    kept = brief.base_actions if setup.base_actions is None else setup.base_actions
    if brief.base_space.startswith("Box") and 0 < len(set(kept)) < len(brief.base_actions):
        return [
            "the base action is one vector of numbers and cannot be kept in part: use null (keep it) or [] (drop it)"
        ]
    coded = [a for a in actions if a.name in setup.coded_actions]
    discrete = brief.base_space.startswith("Discrete")
    branches = len(coded) + (len(kept) if discrete else int(bool(kept)))
    numbers = any(a.parameters for a in coded) or (bool(kept) and not discrete)
    if branches >= 2 or (branches == 1 and numbers):
        return []
    return [f"the policy would have {branches} choice(s); keep more base actions or coded actions, at least two in all"]


def _unknown(kind: str, given: Iterable[str], valid: Iterable[str]) -> list[str]:
    names = list(valid)
    faults = []
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            faults.append(f"there is no {kind} {name!r}.{hint} Valid: {', '.join(names) or '(none)'}")
    return faults


def _repeated(kind: str, names: Collection[str]) -> list[str]:
    return [f"a {kind} is named twice in {list(names)}"] if len(set(names)) < len(names) else []


def _first(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [name for name, _ in pairs]
