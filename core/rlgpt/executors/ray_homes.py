"""The processes of a Ray cluster that execute the jobs with a home."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import ray

from rlgpt.executors.base import Job, Work


class _Worker:
    """A process of the cluster, with its own copy of ``work``.

    :param folder: the current folder of the process that submits jobs.
    """

    def __init__(self, work: Work[Any, Any], folder: str) -> None:
        if Path(folder).is_dir():
            os.chdir(folder)
        self._work = work

    def execute(self, job: Job) -> Any:
        return self._work(job)


class Homes:
    """Actors of Ray that execute the jobs with a home. If there are more homes than the cluster has room for, one actor
    executes the jobs of several homes. An actor gets its CPUs and GPUs when it is made, and keeps them until
    :meth:`close`.

    :param work: a reference to the function that executes one job.
    :param cpus: number of CPUs that an actor occupies.
    :param gpus: number of GPUs that an actor occupies.
    """

    def __init__(self, work: Any, *, cpus: float, gpus: float) -> None:
        self._needs = {"CPU": cpus, "GPU": gpus}
        self._class = ray.remote(num_cpus=cpus, num_gpus=gpus)(_Worker)
        self._work = work
        self._actors: list[Any] = []
        self._homes: dict[int, Any] = {}

    def execute(self, home: int, job: Job, *, most: int) -> Any:
        """Execute ``job`` after the earlier jobs of its home, and return a reference to the outcome.

        :param most: maximal number of actors.
        """
        return self._actor(home, most).execute.remote(job)

    def lose(self, home: int) -> None:
        """Forget the actor of ``home``, because its process or machine was lost."""
        actor = self._homes.pop(home)
        self._actors = [other for other in self._actors if other is not actor]

    def close(self) -> None:
        """End the processes of all actors."""
        for actor in self._actors:
            ray.kill(actor)
        self._actors.clear()
        self._homes.clear()

    def _actor(self, home: int, most: int) -> Any:
        """The actor of ``home``. A home that shares its actor moves to a new actor as soon as the cluster has room."""
        homes, actor = Counter(map(id, self._homes.values())), self._homes.get(home)
        if actor is None or homes[id(actor)] > 1:
            if not self._actors or (len(self._actors) < most and self._has_room()):
                actor = self._class.remote(self._work, os.getcwd())
                self._actors.append(actor)
            elif actor is None:
                actor = min(self._actors, key=lambda a: homes[id(a)])
        self._homes[home] = actor
        return actor

    def _has_room(self) -> bool:
        free = ray.available_resources()
        return all(free.get(kind, 0) >= count for kind, count in self._needs.items() if count)
