"""MineDojo's handlers convert Malmo's JSON of the embedded world into the same observation as rlgpt's environment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

DTYPES = {
    "/life_stats/is_sleeping": "MineDojo gives Malmo's boolean, although its space is a Discrete",
    "/location_stats/is_raining": "MineDojo gives Malmo's boolean, although its space has dtype int64",
    "/location_stats/can_see_sky": "MineDojo gives Malmo's boolean, although its space has dtype int64",
}
"""Leaf -> reason for another dtype than in MineDojo. The values are equal."""
BEYOND = {"/location_stats/temperature": "in a desert 2, above the space's maximum 1. The embedded world clips to 1"}
"""Leaf -> reason for another value than in MineDojo, whose value is outside its space."""
ELSEWHERE = ("delta_inv",)
"""Keys that depend on two observations. test_names_and_spaces.py compares them."""


def leaves(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in tree.items():
        if isinstance(part, dict) and "dtype" not in part:
            yield from leaves(part, f"{path}/{name}")
        else:
            yield f"{path}/{name}", part


def test_observations_of_the_embedded_world_equal_those_of_minedojo(
    states: list[dict[str, Any]], answers: dict[str, Any]
) -> None:
    assert len(states) == len(answers["observations"]) > 10
    for state, answer in zip(states, answers["observations"], strict=True):
        space = state["space"]
        ours = dict(leaves({name: part for name, part in state["observation"].items() if name not in ELSEWHERE}))
        theirs = dict(leaves(answer))
        assert ours.keys() == theirs.keys()
        for path, leaf in theirs.items():
            value_of_ours, value = ours[path], np.array(leaf["value"])
            dtype = "U" if value_of_ours.dtype.kind == "U" else value_of_ours.dtype.name
            assert (dtype == leaf["dtype"]) != (path in DTYPES), (path, dtype, leaf["dtype"])
            assert list(value_of_ours.shape) == leaf["shape"], path
            if path in BEYOND:
                group, name = path.split("/")[1:]
                value = np.clip(value, space[group][name].low, space[group][name].high)
            if value_of_ours.dtype.kind == "U":
                assert np.array_equal(value_of_ours, value.astype(value_of_ours.dtype)), path
            else:
                assert np.array_equal(value_of_ours, value.astype(value_of_ours.dtype)), (path, value_of_ours, value)


def test_world_states_of_the_comparison_with_minedojo_differ_from_each_other(states: list[dict[str, Any]]) -> None:
    def seen(group: str, name: str) -> int:
        return len({str(state["observation"][group][name]) for state in states})

    assert seen("inventory", "name") > 2
    assert seen("location_stats", "pos") > 5
    assert seen("masks", "craft_smelt") > 2
    assert seen("life_stats", "life") > 1
    rays = [state["observation"]["rays"] for state in states if "rays" in state["observation"]]
    assert any("cow" in ray["entity_name"] for ray in rays)
