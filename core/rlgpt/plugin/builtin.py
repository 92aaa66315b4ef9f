"""The built-in teams of agents, planners, trainers, language models, observers and executors. rlgpt registers its
built-in components through the same hooks as the components of other distributions.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.plugin.hookspecs import hookimpl

TEAMS = ("rl_only", "code_only", "primitives_only", "untrained", "one_agent", "slow_fast", "slow_fast_critic")


@hookimpl
def rlgpt_agents() -> Mapping[str, str]:
    return {name: f"rlgpt.agents.build.{name}" for name in TEAMS}


@hookimpl
def rlgpt_planners() -> Mapping[str, str]:
    return {"none": "rlgpt.planner.build.none", "graph": "rlgpt.planner.build.graph"}


@hookimpl
def rlgpt_trainers() -> Mapping[str, str]:
    return {
        "ppo": "rlgpt.rl.ppo.PPO",
        "sac": "rlgpt.rl.sac.SAC",
        "sample_factory": "rlgpt.rl.sample_factory.SampleFactory",
    }


@hookimpl
def rlgpt_llms() -> Mapping[str, str]:
    return {
        "replay": "rlgpt.llm.build.replay",
        "record": "rlgpt.llm.build.ask",
        "live": "rlgpt.llm.build.ask",
        "repeating": "rlgpt.llm.repeating.repeating",
    }


@hookimpl
def rlgpt_observers() -> Mapping[str, str]:
    return {
        "progress": "rlgpt.observers.progress.progress_reporter",
        "jsonl": "rlgpt.observers.jsonl.JsonlTracker",
        "mlflow": "rlgpt.observers.mlflow.MlflowTracker",
        "tensorboard": "rlgpt.observers.tensorboard.TensorBoardTracker",
        "wandb": "rlgpt.observers.wandb.WandbTracker",
    }


@hookimpl
def rlgpt_executors() -> Mapping[str, str]:
    return {
        "in_process": "rlgpt.executors.local.InProcess",
        "local": "rlgpt.executors.local.Processes",
        "processes": "rlgpt.executors.local.Processes",
        "ray": "rlgpt.executors.ray.Ray",
    }
