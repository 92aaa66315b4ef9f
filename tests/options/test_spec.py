"""If the base environment comes from ``gymnasium.make``, the extended environment has a spec that makes an equal
environment.
"""

import gymnasium
import pytest
from rlgpt import CodedAction, Parameter, extend, flat_view

NUDGE = CodedAction(
    name="nudge",
    doc="One low-level action.",
    source="def run(size=0.0):\n    yield act()\n",
    parameters=(Parameter(name="size", low=-1, high=1, default=0),),
)


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_spec_of_an_extended_environment_makes_an_equal_environment(name: str) -> None:
    for env in (extend(gymnasium.make(name), [NUDGE]), flat_view(extend(gymnasium.make(name), [NUDGE]))):
        assert env.spec is not None
        again = env.spec.make()
        assert again.action_space == env.action_space
        first = [e.reset(seed=3)[0].tolist() for e in (env, again)]
        assert first[0] == first[1]
        env.close()
        again.close()
