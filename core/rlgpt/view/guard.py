"""Decides which requests the live page answers, and adds the headers that protect the page."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Content Security Policy of the page. With this policy, no text can become a script: the browser loads only the page's
own files, runs no inline script or style, and makes no markup from text.
"""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Guard refuses requests that other web sites cause, and requests for data without the token.

    - The header ``Host`` of a request must be an address of the live page. This check of ``Host`` prevents DNS
      rebinding, because a request with an attacker's host name that resolves to 127.0.0.1 gets no answer.
    - If the browser sends the origin of the request (``Origin``, ``Sec-Fetch-Site``), the origin must be the page
      itself.
    - A request for data needs the header ``Authorization`` with the page's token (``Bearer TOKEN``). A browser never
      adds this ``Authorization`` header without the page's script. The files of the page contain no data, so requests
      for these files need no ``Authorization`` header.

    :param hosts: the allowed values of the header ``Host``, such as ``127.0.0.1:8765``.
    :param public: the paths of the page's files.
    """

    def __init__(self, app: App, hosts: frozenset[str], token: str, public: frozenset[str]) -> None:
        self._app, self._hosts, self._token, self._public = app, hosts, token.encode(), public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # The page has no web sockets.

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in HEADERS.items())]
            await send(message)

        fault = self._fault(scope)
        if fault is None:
            await self._app(scope, receive, guarded)
            return
        status, text = fault
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await guarded({"type": "http.response.start", "status": status, "headers": headers})
        await guarded({"type": "http.response.body", "body": text.encode()})

    def _fault(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = [value.decode("latin-1") for value in headers.get(b"host", [])]
        if len(host) != 1 or host[0] not in self._hosts:
            return 400, "This page answers under its own address only: open the link that rlgpt view printed."
        if any(origin.decode("latin-1") != f"http://{host[0]}" for origin in headers.get(b"origin", [])):
            return 403, "Refused: this request comes from another web site."
        if any(site not in (b"same-origin", b"none") for site in headers.get(b"sec-fetch-site", [])):
            return 403, "Refused: this request comes from another web site."
        if scope["path"] not in self._public and not self._has_token(headers.get(b"authorization", [])):
            return 401, "The token is missing or wrong: open the link that rlgpt view printed."
        return None

    def _has_token(self, given: list[bytes]) -> bool:
        scheme, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
        return scheme.lower() == b"bearer" and secrets.compare_digest(token, self._token)
