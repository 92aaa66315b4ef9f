"""The tasks. Each task has elements that must reach their goals, a horizon and a level of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgpt.domain import Task

from rlgpt_kitchen.elements import ELEMENTS

HORIZON = 280
"""Horizon of a task with one element, in control steps: the environment's default."""

ELEMENT_HORIZON = 140
"""Steps of the horizon for each element of a sequence, in control steps. A sequence of four elements has twice the
default horizon, because within the default horizon the joints would have to move at their speed limits.
"""

NOISE: Mapping[str, float] = {"robot_noise_ratio": 0.01, "object_noise_ratio": 0.0005}
"""Noise of the tasks without the suffix ``_noisy``: the environment's defaults."""

STRONG_NOISE: Mapping[str, float] = {"robot_noise_ratio": 0.5, "object_noise_ratio": 0.3}
"""Noise of the ``_noisy`` variants: up to 0.05 rad on every observed joint of the arm, from which the
environment also computes its motor commands; up to 0.03 m on the observed kettle and 0.03 rad on the
observed doors. Fixed scripts that always solve the tasks without this noise solve 6 of 20 noisy episodes (hinge
cabinet), 12 to 16 (microwave, switch, burners) or all (kettle, slide cabinet).
"""

AMPLITUDE: Mapping[str, float] = {
    "joint": 0.1,
    "finger": 0.1,
    "kettle": 0.1,
    "microwave": 0.1,
    "hinge_cabinet": 0.1,
    "slide_cabinet": 0.005,
    "light_switch": 0.0005,
    "bottom_burner": 0.005,
    "top_burner": 0.0005,
}
"""Largest noise of a sensor for a noise ratio of 1, rad or m: of an arm joint, a finger, and the joint of an element
(of the kettle: its x). FrankaKitchen-v1 applies the same amplitudes; a test compares the two.
"""

HAND_AMPLITUDE = 0.053
"""Root mean square of the error of the observed hand position for a noise ratio of 1, m, at the start of an episode."""

SEQUENCES: Mapping[str, tuple[str, ...]] = {
    "sequence_a": ("microwave", "kettle", "light_switch", "slide_cabinet"),
    "sequence_b": ("bottom_burner", "top_burner", "hinge_cabinet", "light_switch"),
    "sequence_all": tuple(ELEMENTS),
}

_SUCCESS = "the joints of the {what} are within a norm of 0.3 (rad, m) of the goal {goal}, as in FrankaKitchen-v1"


def _task(name: str, elements: Sequence[str], noise: Mapping[str, float], suffix: str) -> Task:
    parts = [ELEMENTS[e] for e in elements]
    goal = "; then ".join(p.goal_text for p in parts)
    success = " and ".join(_SUCCESS.format(what=p.label, goal=list(p.goal)) for p in parts)
    return Task(
        id=f"kitchen/{name}{suffix}",
        goal=goal[0].upper() + goal[1:] + ("." if not suffix else ", although sensors and motors are noisy."),
        horizon=HORIZON if len(parts) == 1 else ELEMENT_HORIZON * len(parts),
        success=success + (" (each once, in any order)" if len(parts) > 1 else ""),
        settings={"elements": tuple(elements), **noise},
    )


def make_tasks() -> dict[str, Task]:
    """Return every task by its id. The kitchen plugin has a task for each of seven elements, three tasks with
    sequences, and a noisy variant of each task.
    """
    variants: dict[str, Sequence[str]] = {**{e: (e,) for e in ELEMENTS}, **SEQUENCES}
    tasks = [
        _task(name, elements, noise, suffix)
        for noise, suffix in ((NOISE, ""), (STRONG_NOISE, "_noisy"))
        for name, elements in variants.items()
    ]
    return {task.id: task for task in tasks}


def elements_of(task: Task) -> tuple[str, ...]:
    """Names of the task's elements, in the order of the goal's text."""
    value = task.settings["elements"]
    return tuple(str(v) for v in value) if isinstance(value, tuple | list) else (str(value),)


def noise_of(task: Task) -> dict[str, str]:
    """Return the sizes of the sensor noise that the task's settings cause, as text (in m or rad)."""
    robot, objects = (float(task.settings[name]) for name in ("robot_noise_ratio", "object_noise_ratio"))  # type: ignore[arg-type]
    parts = [ELEMENTS[name] for name in elements_of(task)]
    units = {e.name: "m" if e.slides or e.name == "kettle" else "rad" for e in parts}
    return {
        "joint": f"{AMPLITUDE['joint'] * robot:.2g}",
        "finger": f"{AMPLITUDE['finger'] * robot:.2g}",
        "opening": f"{2 * AMPLITUDE['finger'] * robot:.2g}",
        "hand": f"{HAND_AMPLITUDE * robot:.2g}",
        "elements": "; ".join(f"+-{AMPLITUDE[e.name] * objects:.2g} {units[e.name]} in the {e.label}" for e in parts),
    }
