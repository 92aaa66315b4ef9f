"""The contract's checker on environments with text observations, which gymnasium's own checker cannot compare."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from rlgpt.envs import TextArray
from rlgpt.testing.contract.first import check


class Reader(gymnasium.Env):
    """An environment whose observation is two words. With ``fickle`` the words differ after each reset, also for equal
    seeds.
    """

    def __init__(self, fickle: bool) -> None:
        self.observation_space = spaces.Dict({"words": TextArray((2,))})
        self.action_space = spaces.Discrete(2)
        self.fickle, self.resets = fickle, 0

    def _observe(self):
        return {"words": np.array(["a", str(self.resets if self.fickle else 0)])}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.resets += 1
        return self._observe(), {}

    def step(self, action):
        return self._observe(), 0.0, False, False, {}


def test_contract_checker_reports_text_observations_that_do_not_depend_on_the_seed() -> None:
    check(Reader(fickle=False))
    with pytest.raises(AssertionError, match="seed"):
        check(Reader(fickle=True))
