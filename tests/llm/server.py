"""An OpenAI-compatible provider on the loopback address, with the failures that real providers show."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = '{"works": true}'


@dataclass(frozen=True)
class Canned:
    """One answer. ``hang`` is ``silent`` (send nothing), ``trickle`` (send spaces slowly) or empty. ``length``
    overrides Content-Length.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: str = ""
    length: int | None = None


def completion(content: str | None, *, finish: str = "stop", usage: bool = True, **message: Any) -> bytes:
    """Return the body of a chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    body: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    if usage:
        body["usage"] = {"prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100}
    return json.dumps(body).encode()


def error(status: int, message: str, code: str = "x", **headers: str) -> Canned:
    body = json.dumps({"error": {"message": message, "type": code, "code": code}}).encode()
    return Canned(body, status, {k.replace("_", "-"): v for k, v in headers.items()})


def say(text: str) -> Canned:
    return Canned(completion(text))


FAULTS: dict[str, Canned] = {
    "timeout": Canned(b"", hang="silent"),
    "trickle": Canned(b"", hang="trickle"),
    "429": error(429, "slow down", Retry_After="7"),
    "429_date": error(429, "slow down", Retry_After="Fri, 31 Dec 1999 23:59:59 GMT"),
    "500": error(500, "boom"),
    "503_html": Canned(b"<html>busy</html>", 503),
    "cut_body": Canned(completion(GOOD)[:60]),
    "cut_connection": Canned(completion(GOOD), length=9999),
    "html": Canned(b"<html>a proxy's greeting</html>"),
    "no_choices": Canned(b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}'),
    "json_null": Canned(b"null"),
    "json_list": Canned(b"[1, 2]"),
    "truncated_json": Canned(completion('{"works": tr', finish="length")),
    "prose": say(f"Gladly! I think:\n\n```json\n{GOOD}\n```\n\nAnything else?"),
    "wrong_schema": say('{"verdict": "fine", "score": 10}'),
    "empty": say(""),
    "null": Canned(completion(None)),
    "refusal": Canned(completion(None, refusal="I will not.")),
    "refusal_text": say("I'm sorry, but I can't help with that."),
    "filtered": Canned(completion("", finish="content_filter")),
    "megabyte": say("z" * 1_000_000),
    "surrogate": Canned(completion(GOOD).replace(b"true", b'true, \\"x\\": \\"\\ud800\\"')),
    "no_usage": Canned(completion(GOOD, usage=False)),
}


class Provider:
    """The server. Each request gets the next answer of ``script``. After the last answer, requests get :data:`GOOD`."""

    def __init__(self) -> None:
        self.script: list[Canned | Callable[[dict[str, Any]], Canned]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                provider.requests.append(body)
                provider.keys.append(self.headers.get("authorization", ""))
                answer = provider.script.pop(0) if provider.script else say(GOOD)
                try:
                    self._send(answer(body) if callable(answer) else answer)
                except OSError:
                    self.close_connection = True  # The client closed the connection, as expected after a timeout.

            def _send(self, answer: Canned) -> None:
                if answer.hang == "silent":
                    provider.released.wait(30)
                self.send_response(answer.status)
                self.send_header("content-type", "application/json")
                length = 100_000 if answer.hang else len(answer.body) if answer.length is None else answer.length
                self.send_header("content-length", str(length))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                while answer.hang == "trickle" and not provider.released.wait(0.02):
                    self.wfile.write(b" ")
                self.wfile.write(answer.body)
                self.close_connection = answer.length is not None or bool(answer.hang)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
