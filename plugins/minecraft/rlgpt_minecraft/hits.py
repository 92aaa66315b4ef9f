"""Follows the newest loss of life over an episode, because an observation shows it for only one step.

The five numbers of a loss, by the names of :data:`HIT`, are the steps since then, the lost life (half hearts), the
distance of the attacker (m; 0 if nothing struck the player), the heading to the attacker (degrees), and the index of
its kind in :data:`KINDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context
from voxeldojo.scalars import FLAGS, FLOATS

from rlgpt_minecraft.observation import ParsedObservation

HIT = ("ticks", "amount", "distance", "heading", "kind")
KINDS = ("", "blow", "projectile", "explosion", "fire", "other")
LONG_AGO = 200
"""Maximal number of steps that is counted since the newest loss of life."""
NO_HIT = (float(LONG_AGO), 0.0, 0.0, 0.0, 0.0)
"""The numbers of a loss, if no life was lost yet."""

_DEATHS = {"blow": "a blow", "projectile": "a projectile", "explosion": "an explosion", "fire": "fire"}

_AMOUNT, _DISTANCE, _TURN, _YAW = (
    FLOATS.index(name) for name in ("damage_amount", "damage_distance", "damage_yaw", "yaw")
)
_CAUSES = (("explosion", "is_explosion"), ("projectile", "is_projectile"), ("fire", "is_fire_damage"))


def is_struck(info: Mapping[str, Any], steps: int) -> bool:
    """Return whether an attack or fire took life in the newest ``steps`` steps. Falls, hunger and lack of breath do not
    count.
    """
    hit = info["hit"]
    return bool(hit["ticks"] < steps and 0 < hit["kind"] < KINDS.index("other"))


def read_hit(ctx: Context, yaw: float) -> dict[str, Plain]:
    """Return the keys of the view about the newest loss of life.

    :param yaw: the yaw of the view direction now, degrees.
    """
    hit = ctx.info["hit"]
    turn = (hit["heading"] - yaw + 180.0) % 360.0 - 180.0 if hit["distance"] > 0 else 0.0
    return {
        "hit_ticks": int(hit["ticks"]),
        "hit_amount": round(hit["amount"], 1),
        "hit_kind": KINDS[int(hit["kind"])],
        "hit_bearing": round(turn, 1),
    }


def hit_after(before: Mapping[str, float], obs: ParsedObservation) -> dict[str, float]:
    """Return the numbers of the newest loss of life after one further step.

    :param before: the numbers before the step.
    """
    damage = obs.observation["damage_source"]
    read: dict[str, float] = {name: float(damage[name].item()) for name in ("damage_amount", "damage_distance")}
    if not read["damage_amount"] > 0:
        return {**before, "ticks": min(before["ticks"] + 1.0, float(LONG_AGO))}
    flags = {flag: bool(damage[flag].item()) for _, flag in _CAUSES}
    kind = next((kind for kind, flag in _CAUSES if flags[flag]), "blow" if read["damage_distance"] > 0 else "other")
    heading = obs.yaw + float(damage["damage_yaw"].item())
    values = (0.0, read["damage_amount"], read["damage_distance"], heading, float(KINDS.index(kind)))
    return dict(zip(HIT, values, strict=True))


def hits_after(before: NDArray[np.float64], numbers: Any, flags: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the same as :func:`hit_after` for several environments, ``(environments, 5)``.

    :param numbers, flags: the arrays ``floats`` and ``flags`` of the observations (:mod:`voxeldojo.scalars`), with a
        row for each environment.
    """
    after = before.copy()
    after[:, 0] = np.minimum(before[:, 0] + 1.0, float(LONG_AGO))
    struck = numbers[:, _AMOUNT] > 0
    if struck.any():
        found = np.asarray(numbers[struck], np.float64)
        away = found[:, _DISTANCE]
        kinds = np.where(away > 0, KINDS.index("blow"), KINDS.index("other"))
        for kind, flag in reversed(_CAUSES):
            kinds = np.where(flags[struck, FLAGS.index(flag)], KINDS.index(kind), kinds)
        heading = found[:, _YAW] + found[:, _TURN]
        after[struck] = np.stack([np.zeros(len(found)), found[:, _AMOUNT], away, heading, kinds], axis=1)
    return after


def death_by(kind: float) -> str:
    """Say why the player died.

    :param kind: the index into :data:`KINDS` of the newest loss of life.
    """
    what = _DEATHS.get(KINDS[int(kind)])
    return f"the player died of {what}" if what else "the player died"
