"""Frozen values that travel between the rooms. No behaviour beyond validation and a few derived figures.

Everything here is a pydantic model: it is what records hold and what a language model's reply is parsed into.
"""

from rlgpt.domain.events import (
    CurvePoint,
    Decision,
    Ending,
    Episode,
    Evaluation,
    PrimitiveCall,
    Trace,
    TrainingRecord,
    Verdict,
    VerdictKind,
)
from rlgpt.domain.records import (
    Bundle,
    Critique,
    Finding,
    Iteration,
    Provenance,
    Rehearsal,
    Review,
    Steps,
    World,
)
from rlgpt.domain.values import (
    ActionPlan,
    CodedAction,
    Name,
    Parameter,
    Plain,
    RLSetup,
    Scalar,
    SubAction,
    Task,
    TaskId,
    Value,
)

__all__ = [
    "ActionPlan",
    "Bundle",
    "CodedAction",
    "Critique",
    "CurvePoint",
    "Decision",
    "Ending",
    "Episode",
    "Evaluation",
    "Finding",
    "Iteration",
    "Name",
    "Parameter",
    "Plain",
    "PrimitiveCall",
    "Provenance",
    "RLSetup",
    "Rehearsal",
    "Review",
    "Scalar",
    "Steps",
    "SubAction",
    "Task",
    "TaskId",
    "Trace",
    "TrainingRecord",
    "Value",
    "Verdict",
    "VerdictKind",
    "World",
]
