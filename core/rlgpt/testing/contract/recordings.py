"""Laws about recordings, whose replies must be recorded for the current prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.brief import make_brief
from rlgpt.agents.critic import LLMCritic
from rlgpt.agents.fast import LLMFast
from rlgpt.agents.planner import LLMPlanner
from rlgpt.agents.slow import LLMSlow
from rlgpt.agents.solo import LLMSolo
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFeatures,
    Evaluation,
    FunctionPlan,
    FunctionRehearsal,
    Output,
    Rehearsal,
    SubAction,
    Task,
    Verdict,
)
from rlgpt.errors import TranscriptEnded
from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.transcript import Transcript
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.library import library_of
from rlgpt.plugin.shipped import variants
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.contract.laws import Laws

Kind = tuple[str, str]
"""The kind of a request to a language model: its role, and its purpose if the role has several kinds of prompts."""


def kind_of(key: RequestKey) -> Kind:
    """The kind of the request that has the key ``key``. All requests of one kind have the same fingerprint."""
    if key.role not in ("fast", "function", "solo"):
        return key.role, ""
    if key.role == "solo" and key.sub_action in ("", "setup"):
        return key.role, key.sub_action
    if key.sub_action.startswith("function:"):
        return key.role, "function repair" if key.attempt > 0 else "function"
    return key.role, "repair" if key.attempt > 0 else "action"


class _Fingerprints(LLM):
    """A language model that stores the fingerprint of each request and sends no reply."""

    def __init__(self) -> None:
        self.by_kind: dict[Kind, str] = {}

    def complete(self, request: Request) -> Reply:
        self.by_kind[kind_of(request.key)] = request.fingerprint
        raise TranscriptEnded("this object has no replies")


def fingerprints(plugin: EnvironmentPlugin, brief: Brief) -> Mapping[Kind, str]:
    """A dict from a kind of request to the fingerprint of its prompt. The figures (results) of a run do not change a
    fingerprint.
    """
    llm = _Fingerprints()
    library = library_of(plugin, brief.task)
    slow, fast, solo, critic = LLMSlow(llm), LLMFast(llm, library), LLMSolo(llm, library), LLMCritic(llm)
    push = SubAction(name="push", description="push it", kind="code", reason="simple")
    plan = ActionPlan(sub_actions=(push,))
    action = CodedAction(name="push", doc="", source="def run():\n    yield observe()\n")
    failed = Rehearsal(attempt=0, action=action, verdict=Verdict(kind="error", action=action.name, message="it broke"))
    outcome = Outcome(
        plan=plan,
        actions=(action,),
        setup=brief.default_setup,
        code_evaluation=None,
        training=None,
        evaluation=Evaluation(mode="sampled", episodes=()),
    )

    def ask(request: Callable[..., object], *given: object, **named: object) -> None:
        with suppress(TranscriptEnded):
            request(*given, **named)

    count = FunctionPlan(name="count", kind="feature", description="how many")
    output = Output(name="pushes", low=0, high=9)
    counter = CodedFeatures(name="count", source="def features(view, memory):\n    return {}\n", outputs=(output,))
    broken = FunctionRehearsal(attempt=0, function=counter, fault="it never changed")

    ask(LLMPlanner(llm, library, SandboxLimits()).plan, brief, lambda graph: ())
    ask(slow.plan, brief, ())
    ask(solo.plan, brief, ())
    for writer in (fast, solo):
        ask(writer.write, brief, plan, push, written=(), attempts=(), history=())
        ask(writer.write, brief, plan, push, written=(), attempts=(failed,), history=())
        ask(writer.write_function, brief, plan, count, attempts=(), history=())
        ask(writer.write_function, brief, plan, count, attempts=(broken,), history=())
        ask(writer.setup, brief, plan, actions=(action,), history=())
    ask(critic.review, brief, push, failed, iteration=0)
    ask(critic.critique, brief, outcome, ())
    return llm.by_kind


class RecordingLaws(Laws):
    """Tests that the recordings in a plugin can be replayed, and that no two recordings of a task are equal. The laws
    about recordings are tested on all tasks, because they only render prompts.
    """

    @staticmethod
    def recorded(plugin: EnvironmentPlugin) -> Iterator[Task]:
        """Yield every listed task, every unlisted task that has recordings, and every variant of a task with other
        settings for which the plugin's package contains recordings.
        """
        package = type(plugin).__module__.partition(".")[0]
        unlisted = (task for task in plugin.unlisted_tasks().values() if plugin.transcripts(task))
        for task in (*plugin.tasks().values(), *unlisted):
            yield from (task, *variants(package, task))

    def test_transcripts_answer_the_current_prompts(self, plugin: EnvironmentPlugin) -> None:
        for task in self.recorded(plugin):
            paths = [path for path in plugin.transcripts(task) if path.is_file()]
            now = fingerprints(plugin, make_brief(plugin, task)) if paths else {}
            for path in paths:
                transcript = Transcript.read(path)
                assert transcript.header.task == task.id, f"{path} records {transcript.header.task!r}, not {task.id!r}."
                # A prompt about a sub-goal contains text of the graph, which the planner wrote.
                entries = [e for e in transcript.entries if e.key.task == task.id]
                stale = {kind_of(e.key)[0] for e in entries if now.get(kind_of(e.key)) != e.fingerprint}
                assert not stale, (
                    f"{path} was recorded with another prompt or stub (of {', '.join(sorted(stale))}). "
                    f"Record it again: rlgpt train task={task.id} llm=record llm.model=MODEL."
                )

    def test_transcripts_differ(self, plugin: EnvironmentPlugin) -> None:
        for task in self.recorded(plugin):
            paths = [path for path in plugin.transcripts(task) if path.is_file()]
            texts = [tuple(e.reply.text for e in Transcript.read(path).entries) for path in paths]
            assert len(set(texts)) == len(texts), (
                f"{task.id}: two recordings contain the same replies. Delete one of them."
            )
