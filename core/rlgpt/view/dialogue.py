"""Reads the requests of a run to its language models, and the models' replies. Requests and replies are in
``llm.jsonl``, to which a run in progress appends.
"""

from __future__ import annotations

import math
import re
from typing import Any

from rlgpt.errors import RunError
from rlgpt.runs import Run
from rlgpt.view.growing import GrowingLines
from rlgpt.view.plain import plain

FILE = "llm.jsonl"
SECONDS = 0.5
"""Maximal time in seconds that the page waits for the dialogue of a run. A long dialogue is read in several parts."""
MESSAGE = 200_000
"""Maximal number of characters of a message that is shown."""
IMAGES = 64
_IMAGE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]{1,8000000}")


class Dialogue:
    """The exchanges (requests with their replies) of one run.

    :param task: the task of a sub-goal. Only the exchanges about the sub-goal ``task`` are included. With None, all
        exchanges are included.
    """

    def __init__(self, run: Run, task: str | None = None) -> None:
        self._folder = run.folder
        self._lines = GrowingLines(run.files, FILE, lambda line: _summary(line, task))

    def list(self) -> list[dict[str, Any]]:
        """Key, model, tokens, dollars and seconds of each exchange, the oldest exchange first."""
        return [{"number": n, **line} for n, line in enumerate(self._lines.update(SECONDS))]

    def bill(self, seconds: float = math.inf) -> dict[str, Any]:
        """Tokens, dollars and calls so far. The dollars of the bill are None if the price of any exchange is unknown.

        :param seconds: maximal reading time. ``complete`` is False if ``llm.jsonl`` could not be read to its end within
            ``seconds``.
        """
        lines = self._lines.update(seconds)
        prices = [line["dollars"] for line in lines]
        known = None if None in prices else sum(prices)
        return {
            "calls": len(lines),
            "tokens": sum(line["tokens"] for line in lines),
            "dollars": known,
            "complete": self._lines.complete,
        }

    def exchange(self, number: int) -> dict[str, Any]:
        """The messages and the reply of one exchange with the language model.

        :raises RunError: there is no such exchange.
        """
        self._lines.update()
        line = self._lines.line(number)
        if (summary := _summary(line)) is None:
            raise RunError(f"{self._folder / FILE} has no exchange {number}.")
        messages = [
            {
                "role": plain(m.get("role"), 40),
                "content": plain(str(m.get("content", "")), MESSAGE),
                "images": [i for i in _list(m.get("images"))[:IMAGES] if isinstance(i, str) and _IMAGE.fullmatch(i)],
            }
            for m in _list(line["request"].get("messages"))
            if isinstance(m, dict)
        ]
        reply = line["reply"]
        return {
            **summary,
            "number": number,
            "messages": messages,
            "reply": plain(str(reply.get("text", "")), MESSAGE),
            "finish_reason": plain(reply.get("finish_reason"), 100),
            "note": plain(reply.get("note", ""), 500),
        }


def _summary(line: Any, task: str | None = None) -> dict[str, Any] | None:
    """The fields of an exchange that the page's list of exchanges shows. The summary is None if the line contains no
    exchange, or an exchange about another task. The run may be the work of a stranger, so ``line`` can be any JSON
    value.
    """
    request, reply = (line.get("request"), line.get("reply")) if isinstance(line, dict) else (None, None)
    if not isinstance(request, dict) or not isinstance(reply, dict):
        return None
    key, usage = _dict(request.get("key")), _dict(reply.get("usage"))
    if task is not None and key.get("task") != task:
        return None
    prompt, completion = _number(usage.get("prompt_tokens")) or 0, _number(usage.get("completion_tokens")) or 0
    return {
        "role": plain(str(key.get("role", "")), 40),
        "iteration": _number(key.get("iteration")),
        "sub_action": plain(str(key.get("sub_action", "")), 60),
        "attempt": _number(key.get("attempt")),
        "plan": _number(key.get("plan", 0)),
        "ask": _number(key.get("ask")),
        "model": plain(str(reply.get("model", "")), 100),
        "time": plain(str(line.get("time", "")), 40),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "tokens": prompt + completion,
        "dollars": _number(usage.get("dollars")),
        "seconds": _number(usage.get("seconds")),
        "recorded": usage.get("tokens_source") == "recorded",
        "images": sum(len(_list(_dict(m).get("images"))) for m in _list(request.get("messages"))),
    }


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return plain(value) if value >= 0 else None
