"""An example run for the tests of reports, with repairs, verdicts and critiques."""

from __future__ import annotations

from rlgpt.domain import (
    ActionPlan,
    AnswerSummary,
    CodedAction,
    CodedReward,
    Critique,
    CurvePoint,
    Episode,
    Evaluation,
    Finding,
    FunctionPlan,
    FunctionRehearsal,
    Iteration,
    Rehearsal,
    Review,
    RLSetup,
    SearchRecord,
    Steps,
    SubAction,
    Trace,
    TrainingRecord,
    Verdict,
)
from rlgpt.report.values import Story

FIRST = '''def run(reach=0.1):
    """Go to the handle."""
    view = yield observe()
    x, y, z = view["handle"]
    yield move_to(x=x, y=y, z=z)
    outcome = yield grasp()
    if not outcome["holding"]:
        return
'''
NEAR = 'def reward(view, memory):\n    return -view["far"]\n'
SECOND = FIRST.replace(
    "    yield move_to(x=x, y=y, z=z)\n", "    yield move_to(x=x - reach, y=y, z=z)  # stand off first\n"
)


def evaluation(wins: int, episodes: int, mode: str = "sampled", **more: object) -> Evaluation:
    played = tuple(
        Episode(seed=i, success=i < wins, total_reward=float(i < wins), primitive_steps=80, decisions=9)
        for i in range(episodes)
    )
    return Evaluation.model_validate({"mode": mode, "episodes": played, **more})


def action(source: str = FIRST, doc: str = "Moves the hand to the handle and closes the fingers.") -> CodedAction:
    return CodedAction(name="grasp_handle", doc=doc, source=source)


def iteration(index: int = 0, *, text: str = "", curve: tuple[tuple[int, float], ...] = ()) -> Iteration:
    """Return one iteration. ``text`` is in every field that a language model fills."""
    trace = Trace(seed=0, success=False, total_reward=0.0, primitive_steps=41, decisions=())
    verdict = Verdict(kind="error", action="grasp_handle", message=text or "KeyError: 'handel'", line=4)
    review = Review(works=True, findings=(Finding(problem=text or "The hand stops 3 cm short.", suggestion=text),))
    points = tuple(
        CurvePoint(
            primitive_steps=s,
            episodes=5,
            success=y,
            total_reward=y,
            decisions=s // 9,
            reward_terms={"near_handle": y, text or "door_angle": 0.0},
        )
        for s, y in curve
    )
    near = CodedReward(name="near_handle", doc=text or "Nearer is more.", source=text or NEAR)
    tried = FunctionRehearsal(attempt=0, function=near, played=text or "1 episode of code")
    answers = AnswerSummary(name="near_handle", low=-2, high=0, mean=-1, changes=7, outside=3)
    search = SearchRecord(episodes=40, successes=20, ended=4500, found={text or "reach": 0.2})
    training = TrainingRecord(
        trainer="ppo", primitive_steps=9000, decisions=1000, seconds=31.0, curve=points, search=search
    )
    return Iteration(
        index=index,
        plan=ActionPlan(
            thoughts=text or "Reaching is geometry: code does it. Pulling the door needs feel: learn it.",
            sub_actions=(
                SubAction(
                    name="grasp_handle",
                    description=text or "take hold of the handle",
                    kind="code",
                    reason=text or "A fixed pose.",
                ),
                SubAction(
                    name="pull", description=text or "pull the door open", kind="rl", reason=text or "Contact varies."
                ),
            ),
            functions=(
                FunctionPlan(
                    name="near_handle",
                    kind="reward",
                    description=text or "pays for coming near",
                    reason=text or "Sparse.",
                ),
            ),
        ),
        function_rehearsals={
            "near_handle": (
                tried.model_copy(update={"verdict": verdict, "fault": text or "every answer is outside its bounds"}),
                tried.model_copy(
                    update={
                        "attempt": 1,
                        "answers": (answers,),
                        "remarks": (text or "near_handle pays without success",),
                    }
                ),
            )
        },
        functions=(near, near.model_copy(update={"name": "old_term", "doc": text or "As it was."})),
        rehearsals={
            "grasp_handle": (
                Rehearsal(
                    attempt=0, action=action(text or FIRST, text or "Takes the handle."), trace=trace, verdict=verdict
                ),
                Rehearsal(
                    attempt=1, action=action(f"{text}\n{SECOND}" if text else SECOND), trace=trace, review=review
                ),
            )
        },
        actions=(action(SECOND),),
        setup=RLSetup(
            reward_weights={text or "door_angle": 1.0},
            observation_keys=("hand", text or "handle"),
            base_actions=(text,) if text else None,
            coded_actions=("grasp_handle",),
            reason=text or "The angle of the door tells progress at every step.",
        ),
        code_evaluation=evaluation(1, 5, "code"),
        training=training,
        evaluation=evaluation(8 if index else 5, 10, usage={"base": 0.62, "grasp_handle": 0.38}, verdicts=(verdict,)),
        critique=Critique(
            summary=text or "The handle is reached each time, the pull loses it in half of the episodes.",
            for_slow=(
                Finding(action="pull", problem=text or "Loses the handle.", suggestion=text or "Code a slower pull."),
            ),
            for_fast=(Finding(problem=text or "Approach from the side.", suggestion=text or "Stand off by 10 cm."),),
        ),
        steps=Steps(rehearsal=820, code=400, training=9000, selection=800),
    )


def story(*iterations: Iteration, text: str = "") -> Story:
    return Story(
        title=text or "A run of RL-GPT",
        task="grid/door",
        goal=text or "Open the door.",
        seed=0,
        status="stopped",
        reason=text or "the transcript holds no further reply",
        model=text or "some-model",
        iterations=iterations,
        best=1,
        outcome=evaluation(17, 20),
        dead_loop_rate=0.25,
        tokens=18_734,
        dollars=0.0412,
        versions={"rlgpt": "0.1.0", "torch": "2.13.0"},
    )
