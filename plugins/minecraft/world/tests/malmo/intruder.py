"""Runs in MineDojo's interpreter: one of two players sends wrong tokens. This file imports no module of rlgpt.

    python intruder.py PORT

The last line of the output is JSON. For each wrong token, ``refused`` has the error of MineDojo, whether the next step
ended the episode, the error of one more step, and whether the next reset started a game. ``same`` has the clock values
of the game that the second player starts with the first player's token. ``host`` has the clock values of the first
player, which takes one step after each token.

MineDojo is not changed. Its ``reset`` draws the name of a token and always adds ``:0:0:1:true`` (``sim/sim.py``,
``bridge_env.py``). To send a wrong token, this script calls the methods that ``reset`` calls, in the same order, with
other arguments.
"""

import json
import sys

import minedojo
from lxml import etree
from minedojo.sim.bridge.mc_instance import InstanceManager

HOST = "the-first-player"
WRONG = [
    {"experiment": "a:name"},
    {"experiment": "e", "seed": "once"},
    {"experiment": HOST, "role": 1, "agents": 2},
    {"experiment": HOST, "role": 1},
    {"experiment": HOST, "agents": 2},
]
"""A name with a colon, a seed that is not a number, and three attempts to join the mission of the first player."""


def player(port):
    InstanceManager.add_existing_instance(port)
    world = {"generate_world_type": "specified_biome", "specified_biome": "plains", "world_seed": "1"}
    env = minedojo.make("open-ended", image_size=(16, 24), regenerate_world_after_reset=True, **world)
    env.reset()
    return env


def begin(env, experiment, role=0, agents=1, seed=None):
    """Run MineDojo's ``reset`` up to the start of the mission, with a given token."""
    simulator, bridge = env.unwrapped, env.unwrapped._bridge_env
    mission = etree.fromstring(simulator._sim_spec.to_xml(experiment))
    bridge._setup_instances()
    bridge._send_mission(bridge._instances[0], mission, bridge._get_token(role, experiment), agents, seed)


def raised(work, *args, **options):
    """Return the error that a call raises, or None."""
    try:
        work(*args, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def clock(env):
    """Return the world's time after an idle step, or None if the episode is over."""
    _, _, done, info = env.step(env.action_space.no_op())
    return None if done else int(info["total_time"])


def main():
    port = int(sys.argv[1])
    host, intruder = player(port), player(port)
    begin(host, HOST)
    times, results = [clock(host)], []
    for token in WRONG:
        error = raised(begin, intruder, **token)
        ended, again = clock(intruder) is None, raised(intruder.step, intruder.action_space.no_op())
        times.append(clock(host))
        intruder.reset()
        results.append({"error": error, "ended": ended, "again": again, "recovers": clock(intruder) is not None})
    begin(intruder, HOST)
    same = [clock(intruder) for _ in range(3)]
    times.append(clock(host))
    print(json.dumps({"refused": results, "same": same, "host": times}), flush=True)
    for env in (host, intruder):
        env.close()


if __name__ == "__main__":
    main()
