"""benchmarks/interleaved.py: the order of the blocks, and medians with their intervals."""

from __future__ import annotations

import os
import time
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def interleaved(benchmark_module: Any) -> Any:
    return benchmark_module("interleaved")


def test_block_order_puts_each_variant_in_each_position_equally_often(interleaved: Any) -> None:
    names = ("a", "b", "c", "d")
    orders = [interleaved.block_order(names, number) for number in range(8)]
    assert all(sorted(order) == sorted(names) for order in orders)
    for place in range(4):
        assert set(Counter(order[place] for order in orders).values()) == {2}
    successors = Counter(pair for order in orders for pair in pairwise(order))
    assert successors["a", "b"] == successors["b", "a"]


def test_bootstrap_interval_covers_the_true_median_in_most_samples(interleaved: Any) -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(60):
        point, low, high = interleaved.bootstrap_median(rng.normal(1.02, 0.05, 60))
        assert low <= point <= high
        covered += low <= 1.02 <= high
    assert 50 <= covered <= 60


def test_block_figures_keep_the_ratio_when_neighbours_slow_down_equally(interleaved: Any) -> None:
    load = np.random.default_rng(0).uniform(1.0, 5.0, 200)
    figures = interleaved.block_figures([[float(1.05 * x / x) for x in load]], "abc")
    assert figures["value"] == 1.05
    assert figures["rows"] == [{"repeat": 0, "value": 1.05, "blocks": 200, "commit": "abc"}]


def test_cpu_seconds_measures_the_time_of_the_process(interleaved: Any) -> None:
    before = time.process_time()
    assert before <= interleaved.cpu_seconds(os.getpid()) <= time.process_time()
