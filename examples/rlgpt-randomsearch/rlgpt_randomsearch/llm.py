"""A language model whose replies are read from a file."""

from __future__ import annotations

import json
from pathlib import Path

from rlgpt.errors import ConfigError
from rlgpt.llm import LLM, LLMContext, LLMSettings, Reply, Request


class FileReplies(LLM):
    """A language model that gives each role the same reply at every request, without a server and an API key.

    :param replies: the reply for each role.
    """

    def __init__(self, replies: dict[str, str]) -> None:
        self._replies = replies

    def complete(self, request: Request) -> Reply:
        """:raises ConfigError: the file of replies has no reply for the role that sends the request."""
        role = request.key.role
        if role not in self._replies:
            raise ConfigError(
                f"there is no reply for the role {role!r}; the file has replies for {', '.join(self._replies)}."
            )
        return Reply(text=self._replies[role], model="file")


def file_replies(settings: LLMSettings, context: LLMContext) -> FileReplies:
    """Make the language model of the setting ``llm=file_replies``. The setting ``llm.extra.file=FILE`` names a JSON
    file with a reply for each role.
    """
    file = Path(str(settings.extra.get("file", "")))
    if not file.is_file():
        raise ConfigError(
            f"llm.extra.file={str(file)!r}: the file is missing. Give a JSON file with a reply for each role."
        )
    return FileReplies(json.loads(file.read_text(encoding="utf-8")))
