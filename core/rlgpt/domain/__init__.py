"""Frozen (immutable) values that the other packages of rlgpt exchange. The classes of this package validate the fields
of their values and compute a few figures from these fields.

All values are pydantic models. The files of a run store values of this package, and the replies of language models are
converted into values of this package.
"""

from rlgpt.domain.bundles import Bundle, BundledGraph, Provenance, World
from rlgpt.domain.evaluations import Evaluation, Rank, rank, score_interval
from rlgpt.domain.events import (
    Decision,
    Ending,
    Episode,
    Mode,
    PrimitiveCall,
    Trace,
    Verdict,
    VerdictKind,
)
from rlgpt.domain.functions import CodedFeatures, CodedFunction, CodedPredicate, CodedReward, Output
from rlgpt.domain.graph import (
    Call,
    Edge,
    GoalGraph,
    GraphEpisode,
    GraphEvaluation,
    GraphEvidence,
    SubGoal,
    SubGoalFigures,
    part_prefix,
)
from rlgpt.domain.iterations import Iteration, Steps, best_of
from rlgpt.domain.plans import ComparedPlan
from rlgpt.domain.rehearsals import (
    AnswerSummary,
    Critique,
    Finding,
    FunctionRehearsal,
    OtherStart,
    Rehearsal,
    Review,
    kept_attempt,
)
from rlgpt.domain.trainings import CurvePoint, SearchRecord, TrainingRecord
from rlgpt.domain.values import (
    RETURN,
    ActionPlan,
    CodedAction,
    FunctionPlan,
    Metric,
    Name,
    Parameter,
    Plain,
    RLSetup,
    Scalar,
    Score,
    SubAction,
    Task,
    TaskId,
    Value,
)

__all__ = [
    "RETURN",
    "ActionPlan",
    "AnswerSummary",
    "Bundle",
    "BundledGraph",
    "Call",
    "CodedAction",
    "CodedFeatures",
    "CodedFunction",
    "CodedPredicate",
    "CodedReward",
    "ComparedPlan",
    "Critique",
    "CurvePoint",
    "Decision",
    "Edge",
    "Ending",
    "Episode",
    "Evaluation",
    "Finding",
    "FunctionPlan",
    "FunctionRehearsal",
    "GoalGraph",
    "GraphEpisode",
    "GraphEvaluation",
    "GraphEvidence",
    "Iteration",
    "Metric",
    "Mode",
    "Name",
    "OtherStart",
    "Output",
    "Parameter",
    "Plain",
    "PrimitiveCall",
    "Provenance",
    "RLSetup",
    "Rank",
    "Rehearsal",
    "Review",
    "Scalar",
    "Score",
    "SearchRecord",
    "Steps",
    "SubAction",
    "SubGoal",
    "SubGoalFigures",
    "Task",
    "TaskId",
    "Trace",
    "TrainingRecord",
    "Value",
    "Verdict",
    "VerdictKind",
    "World",
    "best_of",
    "kept_attempt",
    "part_prefix",
    "rank",
    "score_interval",
]
