"""Which old log-probabilities PPO divides by, if running moments normalise the observations.

    nice python benchmarks/ppo_logprobs.py            # every cell without a result, one at a time, then the table
    python benchmarks/ppo_logprobs.py --report        # the table of the results that exist

The moments are part of the policy: an update of the moments changes the policy. Three rules are compared.

=============  ====================================  ==========================================================
rule           the moments include the rollout       the denominator of the ratio is the probability under
=============  ====================================  ==========================================================
``recompute``  before the epochs                     the weights that acted, with the new moments
``acting``     before the epochs                     the policy that acted (weights and old moments)
``after``      after the epochs                      the policy that acted, which the first minibatch still is
=============  ====================================  ==========================================================

The ratio of the first minibatch is 1 with ``recompute`` and ``after``. With ``recompute`` the policy of the denominator
differs from the policy that acted, by the divergence that the table gives. ``rlgpt.rl.learner`` uses ``recompute``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from reporting import commit, emit
from rlgpt.domain import CodedAction, RLSetup
from rlgpt.rl import ppo
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.learner import Learner

ROOT = Path(__file__).resolve().parents[1]
RULES = ("recompute", "acting", "after")
SEEDS = range(5)
EPISODES = 40
FIGURES = {
    "success": f"of {EPISODES} sampled episodes of the best policy",
    "return": f"mean of {EPISODES} sampled episodes of the best policy",
    "training_success": "of all training episodes",
    "last_success": "of the episodes of the last fifth of training",
}


class Probe(Learner):
    """The built-in learner under one of :data:`RULES`. It records how far the first minibatch's policy is from the
    policy that acted, and its ratio from 1."""

    rule = "recompute"
    notes: ClassVar[list[dict[str, float]]] = []

    def update(self, rollout: Any, generator: torch.Generator) -> None:
        batch = {key: values[:-1].flatten(0, 1) for key, values in rollout.observations.items()}
        with torch.no_grad():
            self._acted = self.network.distribution(batch)
            self._acting = self._acted.log_prob(rollout.actions.flatten(0, 1))
        held: list[torch.Tensor] = []
        moments = self.network.observations
        if self.rule == "after":
            moments.update = held.append  # type: ignore[method-assign]
        super().update(rollout, generator)
        if self.rule == "after":
            del moments.update
            for vectors in held:
                moments.update(vectors)

    def _log_probs(self, batch: Any, actions: torch.Tensor) -> torch.Tensor:
        now = self.network.distribution(batch)
        log_probs = now.log_prob(actions)
        old = self._acting if self.rule == "acting" else log_probs
        ratio = (log_probs - old).exp()
        self.notes.append(
            {
                "ratio": float((ratio - 1).abs().mean()),
                "ratio_max": float((ratio - 1).abs().max()),
                "clipped": float(((ratio - 1).abs() > self.hyperparameters.clip_coef).float().mean()),
                "kl_acted": float(self._acted.kl(now).mean()),
            }
        )
        return old


def kitchen() -> tuple[EnvSpec, int, dict[str, Any]]:
    """The noisy microwave with the actions and the setup of its recording 0."""
    from rlgpt.plugin.manager import PluginManager

    plugin, task = PluginManager().task("kitchen/microwave_noisy")
    replies = [json.loads(line) for line in Path(plugin.transcripts(task)[0]).read_text().splitlines()[1:]]
    actions, setup = {}, None
    for reply in replies:
        key, text = reply["key"], reply["text"]
        if key["iteration"] == 0 and key["role"] == "fast":
            head, _, source = text.partition("```python\n")
            fields = json.loads(head)
            fields.pop("thoughts")
            name = key["sub_action"]
            actions[name] = CodedAction(name=name, source=source.rpartition("```")[0], **fields)
        elif key["iteration"] == 0 and key["role"] == "setup":
            setup = RLSetup(**json.loads(text))
    assert setup is not None
    return EnvSpec(task, setup, tuple(actions.values()), plugin.name), 24_000, plugin.trainer_defaults(task)


def lunar_lander() -> tuple[EnvSpec, int, dict[str, Any]]:
    """Gymnasium's lander with the bundle of examples/anywhere, base actions kept: there is something to learn."""
    sys.path.insert(0, str(ROOT / "examples" / "design"))
    from rlgpt.config.prepare import ConstantPluginFactory, prepare
    from rlgpt.options import load_bundle
    from worlds import WORLDS

    plugin, task = prepare(**WORLDS["lunar_lander"].described)
    bundle = load_bundle(ROOT / "examples" / "design" / "bundles" / "lunar_lander")
    assert bundle.setup is not None
    setup = bundle.setup.model_copy(update={"base_actions": None})
    return EnvSpec(task, setup, bundle.actions, ConstantPluginFactory(plugin)), 40_000, {}


def cart_pole() -> tuple[EnvSpec, int, dict[str, Any]]:
    """CartPole without coded actions."""
    import gymnasium
    from rlgpt.config.prepare import ConstantPluginFactory, prepare

    plugin, task = prepare(lambda render_mode=None: gymnasium.make("CartPole-v1"), "Balance the pole.", success=475)
    return EnvSpec(task, plugin.default_setup(task), (), ConstantPluginFactory(plugin)), 20_000, {}


TASKS: dict[str, Callable[[], tuple[EnvSpec, int, dict[str, Any]]]] = {
    "cart_pole": cart_pole,
    "lunar_lander": lunar_lander,
    "kitchen": kitchen,
}


def measure(task: str, rule: str, seed: int) -> dict[str, Any]:
    spec, budget, given = TASKS[task]()
    Probe.rule, Probe.notes = rule, []
    ppo.Learner = Probe  # type: ignore[misc]
    trainer = ppo.PPO()
    with tempfile.TemporaryDirectory() as folder:
        record = trainer.train(
            spec, budget=budget, seed=seed, folder=Path(folder), hyperparameters=Hyperparameters(**given)
        )
        policy = trainer.load(Path(folder), spec)
    found = evaluate(policy, spec, seeds=range(5000 + 100 * seed, 5000 + 100 * seed + EPISODES), greedy=False)
    episodes = sum(p.episodes for p in record.curve)
    notes = Probe.notes
    return {
        "task": task,
        "rule": rule,
        "seed": seed,
        "success": found.success_rate,
        "return": float(np.mean([e.total_reward for e in found.episodes])),
        "training_success": sum(p.success * p.episodes for p in record.curve) / episodes,
        "training_return": sum(p.total_reward * p.episodes for p in record.curve) / episodes,
        "last_success": _last(record.curve, "success"),
        "last_return": _last(record.curve, "total_reward"),
        "commit": commit(),
        "updates": len(notes),
        "first": notes[0],
        "mean": {key: float(np.mean([n[key] for n in notes])) for key in notes[0]},
        "later": {key: float(np.mean([n[key] for n in notes[1:]])) for key in notes[0]},
        "seconds": record.seconds,
    }


def _last(curve: Any, name: str) -> float:
    """Mean over the episodes of the last fifth of the points."""
    points = curve[-max(1, len(curve) // 5) :]
    return sum(getattr(p, name) * p.episodes for p in points) / sum(p.episodes for p in points)


def table(results: list[dict[str, Any]]) -> None:
    """Print one line of JSON for each task and rule: means over seeds with their standard errors."""
    for task in TASKS:
        for rule in RULES:
            rows = [r for r in results if (r["task"], r["rule"]) == (task, rule)]
            for figure in FIGURES:
                values = [r[figure] for r in rows]
                error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else None
                emit(f"ppo_logprobs/{task}/{rule}/{figure}", _mean(values), FIGURES[figure], error=error, n=len(values))
            for figure, unit in (("ratio", "mean |ratio - 1|, first minibatch"), ("kl_acted", "nats")):
                emit(f"ppo_logprobs/{task}/{rule}/{figure}", _mean([r["mean"][figure] for r in rows]), unit)


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "ppo_logprobs.jsonl")
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    results = [json.loads(line) for line in lines]
    done = {(r["task"], r["rule"], r["seed"]) for r in results}
    for seed, task, rule in itertools.product(SEEDS, TASKS, RULES):
        if arguments.report or (task, rule, seed) in done:
            continue
        results.append(measure(task, rule, seed))
        with arguments.out.open("a") as file:
            file.write(json.dumps(results[-1]) + "\n")
    table(results)


if __name__ == "__main__":
    main()
