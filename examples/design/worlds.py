"""Seven environments without a plugin, with descriptions such as users of ``rlgpt.design()`` write.

    python examples/design/worlds.py doorkey --llm openai/gpt-5 --folder runs/doorkey
    python examples/design/worlds.py doorkey --llm examples/design/transcripts/doorkey/0.jsonl

The file ``transcripts/WORLD/N.jsonl`` has recorded replies of a language model; the folder ``bundles/WORLD`` has a
bundle.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt import Bundle, design
from rlgpt.envs import metaworld
from rlgpt.plugin import AttributeStates, MakeEnv, StateCodec
from rlgpt.plugin.defaults import Meaning

HERE = Path(__file__).parent


@dataclass(frozen=True)
class World:
    """The arguments of :func:`rlgpt.design` except for the language model and the folder.

    :ivar budget: the budget of primitive steps. With the values of ``budget``, ``settings`` and ``hyperparameters`` in
        examples/design/worlds.py, a run takes minutes on one core.
    """

    make_env: MakeEnv
    goal: str
    labels: Mapping[str, str] | None = None
    observations: Mapping[str, Meaning] | None = None
    success: float | str | None = None
    budget: int = 50_000
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=lambda: {"selection_episodes": 10})
    states: Callable[[], StateCodec] | None = None

    @property
    def name(self) -> str:
        return next(name for name, world in WORLDS.items() if world is self)

    @property
    def described(self) -> dict[str, Any]:
        """Return the arguments of this world that :func:`rlgpt.config.prepare.prepare` also accepts."""
        names = ("make_env", "goal", "labels", "observations", "success")
        docs = (HERE / "docs" / f"{self.name}.md").read_text()
        states = None if self.states is None else self.states()
        return {"docs": docs, "states": states, **{name: getattr(self, name) for name in names}}

    def design(self, llm: Any, folder: Path | None, **more: Any) -> Bundle:
        """Call :func:`rlgpt.design` with the arguments of this world, and with the further arguments ``more``."""
        arguments = {
            "budget": self.budget,
            "hyperparameters": self.hyperparameters,
            **self.settings,
            **self.described,
            **more,
        }
        return design(llm=llm, folder=folder, **arguments)


def _xyz(name: str, meaning: str) -> dict[str, str]:
    return {f"{name}_{axis}": f"{meaning}; {axis}" for axis in "xyz"}


def doorkey(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """MiniGrid's DoorKey-8x8. The observation has the whole grid, and the step limit of an episode is a tenth of
    MiniGrid's step limit.
    """
    import minigrid  # noqa: F401 - registers its environments
    from minigrid.wrappers import FullyObsWrapper

    env = gymnasium.make("MiniGrid-DoorKey-8x8-v0", max_steps=64, render_mode=render_mode)
    env = FullyObsWrapper(env)  # type: ignore[no-untyped-call]
    return gymnasium.wrappers.FilterObservation(env, ["image", "direction"])


def minigrid_states() -> StateCodec:
    """Return the codec that saves and restores episodes of MiniGrid. The codec names the classes of the grid and its
    objects.
    """
    from minigrid.core import world_object
    from minigrid.core.grid import Grid

    names = ("Ball", "Box", "Door", "Floor", "Goal", "Key", "Lava", "Wall")
    return AttributeStates(classes=(Grid, *(getattr(world_object, name) for name in names)))


def mountain_car(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    return gymnasium.make("MountainCarContinuous-v0", render_mode=render_mode)


def lunar_lander(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    return gymnasium.make("LunarLander-v3", render_mode=render_mode)


def breakout(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make the Atari game Breakout. An observation is four grey frames of 84 x 84 pixels. An action lasts four frames
    of the game; an episode has at most 1,000 actions.
    """
    import ale_py

    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ALE/Breakout-v5", frameskip=1, render_mode=render_mode)
    env = gymnasium.wrappers.AtariPreprocessing(env, frame_skip=4, screen_size=84)
    return gymnasium.wrappers.TimeLimit(gymnasium.wrappers.FrameStackObservation(env, 4), 1000)


def metaworld_drawer(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make Meta-World's drawer, which a worker process runs in the interpreter that ``make metaworld`` installs."""
    return metaworld.make("drawer-open-v3", horizon=200, render_mode=render_mode)


def fetch_slide(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make Gymnasium-Robotics' FetchSlide, with minus the distance from the puck to the goal as the dense reward."""
    return _robotics("FetchSlideDense-v4", render_mode)


def adroit_door(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make Gymnasium-Robotics' AdroitHandDoor: a hand turns the latch of a door and opens the door."""
    return _robotics("AdroitHandDoor-v1", render_mode)


def _robotics(name: str, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    import gymnasium_robotics

    gymnasium.register_envs(gymnasium_robotics)
    return gymnasium.make(name, render_mode=render_mode)


WORLDS = {
    "doorkey": World(
        doorkey,
        "Pick up the key, open the locked door with it, and walk to the goal square.",
        success="reported else terminated and return > 0",
        budget=40_000,
        states=minigrid_states,
    ),
    "mountain_car": World(
        mountain_car,
        "Drive the car up the right hill to the flag at position 0.45, with as little force as it takes.",
        labels={"force": "push on the car, from -1 (left) to 1 (right)"},
        observations={"position": "along the track to the right, m", "velocity": "to the right, m per step"},
        success=99,
        budget=60_000,
    ),
    "lunar_lander": World(
        lunar_lander,
        "Land softly on the pad at (0, 0), upright, both legs on the ground, engines off.",
        labels={
            "nothing": "all engines off",
            "left": "the left engine: spin grows (counter-clockwise), a slight push to the left",
            "main": "the engine under the lander: a push along its own up direction",
            "right": "the right engine: spin falls (clockwise), a slight push to the right",
        },
        observations={
            "x": "to the right of the pad; 1 is half the width of the picture",
            "y": "height of the legs above the pad; about 1.4 at the start",
            "vx": "velocity to the right, x per 100 steps",
            "vy": "velocity upwards, y per 44 steps",
            "angle": "rad, positive when tilted to the left (counter-clockwise)",
            "spin": "angular velocity, rad per 20 steps, positive counter-clockwise",
            "left_leg": "1 while the left leg touches the ground",
            "right_leg": "1 while the right leg touches the ground",
        },
        success="reported else return >= 200",
        budget=200_000,
        settings={"selection_episodes": 30},
    ),
    "fetch_slide": World(
        fetch_slide,
        "Hit or push the puck so that it slides to the goal and stops there.",
        labels={
            "dx": "move the gripper forward (away from the robot); 1 is 0.05 m",
            "dy": "move the gripper to the left; 1 is 0.05 m",
            "dz": "move the gripper up; 1 is 0.05 m",
            "fingers": "no effect: the fingers are locked",
        },
        observations={
            "observation": {
                **_xyz("grip", "position of the gripper, m"),
                **_xyz("puck", "position of the puck, m"),
                **_xyz("puck_from_grip", "position of the puck minus that of the gripper, m"),
                "finger_right": "opening of the right finger, m",
                "finger_left": "opening of the left finger, m",
                **_xyz("puck_angle", "orientation of the puck as Euler angle, rad"),
                **_xyz("puck_speed", "velocity of the puck relative to the gripper, m per step"),
                **_xyz("puck_spin", "angular velocity of the puck, rad per step"),
                **_xyz("grip_speed", "velocity of the gripper, m per step"),
                "finger_right_speed": "velocity of the right finger, m per step",
                "finger_left_speed": "velocity of the left finger, m per step",
            },
            "achieved_goal": _xyz("puck_now", "position of the puck, m"),
            "desired_goal": _xyz("goal", "position of the goal, m"),
        },
        success="is_success at the end",
        budget=200_000,
        settings={"selection_episodes": 30},
    ),
    "adroit_door": World(adroit_door, "Turn the latch with the handle and pull the door open.", success="success ever"),
    "breakout": World(
        breakout,
        "Break bricks: return the ball with the paddle and lose no life for as long as possible.",
        success=10,
        budget=20_000,
        hyperparameters={"num_envs": 8, "minibatch_size": 128, "update_epochs": 2, "learning_rate": 5e-4},
        settings={"selection_episodes": 5},
    ),
    "metaworld_drawer": World(
        metaworld_drawer,
        "Open the drawer: pull its handle towards the robot until it is at the goal.",
        labels=metaworld.LABELS,
        observations=metaworld.OBSERVATIONS,
        success="reported else terminated and return > 0",
        budget=40_000,
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("world", choices=WORLDS)
    parser.add_argument("--llm", required=True, help="a model's name for litellm, or a recording")
    parser.add_argument("--api-base", help="of your own server; the model is then openai/NAME")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each attempt")
    parser.add_argument("--folder", type=Path, help="of the run; an existing run is resumed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--report-episodes", type=int, default=20)
    arguments = parser.parse_args()
    llm = arguments.llm
    if arguments.api_base:
        llm = {"model": llm, "api_base": arguments.api_base, "timeout": arguments.timeout}
    more = {"seed": arguments.seed, "iterations": arguments.iterations, "report_episodes": arguments.report_episodes}
    bundle = WORLDS[arguments.world].design(llm, arguments.folder, **more)
    print(bundle.model_dump_json(indent=1, include={"tested_on"}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
