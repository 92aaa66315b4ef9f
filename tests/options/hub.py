"""A stand-in for the Hugging Face hub: the part of its API that uploads and downloads of small files use."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """Repositories in memory: name -> path -> content.

    :ivar downloads: the paths of the files whose content was downloaded.
    """

    def __init__(self) -> None:
        self.downloads: list[str] = []
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_POST(self) -> None:
                hub.post(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def do_GET(self) -> None:
                hub.get(self)

            def do_HEAD(self) -> None:
                hub.get(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def post(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if handler.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
            self.repositories.setdefault(name, {})
            self.private[name] = bool(asked.get("private"))
            return _answer(handler, {"url": f"{self.address}/{name}"})
        if handler.path == "/api/validate-yaml":
            return _answer(handler, {"errors": [], "warnings": []})
        name, what = _api(handler.path)
        if what.startswith("preupload/"):
            files = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in json.loads(body)["files"]
            ]
            return _answer(handler, {"files": files})
        assert what.startswith("commit/"), handler.path
        for line in map(json.loads, body.decode().splitlines()):
            if line["key"] == "file":
                self.repositories[name][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        return _answer(handler, {"commitUrl": f"{self.address}/{name}/commit/{COMMIT}", "commitOid": COMMIT})

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path):
            content = self.repositories.get(found[1], {}).get(found[2])
            if content is None:
                return _answer(handler, {"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound"})
            if handler.command == "GET":
                self.downloads.append(found[2])
            etag = hashlib.sha1(content).hexdigest()
            return _send(handler, 200, content, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})
        name, _ = _api(path)
        if name not in self.repositories:
            return _answer(handler, {"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
        files = [{"rfilename": n, "size": len(c)} for n, c in self.repositories[name].items()]
        return _answer(handler, {"id": name, "sha": COMMIT, "private": True, "siblings": files})


def _api(path: str) -> tuple[str, str]:
    found = re.fullmatch(r"/api/models/([^/]+/[^/?]+)/?([^?]*)(?:\?.*)?", path)
    assert found is not None, path
    return found[1], found[2]


def _answer(
    handler: BaseHTTPRequestHandler, value: Any, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    _send(handler, status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})


def _send(handler: BaseHTTPRequestHandler, status: int, content: bytes, headers: dict[str, str]) -> None:
    handler.send_response(status)
    for name, value in {**headers, "Content-Length": str(len(content))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(content)
