"""The environments of the benchmark EvoPolicyGym that rlgpt runs, with their descriptions.

Each description is the environment's own docstring, with those facts of its public documentation that the docstring
lacks, such as the codes of a grid's cells. No description contains knowledge from a policy that somebody has written
for the environment.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

ROOT = Path(__file__).resolve().parents[1]
TRANSCRIPTS = ROOT / "examples" / "design" / "transcripts" / "evopolicygym"
EXTRA = ROOT / ".evopolicygym"
"""The folder with the packages of evopolicygym.txt, which ``make setup`` does not install."""
EPISODES = 128
"""The number of episodes that EvoPolicyGym gives to an agent."""


@dataclass(frozen=True)
class Case:
    """One environment.

    :ivar env: the id of the environment in gymnasium's registry, or ``PACKAGE:ID``.
    :ivar horizon: the maximal number of steps of an episode.
    :ivar goal: the goal of the task, for the language model.
    :ivar docs: facts of the environment's public documentation that its docstring lacks.
    :ivar labels: names of the action's parts, with meanings; None if the environment names them.
    :ivar make: a function that makes the environment; None means that gymnasium makes it.
    :ivar trainer: the trainer with which every method learns on this environment.
    """

    env: str
    horizon: int
    goal: str
    docs: str = ""
    labels: Mapping[str, str] | None = None
    make: Callable[[], gymnasium.Env[Any, Any]] | None = None
    trainer: str = "sac"

    @property
    def budget(self) -> int:
        """The budget in primitive steps: the steps of 128 episodes of full length."""
        return EPISODES * self.horizon

    def find(self) -> tuple[Any, Any, Any]:
        """Return the plugin, the task, and the factory with which an environment's recipe makes the plugin."""
        from rlgpt.config.prepare import ConstantPluginFactory, prepare
        from rlgpt.domain import Score
        from rlgpt.plugin.docstrings import described

        make = self.make or functools.partial(make_registered, self.env)
        sample = make()
        docs = f"{described(sample)}\n\n{self.docs}".strip()
        sample.close()
        plugin, task = prepare(make, self.goal, docs=docs, labels=self.labels, score=Score(), horizon=self.horizon)
        return episodes_only(plugin), task, ConstantPluginFactory(plugin)


def episodes_only(plugin: Any) -> Any:
    """Return the plugin without saving and restoring of episodes, because EvoPolicyGym allows only whole episodes."""
    plugin.states = _no_states
    return plugin


def _no_states(task: Any) -> None:
    return None


def make_registered(env: str, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make an environment of gymnasium's registry, after the package that registers it is imported."""
    package, _, env_id = env.rpartition(":")
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        if package:
            _import(package)
        # Without a render_mode, the settings of the environment, which the language model reads, have none either.
        return gymnasium.make(env_id, **({} if render_mode is None else {"render_mode": render_mode}))


def _import(package: str) -> Any:
    """Import a package, which may be in :data:`EXTRA`.

    :raises SystemExit: the package is not installed.
    """
    if EXTRA.is_dir() and str(EXTRA) not in sys.path:
        sys.path.append(str(EXTRA))
    try:
        module = __import__(package)
    except ImportError as fault:
        raise SystemExit(
            f"{package} cannot be imported ({fault}). Install it: "
            ".venv/bin/python -m pip install --no-deps --target .evopolicygym -r benchmarks/evopolicygym.txt"
        ) from fault
    if package == "gymnasium_robotics":
        gymnasium.register_envs(module)
    return module


class BringBall(gymnasium.Env[Any, Any]):
    """The task "bring ball" of the planar manipulator in the DeepMind Control Suite. A planar arm with a gripper picks
    up a ball and brings it to a target.

    Observation, all lengths in m: arm_pos, the sine and cosine of the angles of the arm's eight joints (four joints of
    the arm, two fingers with two joints each); arm_vel, the joints' angular velocities in rad/s; touch, log(1 + force)
    of five touch sensors (palm, fingers, finger tips); hand_pos, object_pos and target_pos, each with x, z, and the
    orientation as cosine and sine of half the angle; object_vel, the ball's velocity in x and z and its spin.

    An action has five numbers from -1 to 1: the torques at root, shoulder, elbow and wrist, and the closing of the
    gripper. A step lasts 0.01 s, and an episode has 1,000 steps. The reward of a step is between 0 and 1. It is 1 if
    the ball is within 0.01 m of the target; farther away it falls as a Gaussian, to 0.1 at a distance of 0.03 m.
    """

    def __init__(self) -> None:
        self._load(0)
        spec = self._env.action_spec()
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, spec.shape)
        self.observation_space = gymnasium.spaces.Dict(
            {
                name: gymnasium.spaces.Box(-float("inf"), float("inf"), part.shape, part.dtype)
                for name, part in self._env.observation_spec().items()
            }
        )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._load(int(self.np_random.integers(2**32)) if seed is None else seed)
        return dict(self._env.reset().observation), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        step = self._env.step(action)
        ended = step.last() and step.discount == 0.0
        return dict(step.observation), float(step.reward), ended, step.last() and not ended, {}

    def _load(self, seed: int) -> None:
        import numpy as np

        _import("dm_control")
        from dm_control import suite

        self._env = suite.load("manipulator", "bring_ball", task_kwargs={"random": np.random.RandomState(seed)})


MINIGRID = """The agent sees only a part of the grid: the 7 x 7 cells in front of it. image_grid[i][j] is the cell in
column i (0 at the left, 6 at the right) and row j (0 is farthest ahead, 6 is the agent's own row). The agent is at
i = 3, j = 6 and looks towards j = 0. Its own cell shows the object that it carries. Cells that it cannot see, for
example behind a wall or a closed door, are 0. Each cell is [object, colour, state]. Objects: 0 unseen, 1 empty, 2 wall,
3 floor, 4 door, 5 key, 6 ball, 7 box, 8 goal, 9 lava. Colours: 0 red, 1 green, 2 blue, 3 purple, 4 yellow, 5 grey.
State of a door: 0 open, 1 closed, 2 locked. direction is the compass direction in which the agent looks: 0 right,
1 down, 2 left, 3 up.

left and right turn by 90 degrees on the spot. forward moves one cell ahead if that cell is free: empty, floor, an open
door or the goal. pickup takes a key, a ball or a box from the cell ahead; the agent carries one object at a time. drop
puts it into the empty cell ahead. toggle opens or closes the door ahead (a locked door needs the key of its colour in
the agent's hand), or opens the box ahead, in whose place the content of the box appears. done has no effect."""

PARKING = """The car must park in a given spot of a car park with two rows of 14 spots, as fast as possible and without
hitting the wall around the car park. No other car is there. The three parts of the observation have the six numbers
[x / 100, y / 100, vx / 5, vy / 5, cos_h, sin_h]: position in m, velocity in m/s, heading as cosine and sine.
observation and achieved_goal describe the car, desired_goal the car in the wanted spot, at rest.

The first number of the action is the acceleration, -1 to 1 for -5 to 5 m/s^2 (the car can drive backwards), and the
second is the angle of the front wheels, -1 to 1 for -45 to 45 degrees. The car is 5 m long and 2 m wide and follows a
kinematic bicycle model; a spot is 4 m wide and 8 m long. A step lasts 0.2 s. The reward of a step is
r = -(w . |achieved_goal - desired_goal|)^0.5 with the reward_weights w, and in addition -5 for a collision. The episode
ends when r exceeds -success_goal_reward (the car is parked), with a collision, or after 500 steps."""

ROUNDABOUT = """The car approaches a roundabout with flowing traffic. It follows its planned route on its own; the
action only chooses lane and speed. The observation has a line for the own car and for the four nearest cars, each with
[presence, x, y, vx, vy]: 1 if there is a car, position divided by 100 m and velocity divided by 15 m/s, all absolute.

Actions: LANE_LEFT, IDLE, LANE_RIGHT change the lane (or not); FASTER and SLOWER choose the next higher or lower of the
target speeds 0, 8, 16 m/s. A step lasts 1 s, and an episode has at most 11 steps; it ends with a collision. The reward
of a step is between 0 and 1: high speed counts positively, collisions and lane changes negatively."""

RACETRACK = """The car must stay on a closed race track with two lanes, close to the middle of its lane, without hitting
another car. Its speed is constant; the action is only the steering: -1 to 1 for the angle of the front wheels from -45
to 45 degrees, positive to the right. A step lasts 0.2 s, and an episode has at most 1,500 steps.

The observation is a grid around the car, in the car's own axes, from -18 to 18 m with cells of 3 m: observation[0] says
in which cells a car is (1), observation[1] which cells are road (1). The first index runs along the car's heading (0 is
18 m behind, 11 is 18 m ahead), the second to its right.

Reward of a step while on the road: it is between 0 and 1, 1 in the middle of the lane without steering; steering
(-0.3 times its size) and a collision lower it. The episode ends with a collision or off the road."""

ACROBOT_LABELS = {"negative": "torque -1 N m", "none": "no torque", "positive": "torque 1 N m"}
FETCH_LABELS = {
    "dx": "move the gripper away from the robot, -1 to 1",
    "dy": "move the gripper to the robot's left, -1 to 1",
    "dz": "move the gripper up, -1 to 1",
    "fingers": "open (above 0) or close (below 0) the gripper",
}
PARKING_LABELS = {"acceleration": "-1 to 1 for -5 to 5 m/s^2", "steering": "-1 to 1 for -45 to 45 degrees"}

CASES: Mapping[str, Case] = {
    "fourrooms": Case("minigrid:MiniGrid-FourRooms-v0", 100, "Reach the green goal square in few steps.", MINIGRID),
    "parking": Case(
        "highway_env:parking-v0", 500, "Park the car in the wanted spot and heading, fast.", PARKING, PARKING_LABELS
    ),
    "racetrack": Case(
        "highway_env:racetrack-v1",
        1_500,
        "Drive along the track in the middle of the lane as long as possible, without a collision.",
        RACETRACK,
        {"steering": "-1 to 1 for -45 to 45 degrees"},
    ),
    "roundabout": Case(
        "highway_env:roundabout-v0", 11, "Drive through the roundabout fast and without a collision.", ROUNDABOUT
    ),
    "fetch_push": Case(
        "gymnasium_robotics:FetchPush-v4",
        50,
        "Push the block to the goal position on the table fast, and keep it there.",
        labels={**FETCH_LABELS, "fingers": "no effect: the gripper stays closed"},
    ),
    "fetch_pickandplace": Case(
        "gymnasium_robotics:FetchPickAndPlace-v4",
        50,
        "Bring the block to the goal position, on the table or in the air, fast, and keep it there.",
        labels=FETCH_LABELS,
    ),
    "pusher": Case("Pusher-v5", 100, "Push the cylinder to the goal position with little torque."),
    "reacher": Case("Reacher-v5", 50, "Move the fingertip to the target fast, with little torque."),
    "bring_ball": Case("bring_ball", 1_000, "Bring the ball to the target fast, and hold it there.", make=BringBall),
    "adroit_relocate": Case(
        "gymnasium_robotics:AdroitHandRelocate-v1", 200, "Grasp the ball, lift it and bring it to the target."
    ),
    "acrobot": Case(
        "Acrobot-v1", 500, "Swing the tip above the line in as few steps as possible.", labels=ACROBOT_LABELS
    ),
    "continuouscar": Case(
        "MountainCarContinuous-v0", 999, "Drive the car up the right hill to the flag with as little force as it takes."
    ),
    "bipedal": Case("BipedalWalker-v3", 1_600, "Walk to the far end without falling, with little torque."),
    "halfcheetah": Case("HalfCheetah-v5", 1_000, "Run forward as fast as possible."),
    "ant": Case("Ant-v5", 1_000, "Walk forward (in x) as fast as possible and stay healthy."),
    "doorkey": Case(
        "minigrid:MiniGrid-DoorKey-16x16-v0",
        2_560,
        "Take the key, open the locked door with it, and reach the green goal square in few steps.",
        MINIGRID,
    ),
    "keycorridor": Case(
        "minigrid:MiniGrid-KeyCorridorS4R3-v0",
        480,
        "Find the key, open the locked door with it, and pick up the ball behind that door in few steps.",
        MINIGRID,
    ),
    "obstructedmaze": Case(
        "minigrid:MiniGrid-ObstructedMaze-1Q-v1", 720, "Find the blue ball and pick it up in few steps.", MINIGRID
    ),
    "racing": Case("CarRacing-v3", 1_000, "Drive along the whole track fast, without leaving it.", trainer="ppo"),
}
"""Name -> environment. The cheap ones come first."""
