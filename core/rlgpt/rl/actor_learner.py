"""Connects the network that acts with the network that learns. The two networks may be on different devices, and the
actor may act while the learner learns.
"""

from __future__ import annotations

import copy
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import torch

from rlgpt.rl.learner import PolicyLearner
from rlgpt.rl.rollout import Rollout


class ActorLearner:
    """A learner and the network that acts in the environments.

    Without ``overlap``, acting and learning take turns, and each rollout is collected with the newest weights. With
    ``overlap``, the update from a rollout runs in a thread while the next rollout is collected. (Torch releases
    Python's global interpreter lock during its computations.) The next rollout is then collected with the weights from
    before this update, so the weights of the actor are older than those of the learner by one update. The actor gets
    new weights only between two rollouts, so the results of a training depend on its seed, but not on the speed of the
    thread. With ``overlap``, each update has a random generator of its own, whose seed is drawn from ``generator``
    before the update begins.

    An ``ActorLearner`` is a context manager; at the end of the ``with`` block, it waits for the update in progress.

    :param generator: the random generator of the training.
    :ivar actor: the network that acts. If the policy observes images, the actor is on the device of the learner;
        otherwise the actor is on the CPU, where small networks act faster. Without ``overlap``, an actor on the
        learner's device is the learner's network itself.
    """

    def __init__(self, learner: PolicyLearner, generator: torch.Generator, *, overlap: bool) -> None:
        self.learner, self._generator = learner, generator
        network = learner.network
        device = network.device if network.sees_images else torch.device("cpu")
        self.actor = network
        if overlap or device != network.device:
            self.actor = copy.deepcopy(network).to(device).requires_grad_(False)
        self._thread = ThreadPoolExecutor(1, "rlgpt-update") if overlap else None
        self._update: Future[None] | None = None

    def update(self, rollout: Rollout) -> None:
        """Learn from a rollout in which the actor acted. With ``overlap``, ``update`` waits for the last update, gives
        the actor its weights, and begins the update from ``rollout``.

        :raises TrainerError: the last update failed, or (without ``overlap``) this update failed.
        """
        if self._thread is None:
            self.learner.update(rollout, self._generator)
            self._copy_weights()
            return
        self.wait()
        seed = int(torch.randint(2**63 - 1, (), generator=self._generator))
        generator = torch.Generator().manual_seed(seed)
        self._update = self._thread.submit(self.learner.update, rollout, generator)

    def wait(self) -> None:
        """Wait for the update in progress, and give the actor the learner's weights.

        :raises TrainerError: the update failed.
        """
        if self._update is not None:
            update, self._update = self._update, None
            update.result()
        self._copy_weights()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown()

    def _copy_weights(self) -> None:
        if self.actor is not self.learner.network:
            self.actor.load_state_dict(self.learner.network.state_dict())
