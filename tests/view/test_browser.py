"""The page in a real browser: what people see and do, and what a hostile run or another site cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from folders import append, events, iteration, make_planned_run, make_run, poison, write_stages
from rlgpt.observers.entries import FILE
from rlgpt.runs import Run

HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    "\"'><svg onload=window.hacked=1></textarea></pre></title><iframe srcdoc='<script>top.hacked=1</script>'></iframe>"
    "<a href='javascript:window.hacked=1'>x</a>{{7*7}}${7*7}`]]>\u202e<style>body{display:none}</style>"
)
FETCH = """async ([url, options]) => {
    try { return await (await fetch(url, options)).text(); } catch (error) { return "refused"; }
}"""
LOAD = """url => new Promise(done => {
    const script = document.createElement("script");
    script.onload = () => done(true);
    script.onerror = () => done(false);
    script.src = url;
    document.body.append(script);
})"""
Serve = Callable[[Path], Any]


class Seen:
    """A page of the browser, and everything that went wrong on it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.faults: list[str] = []
        self.hosts: set[str] = set()
        page.on("console", lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: self.faults.append("dialog") or dialog.dismiss())
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2] if "//" in request.url else ""))


@pytest.fixture
def seen(browser: Any) -> Iterator[Seen]:
    context = browser.new_context()
    context.set_default_timeout(120_000)
    yield Seen(context.new_page())
    context.close()


def open_run(seen: Seen, site: Any, name: str) -> None:
    seen.page.goto(site.link)
    seen.page.get_by_role("link", name=name, exact=True).click()
    seen.page.get_by_role("heading", name=name, level=1).wait_for()


def unfold(page: Any) -> None:
    """Open every part of the page, also the parts in parts, and wait for their content."""
    for what in ("details.iteration, .iteration > details", "details.attempt, details.exchange", "details"):
        page.evaluate("what => document.querySelectorAll(what).forEach(part => { part.open = true; })", what)
        page.wait_for_function("() => !document.querySelector('main').innerText.includes('Loading…')")
    page.locator(".frames img").first.wait_for()
    page.locator(".curves img[src^='blob:']").wait_for()


def test_pages_of_rlgpt_view_can_be_used_with_the_keyboard_alone(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    for n, name in enumerate(("door", "window", "drawer")):
        make_run(tmp_path / "sweep" / name, seed=n)
    page = seen.page
    page.goto(serve(tmp_path).link)
    page.get_by_role("link", name="sweep/door").wait_for()
    assert "token" not in page.url, "the token does not stay in the address"
    page.keyboard.press("/")
    page.keyboard.type("window m")
    assert page.get_by_role("link", name="sweep/").all_inner_texts() == ["window"]
    page.get_by_role("link", name="sweep/window").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="sweep/window").wait_for()
    repair = page.locator("details.attempt").nth(1).locator("summary").first
    repair.focus()
    page.keyboard.press("Enter")
    page.get_by_text("stand off first").first.wait_for()
    slider = page.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "step 2 of 3, grasp_handle"
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.locator(".calls [aria-current]", has_text="grasp()").wait_for()
    assert "holding False" in page.locator(".calls [aria-current]").inner_text()
    assert page.locator(".view tr.changed").inner_text().split("\t") == ["hand", "[0.3, 0.2]", "[0.4, 0.2]"]
    page.keyboard.press("ArrowLeft")
    page.locator(".view tr.changed", has_text="[0.1, 0.2]").wait_for()
    page.get_by_alt_text("frame of the rehearsal, before the call").wait_for()
    page.locator("details.exchange summary").first.click()
    page.get_by_text("A plan.").wait_for()
    page.locator("h1").click()
    page.keyboard.press("u")
    page.get_by_role("heading", name="Runs").wait_for()
    assert seen.faults == []


def test_live_page_shows_a_run_in_progress_and_stops_the_run(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", task="grid/door", seed=0, config={"budget": 9000})
    page = seen.page
    open_run(seen, serve(tmp_path), "run")
    page.get_by_text("No curve yet").wait_for()
    run.rewrite("iterations/0/plan", iteration(0).plan)
    page.get_by_text("not written yet").first.wait_for()
    write_stages(run, iteration(0), finished=False)
    page.get_by_text("kept, 2 versions").first.wait_for()
    append(run, FILE, *events()[:6])
    page.locator(".stage", has_text="train").wait_for()
    page.locator(".curves img").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("asked to stop").wait_for()
    assert run.stop_requested
    run.update(status="stopped", reason="interrupted")
    page.get_by_role("button", name="Resume").wait_for()
    assert seen.faults == []


def test_live_page_compares_selected_runs(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    make_run(tmp_path / "a", budget=1)
    make_run(tmp_path / "b", budget=2)
    page = seen.page
    page.goto(serve(tmp_path).link)
    page.get_by_label("select a").check()
    page.get_by_label("select b").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.get_by_role("region", name="different settings").get_by_text("budget").wait_for()
    page.locator(".curves img[src^='blob:']").wait_for()
    before = page.locator(".curves img").get_attribute("src")
    page.get_by_label("over").select_option("dollars")
    page.wait_for_function("s => document.querySelector('.curves img').src !== s", arg=before)
    assert seen.faults == []


def test_live_page_shows_markup_in_a_run_record_as_plain_text(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    run = make_run(tmp_path / "<img src=x onerror=window.hacked=1>", text=HOSTILE)
    make_run(tmp_path / "other", text=HOSTILE, status="failed")
    (run.folder / "videos").mkdir()
    (run.folder / "videos" / "<img src=x onerror=window.hacked=1>.mp4").write_bytes(b"\0\0\0\0ftypisom<script>")
    site, page = serve(tmp_path), seen.page
    page.goto(site.link)
    page.locator("table.runs").wait_for()
    page.evaluate(
        "() => { window.refused = []; addEventListener('securitypolicyviolation', e => refused.push(e.blockedURI)) }"
    )
    page.get_by_role("link", name="<img src=x").click()
    page.get_by_role("heading", name="<img src=x").wait_for()
    page.get_by_text("Setup of the learning").first.wait_for()
    unfold(page)
    assert "<script>window.hacked = 1</script>" in page.locator("main").inner_text()
    assert page.evaluate("() => window.hacked") is None
    assert page.evaluate("() => refused") == []
    assert page.evaluate("() => document.scripts.length") == 1
    assert page.locator("main iframe, main style, main script, main [onerror], main a[href^='javascript']").count() == 0
    sources = page.locator("main img").evaluate_all("all => all.map(i => i.src.split(':')[0])")
    assert set(sources) <= {"blob", "data"}
    assert seen.hosts <= {f"127.0.0.1:{site.port}", ""}
    assert [fault for fault in seen.faults if "hacked" in fault] == []


def test_live_page_shows_a_payload_in_any_field_of_any_file_as_plain_text(
    serve: Serve, seen: Seen, tmp_path: Path
) -> None:
    runs = {"whole": make_run(tmp_path / "whole"), "planned": make_planned_run(tmp_path / "planned")}
    payload = "<img src=x onerror=window.hacked=1>"
    assert all(poison(run, payload) > 300 for run in runs.values())
    site, page = serve(tmp_path), seen.page
    for name in runs:
        open_run(seen, site, name)
        page.locator("details.exchange").first.wait_for()
        for what in ("main details", ".attempt, .exchange", "main details"):
            page.evaluate("what => document.querySelectorAll(what).forEach(part => { part.open = true; })", what)
            page.wait_for_function("() => !document.querySelector('main').innerText.includes('Loading…')")
        page.locator(".curves img[src^='blob:']").wait_for()
        assert page.locator("main").inner_text().count(payload) > 20
        assert page.locator("main [onerror], main script, main iframe").count() == 0
    page.goto(site.link)
    for name in runs:
        page.get_by_label(f"select {name}", exact=True).check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.get_by_role("region", name="different settings").get_by_text(payload).first.wait_for()
    assert page.evaluate("() => window.hacked") is None
    assert seen.hosts <= {f"127.0.0.1:{site.port}", ""}
    assert seen.faults == []


def test_live_page_draws_the_graph_of_sub_goals_with_hostile_words_as_plain_text(
    serve: Serve, seen: Seen, tmp_path: Path
) -> None:
    make_planned_run(tmp_path / "run", text=HOSTILE)
    site, page = serve(tmp_path), seen.page
    open_run(seen, site, "run")
    names = page.locator("svg.goals text.name")
    names.first.wait_for()
    assert names.all_text_contents() == ["key_held", "alive", "door_open", "goal_reached"]
    assert page.locator("svg.goals path.tip").count() == 2
    assert "<script>window.hacked = 1</script>" in page.locator("ol.goals").inner_text()
    page.locator("ol.goals").get_by_role("link", name="door_open").click()
    page.get_by_role("heading", name="run: door_open").wait_for()
    page.get_by_text("Setup of the learning").first.wait_for()
    assert page.get_by_role("button", name="Resume").count() == 0
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("main iframe, main style, main script, main [onerror], main a[href^='javascript']").count() == 0
    assert seen.faults == []


def test_content_security_policy_blocks_scripts_in_unescaped_text(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    seen.page.goto(serve(tmp_path).link)
    seen.page.get_by_role("heading", name="Runs").wait_for()
    markup = "() => { document.body.innerHTML = '<img src=x onerror=window.hacked=1>'; }"
    with pytest.raises(Exception, match="TrustedHTML"):
        seen.page.evaluate(markup)
    inline = (
        "() => { const s = document.createElement('script'); s.append('window.hacked = 1'); document.body.append(s); }"
    )
    seen.page.evaluate(inline)
    seen.page.evaluate("() => { const i = document.createElement('div'); i.setAttribute('style', 'color: red'); }")
    assert seen.page.evaluate("() => window.hacked") is None


def test_live_page_refuses_requests_from_another_web_site(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", status="running")
    site, page = serve(tmp_path), seen.page
    page.route("http://evil.example/**", lambda route: route.fulfill(body="<h1>evil</h1>", content_type="text/html"))
    page.goto("http://evil.example/")
    address = f"http://127.0.0.1:{site.port}"
    for path in ("/", "/main.js", "/api/runs"):
        assert page.evaluate(FETCH, [address + path, {}]) == "refused"
        assert (
            page.evaluate(FETCH, [address + path, {"headers": {"Authorization": f"Bearer {site.token}"}}]) == "refused"
        )
        assert page.evaluate(FETCH, [address + path, {"mode": "no-cors"}]) in ("", "refused"), "an opaque answer"
    assert page.evaluate(LOAD, f"{address}/dom.js") is False
    page.evaluate(
        "url => fetch(url, { method: 'POST', mode: 'no-cors' }).catch(() => {})", f"{address}/api/runs/x/stop"
    )
    assert not run.stop_requested


LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 1280), ("light", 390))
"""Colour scheme, and width of the window in pixels; the last window is that of a phone."""


def test_accessibility_checker_axe_reports_no_serious_fault(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    for n, name in enumerate(("a", "b")):
        make_run(tmp_path / "sweep" / name, seed=n)
    make_run(tmp_path / "stopped", status="stopped")
    page = seen.page
    page.goto(serve(tmp_path).link)
    page.get_by_text("85 %").first.wait_for()
    found = serious(axe, page)
    page.get_by_role("button", name="compare the runs of sweep").click()
    page.get_by_role("region", name="results").wait_for()
    page.locator(".curves img[src^='blob:']").wait_for()
    found += serious(axe, page)
    page.get_by_role("link", name="sweep/a").click()
    page.get_by_text("Setup of the learning").first.wait_for()
    unfold(page)
    found += serious(axe, page)
    assert found == []
    for _, width in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        sizes = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert sizes[0] <= sizes[1], "the page does not scroll sideways"


def serious(axe: Any, page: Any) -> list[str]:
    """The serious and critical faults that axe finds in each of ``LOOKS``. It is evaluated outside the page's
    policy.
    """
    found = []
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("() => [...document.querySelectorAll('.curves img')].every(image => image.complete)")
        found += [
            f"{scheme}, {width} px, {v['id']}: {[n['target'] for n in v['nodes']][:3]}"
            for v in axe.run(page).response["violations"]
            if v["impact"] in ("serious", "critical")
        ]
    return found


def test_run_opened_in_a_new_tab_gets_the_token_from_the_other_tab(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    site, page = serve(tmp_path), seen.page
    page.goto(site.link)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="run", exact=True).click(modifiers=["Control"])
    opened.value.get_by_role("heading", name="run", level=1).wait_for()
    alone = page.context.browser.new_context().new_page()
    alone.goto(site.link.split("#")[0])
    alone.get_by_role("heading", name="This page needs its link").wait_for()
    alone.context.close()


def test_address_of_a_run_that_is_gone_leads_back_to_the_list(serve: Serve, seen: Seen, tmp_path: Path) -> None:
    site, page = serve(tmp_path), seen.page
    page.goto(site.link)
    page.get_by_text("There are no runs here yet").wait_for()
    page.goto(f"{site.link.split('#')[0]}#/run/{'0' * 16}")
    page.get_by_role("alert").wait_for()
    page.get_by_role("link", name="All runs").click()
    page.get_by_role("heading", name="Runs").wait_for()
