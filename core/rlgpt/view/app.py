"""The web application of the live page. A route of the web application leads from an address to a method of
:class:`~rlgpt.view.library.Library`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from rlgpt.errors import ConfigError, RlgptError, UnknownNameError
from rlgpt.report.html import TEMPLATES
from rlgpt.view.changes import changes
from rlgpt.view.guard import Guard
from rlgpt.view.library import Library
from rlgpt.view.progress import Axis

PAGE = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}


def application(library: Library, hosts: frozenset[str], token: str, ends: Callable[[], bool] = lambda: False) -> Guard:
    """The web application that serves the live page and the data of the page. A :class:`Guard` checks each request
    before the application answers it.
    """
    files = {f"/{p.name}": p for p in PAGE.iterdir() if p.suffix in TYPES}
    files.update({"/": PAGE / "index.html", "/report.css": TEMPLATES / "style.css"})
    answers = {path: _file(file) for path, file in files.items()}

    async def static(request: Request) -> Response:
        body, kind = answers[request.url.path]
        return Response(body, media_type=kind)

    async def events(request: Request) -> Response:
        key = request.query_params.get("run")
        opened = None if key is None else (await run_in_threadpool(library.catalogue.run, key)).folder
        return StreamingResponse(changes(library.catalogue, opened, ends), media_type="text/event-stream")

    return Guard(
        Starlette(
            routes=[
                *(Route(path, static) for path in answers),
                Route("/api/events", events),
                *_routes(library),
            ],
            exception_handlers={RlgptError: _refused},
        ),
        hosts,
        token,
        frozenset(answers),
    )


def _routes(library: Library) -> list[Route]:
    run, part = "/api/runs/{key}", "/api/runs/{key}/iterations/{index:int}"
    attempt = f"{part}/{{kind}}/{{name}}/{{number:int}}"

    def keys(r: Request) -> list[str]:
        return [key for key in r.query_params.get("runs", "").split(",") if key]

    def axis(r: Request) -> Any:
        return _one_of(r, "axis", get_args(Axis))

    def by(r: Request) -> Any:
        return _one_of(r, "by", ("run", "method"))

    def figure(r: Request) -> Response:
        svg = library.figure(keys(r), axis(r), by(r), _one_of(r, "theme", ("light", "dark")))
        return Response(svg, media_type="image/svg+xml")

    def video(r: Request) -> Response:
        return Response(library.video(r.path_params["key"], r.path_params["name"]), media_type="video/mp4")

    def given(method: Callable[..., Any]) -> Callable[[Request], Any]:
        return lambda r: method(**r.path_params)

    return [
        _get("/api/runs", lambda r: library.runs()),
        _get("/api/sweeps", lambda r: library.sweeps()),
        _get("/api/bills", lambda r: library.bills(keys(r))),
        _get("/api/comparison", lambda r: library.comparison(keys(r), axis(r), by(r))),
        _get("/api/figure", figure),
        _get(run, given(library.run)),
        _get(f"{run}/exchanges", given(library.exchanges)),
        _get(f"{run}/exchanges/{{number:int}}", given(library.exchange)),
        _get(f"{run}/videos/{{name}}", video),
        _get(part, given(library.iteration)),
        _get(attempt, given(library.attempt)),
        _get(f"{part}/actions/{{name}}/{{number:int}}/decisions/{{step:int}}", given(library.decision)),
        _get(f"{run}/stop", given(library.stop), method="POST"),
        _get(f"{run}/resume", given(library.resume), method="POST"),
    ]


def _get(path: str, answer: Callable[[Request], Any], method: str = "GET") -> Route:
    """A route of the web application whose response is computed in a thread, so that a slow disk or a large file does
    not delay other requests.
    """

    async def endpoint(request: Request) -> Response:
        made = await run_in_threadpool(_answered, answer, request)
        assert isinstance(made, Response)
        return made

    return Route(path, endpoint, methods=[method])


def _answered(answer: Callable[[Request], Any], request: Request) -> Response:
    made = answer(request)
    return made if isinstance(made, Response) else _json(made)


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")


async def _refused(request: Request, fault: Exception) -> Response:
    return _json({"error": str(fault)[:2000]}, 404 if isinstance(fault, UnknownNameError) else 400)


def _one_of(request: Request, name: str, valid: tuple[str, ...]) -> str:
    given = request.query_params.get(name, valid[0])
    if given not in valid:
        raise ConfigError(f"{name}={given[:40]!r} is not valid. Valid: {', '.join(valid)}.")
    return given


def _file(path: Path) -> tuple[bytes, str]:
    return path.read_bytes(), TYPES[path.suffix]
