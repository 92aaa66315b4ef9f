"""The live page answers only requests with its own host name, its own origin and its own token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from folders import make_run
from rlgpt.errors import ConfigError, RunError

pytest.importorskip("starlette", reason="the extra rlgpt[view] is not installed")

Serve = Callable[[Path], Any]
PATHS = ("/api/runs", "/api/events", "/api/bills?runs=x", "/api/figure?runs=x", "/api/nothing", "/nothing")


def ask(site: Any, path: str, *, method: str = "GET", token: str | None = None, **headers: str) -> httpx.Response:
    given = {"Authorization": f"Bearer {site.token if token is None else token}", **headers}
    return httpx.request(method, f"http://127.0.0.1:{site.port}{path}", headers=given, timeout=10)


def test_files_of_the_live_page_need_no_token_and_contain_no_run_data(serve: Serve, tmp_path: Path) -> None:
    make_run(tmp_path / "a_secret_name")
    site = serve(tmp_path)
    page = httpx.get(f"http://127.0.0.1:{site.port}/")
    assert page.status_code == 200
    assert "a_secret_name" not in page.text
    policy = page.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert "<script>" not in page.text
    assert " style=" not in page.text
    assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", PATHS)
def test_data_requests_without_the_token_are_refused(serve: Serve, tmp_path: Path, path: str) -> None:
    site = serve(tmp_path)
    url = f"http://127.0.0.1:{site.port}{path}"
    wrong: list[dict[str, str]] = [{}, {"Authorization": "Bearer x"}, {"Authorization": site.token}]
    wrong += [{"Authorization": f"Basic {site.token}"}, {"Cookie": f"token={site.token}"}]
    for headers in wrong:
        assert httpx.get(url, headers=headers).status_code == 401
    assert httpx.get(f"{url}{'&' if '?' in path else '?'}token={site.token}").status_code == 401
    twice = [("Authorization", f"Bearer {site.token}"), ("Authorization", "Bearer x")]
    assert httpx.get(url, headers=twice).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1", "localhost:1", ""])
def test_requests_with_another_host_name_are_refused(serve: Serve, tmp_path: Path, host: str) -> None:
    """A name of another site that resolves to 127.0.0.1 (DNS rebinding) is refused, even with the token."""
    site = serve(tmp_path)
    for path in ("/", "/main.js", "/api/runs"):
        assert ask(site, path, Host=host).status_code == 400
    assert ask(site, "/api/runs", Host=f"localhost:{site.port}").status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_with_another_origin_are_refused(serve: Serve, tmp_path: Path, header: dict[str, str]) -> None:
    run = make_run(tmp_path / "run", status="running")
    site = serve(tmp_path)
    (line,) = ask(site, "/api/runs").json()
    for method, path in (("GET", "/api/runs"), ("GET", "/"), ("POST", f"/api/runs/{line['id']}/stop")):
        reply = ask(site, path, method=method, **header)
        assert reply.status_code == 403
        assert "access-control-allow-origin" not in reply.headers
    assert not run.stop_requested
    own = {"Origin": f"http://127.0.0.1:{site.port}", "Sec-Fetch-Site": "same-origin"}
    assert ask(site, "/api/runs", **own).status_code == 200


def test_stop_and_resume_need_the_token_and_the_method_post(serve: Serve, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", status="running")
    site = serve(tmp_path)
    (line,) = ask(site, "/api/runs").json()
    for name in ("stop", "resume"):
        assert ask(site, f"/api/runs/{line['id']}/{name}", method="POST", token="x").status_code == 401
        assert ask(site, f"/api/runs/{line['id']}/{name}").status_code == 405
    assert not run.stop_requested
    assert ask(site, f"/api/runs/{line['id']}/stop", method="POST").status_code == 200
    assert run.stop_requested


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/../../etc/passwd",
        "/api/runs/%2e%2e%2frun",
        "/..%2f..%2frun.json",
        "/page/../guard.py",
        "/api/runs/0/videos/x",
    ],
)
def test_no_path_in_a_request_returns_a_file_of_the_disk(serve: Serve, tmp_path: Path, path: str) -> None:
    make_run(tmp_path / "run")
    site = serve(tmp_path)
    assert ask(site, path).status_code == 404


def test_live_page_lists_only_runs_below_the_given_folders(serve: Serve, tmp_path: Path) -> None:
    make_run(tmp_path / "elsewhere" / "run")
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "link").symlink_to(tmp_path / "elsewhere")
    assert ask(serve(tmp_path / "shown"), "/api/runs").json() == []


def test_live_page_listens_only_on_the_loopback_address(serve: Serve, tmp_path: Path) -> None:
    site = serve(tmp_path)
    assert site._socket.getsockname()[0] == "127.0.0.1"
    assert site.link == f"http://127.0.0.1:{site.port}/#token={site.token}"
    assert len(site.token) >= 32


def test_error_of_the_view_command_names_a_missing_folder_or_a_port_in_use(serve: Serve, tmp_path: Path) -> None:
    from rlgpt.view.server import Site

    with pytest.raises(RunError, match="there is no folder"):
        Site([tmp_path / "nowhere"], 0)
    busy = serve(tmp_path)
    with pytest.raises(ConfigError, match=f"--port {busy.port} cannot be used"):
        Site([tmp_path], busy.port)


def test_open_page_does_not_delay_the_end_of_the_server(serve: Serve, tmp_path: Path) -> None:
    site = serve(tmp_path)
    url = f"http://127.0.0.1:{site.port}/api/events"
    with httpx.stream("GET", url, headers={"Authorization": f"Bearer {site.token}"}, timeout=60) as reply:
        lines = reply.iter_lines()
        assert next(lines) == ": connected"
        site.close()
        assert all(line.startswith(":") or not line for line in lines), "the stream ends without an error"
