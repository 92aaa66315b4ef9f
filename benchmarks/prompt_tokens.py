"""Counts the tokens of a run's requests in each iteration. The script counts all tokens of the requests, and the tokens
that a provider's cache cannot contain, because no earlier request of the run begins with the same text.

    python benchmarks/prompt_tokens.py RUN [RUN ...]
    python benchmarks/prompt_tokens.py --task mujoco_car/blocked_start --keep --out RUN llm.transcript=2 min_decisions=0

Providers cache the beginning of a request if an earlier request began in the same way; cached tokens cost a fraction of
the price. With ``--task``, the script makes a run from a recording and counts the tokens of this run. The run takes its
replies from the task's recording by the key of each request, even if the text of the request has changed, so two
versions of the prompts can be compared on equal replies. With ``--keep``, a recorded plan keeps each coded action whose
code is the same as in the iteration before.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.llm import extract
from rlgpt.llm.base import Request, RequestKey
from rlgpt.llm.exchange import read_exchanges

CHARACTERS = 4
"""Number of characters in a token, approximately."""


def counted(requests: list[Request]) -> dict[int, list[int]]:
    """Return, for each iteration, the number of requests, their characters, and their characters after the longest
    beginning that a request shares with an earlier request.
    """
    rows: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    seen: list[str] = []
    for request in requests:
        text = "\n".join(m.content for m in request.messages)
        cached = max((_common(text, other) for other in seen), default=0)
        row = rows[request.key.iteration]
        row[0], row[1], row[2] = row[0] + 1, row[1] + len(text), row[2] + len(text) - cached
        seen.append(text)
    return dict(rows)


def _common(one: str, other: str) -> int:
    """Return the number of equal characters at the beginning of two texts."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def play(task: str, out: Path, settings: Sequence[str], *, keep: bool) -> None:
    """Make a run of a task with the recorded replies, even if the prompts have changed."""
    from rlgpt.cli.main import main
    from rlgpt.llm import Reply, replay

    find = replay.Replay.complete

    def anyway(self: replay.Replay, request: Request) -> Reply:
        entry = self._entries.get(request.key)
        same = request if entry is None else request.model_copy(update={"fingerprint": entry.fingerprint})
        reply = find(self, same)
        if keep and request.key.role == "slow":
            return reply.model_copy(update={"text": _kept(reply.text, request.key, self._entries)})
        return reply

    replay.Replay.complete = anyway  # type: ignore[method-assign]
    main(["train", f"task={task}", "llm=replay", "report_episodes=1", *settings, f"hydra.run.dir={out}"])


def _kept(text: str, key: RequestKey, entries: Mapping[RequestKey, Any]) -> str:
    """Change a recorded plan so that the plan keeps each coded action that an earlier iteration recorded with the same
    code.
    """
    plan = extract.find(text).objects[0]
    codes: dict[tuple[int, str], str | None] = {}
    for at in sorted((k for k in entries if k.role == "fast"), key=lambda k: (k.attempt, k.ask)):
        codes[at.iteration, at.sub_action] = extract.find(entries[at].reply.text).code
    for action in plan["sub_actions"]:
        now, before = (codes.get((key.iteration - i, action["name"])) for i in (0, 1))
        if now is not None and now == before:
            action["keep"] = True
    return json.dumps(plan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", help="runs; with --task: settings of the run, NAME=VALUE")
    parser.add_argument("--task")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/prompt_tokens"))
    given = parser.parse_args()
    if given.task:
        play(given.task, given.out, given.runs, keep=given.keep)
    for run in [given.out] if given.task else map(Path, given.runs):
        requests = [e.request for e in read_exchanges(run / "llm.jsonl")]
        print(f"{run}:")
        for iteration, (count, every, fresh) in sorted(counted(requests).items()):
            print(
                f"  iteration {iteration}: {count} requests, about {every // CHARACTERS:,} tokens, "
                f"{fresh // CHARACTERS:,} beyond what an earlier request begins with"
            )


if __name__ == "__main__":
    main()
