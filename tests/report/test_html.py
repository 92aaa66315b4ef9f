"""The report page loads no other file, and text of a language model is never interpreted as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from report_stories import evaluation, iteration, story
from rlgpt.domain import ComparedPlan, Parameter, Score, SearchRecord, Verdict
from rlgpt.observers import entries
from rlgpt.report import figures, graph, html, text
from rlgpt.report.graph import Shape
from rlgpt.report.stats import interval
from rlgpt.report.values import Clip, Comparison, MethodRow, Page

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><a href='javascript:alert(1)'>x</a>",
    "{{ 7 * 7 }}{% include 'style.css' %}",
    "</pre></details></main><iframe src=https://example.org>",
    "<!--",
    "]]><base href=//example.org>",
)
TAGS = {"script", "iframe", "img", "object", "embed", "link", "base", "form", "a", "input"}


class Reader(HTMLParser):
    """A parser that collects every tag and attribute of a page, and checks that each tag is closed."""

    VOID = frozenset({"meta", "br", "img", "input", "link", "base", "path", "use", "rect", "polyline"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(k, v or "") for k, v in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(k, v or "") for k, v in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def page(text: str = "") -> Page:
    row = MethodRow(
        method=text or "RL-GPT", runs=3, success=interval([0.8, 0.9, 1.0]), primitive_steps=12_000, tokens=9
    )
    return Page(
        title=text or "grid/door",
        note=text,
        comparisons=(Comparison(title=text or "Methods", rows=(row,)),),
        stories=(story(iteration(0, text=text), iteration(1, text=text), text=text),),
    )


def test_distinct_gives_the_most_frequent_verdicts_of_each_action_with_their_counts() -> None:
    def fell(action: str, message: str, times: int) -> list[Verdict]:
        return [Verdict(kind="error", action=action, message=message)] * times

    loud = [v for n in range(9) for v in fell("loud", f"no {n}", 20 - n)]
    shown = html.distinct([*loud, *fell("late", "once", 1)])
    assert [(v.action, v.message, n) for v, n in shown] == [
        ("loud", "no 0", 20),
        ("loud", "no 1", 19),
        ("loud", "no 2", 18),
        ("late", "once", 1),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_report_escapes_hostile_text(text: str) -> None:
    plain, hostile = read(html.render(page())), read(html.render(page(text)))
    assert not TAGS & set(hostile.tags)
    assert not [name for name, _ in hostile.attributes if name.startswith("on") or name == "href"]
    assert text.strip() in " ".join(hostile.text.split()) or text in hostile.text
    assert set(hostile.tags) <= set(plain.tags) | {"blockquote"}


@pytest.mark.parametrize("text", HOSTILE)
def test_drawing_of_a_graph_escapes_hostile_text(text: str) -> None:
    shape: Shape = ("svg", {"class": text}, [("title", {}, [text]), ("text", {"x": 1}, [text, ("tspan", {}, [text])])])
    reader = read(str(graph.markup(shape)))
    assert reader.tags == ["svg", "title", "text", "tspan"]
    assert reader.attributes == [("class", text), ("x", "1")]
    assert reader.text == 3 * text


def test_report_page_loads_no_file_and_its_security_policy_forbids_loading() -> None:
    reader = read(html.render(page()))
    policy = next(v for k, v in reader.attributes if k == "content" and "default-src" in v)
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert not [v for k, v in reader.attributes if k in ("src", "href", "action") and not v.startswith("data:")]


def test_report_page_shows_plans_actions_and_verdicts() -> None:
    shown = read(html.render(page())).text
    for words in (
        "90 %",
        "11,020 primitive steps",
        "A fixed pose.",
        "KeyError: 'handel'",
        "stand off first",
        "The handle is reached each time",
        "the transcript holds no further reply",
        "rehearsal 820",
        "18,734",
    ):
        assert words in shown, words


def test_diff_marks_removed_and_added_lines_of_a_repair() -> None:
    marked = str(text.diff("a\nb\nc\n", "a\nB\nc\n"))
    assert '<span class="line del">-b\n</span><span class="line add">+B\n</span>' in marked
    assert text.diff("same", "same") == ""


def test_control_and_direction_characters_in_a_report_are_replaced_by_their_codes() -> None:
    assert text.visible("a\u202eb\u0000\ud800") == "a\\u202eb\\u0000\\ud800"
    assert text.visible("naïve 中文\n\ttab") == "naïve 中文\n\ttab"
    assert "\\u2066" in str(text.highlight("x = 1  # \u2066"))


def test_long_text_in_a_report_is_shortened_with_the_number_of_omitted_characters() -> None:
    shown = text.visible("x" * 10_000, 100)
    assert len(shown) < 150
    assert "9,900 more characters" in shown


def test_highlighted_source_in_a_report_keeps_its_lines() -> None:
    marked = str(text.highlight("def f():\n    '''a\n    b'''\n\n    return 1\n"))
    assert marked.count('<span class="line">') == 5
    read(f"<main>{marked}</main>")


def test_videos_are_embedded_in_the_report_page() -> None:
    run = story(iteration()).model_copy(update={"clips": (Clip(caption="<b>", mp4=b"\x00\x01"),)})
    reader = read(html.render(Page(title="t", stories=(run,))))
    assert ("src", "data:video/mp4;base64,AAE=") in reader.attributes


def test_report_page_shows_a_run_without_code_training_or_critic() -> None:
    bare = iteration().model_copy(
        update={
            "rehearsals": {},
            "code_evaluation": None,
            "training": None,
            "critique": None,
            "evaluation": evaluation(0, 2),
        }
    )
    run = story(bare).model_copy(update={"outcome": None, "dead_loop_rate": None, "dollars": None})
    shown = read(html.render(Page(title="t", stories=(run,)))).text
    assert "no steps were spent on learning" in shown
    assert "unknown" in shown


def test_report_page_and_trackers_show_tuned_code_if_it_played() -> None:
    plain = iteration()
    tuned = plain.model_copy(update={"tuned_evaluation": evaluation(4, 5, "tuned")})
    shown = [read(html.render(Page(title="t", stories=(story(i),)))).text for i in (plain, tuned)]
    assert ["tuned code" in text for text in shown] == [False, True]
    assert entries.of_iteration(tuned)["tuned/success"] == 0.8
    assert "tuned/success" not in entries.of_iteration(plain)
    assert [row["mode"] for row in entries.episode_rows(tuned)].count("tuned") == 5


def test_report_page_shows_all_plans_of_an_iteration_with_their_rounds() -> None:
    made, scored = iteration(), Score(metric="coins")
    rounds = {0: (1,), 1: (2, 5), 2: ()}
    plans = tuple(
        ComparedPlan(
            number=number,
            plan=made.plan,
            actions=("grasp_handle",) if wins else (),
            rounds=tuple(evaluation(w, 5, "code") for w in wins),
            kept=number == 1,
        )
        for number, wins in rounds.items()
    )
    equal = ComparedPlan(number=3, plan=made.plan, equals=1)
    text = read(html.render(Page(title="t", stories=(story(made.model_copy(update={"plans": (*plans, equal)})),)))).text
    for words in (
        "1 of 5",
        "2 of 5; 5 of 5",
        "dropped after round 1",
        "goes on",
        "no code that works",
        "equals plan 1",
    ):
        assert words in text, words
    assert "All plans" not in read(html.render(Page(title="t", stories=(story(made),)))).text
    score = evaluation(0, 2).model_copy(update={"has_success": False, "score": scored})
    episodes = tuple(e.model_copy(update={"score": s}) for e, s in zip(score.episodes, (1.0, 2.0), strict=True))
    assert figures.round_result(score.model_copy(update={"episodes": episodes})) == "1.5"
    assert figures.round_result(score) == "no result in 2"


def test_report_page_shows_costs_in_dollars_or_as_unknown() -> None:
    assert [html._dollars(x) for x in (None, 0, 0.0123, 12.345)] == ["unknown", "$0.00", "$0.0123", "$12.35"]


def test_report_page_shows_functions_and_reward_terms_with_their_faults() -> None:
    curve = tuple((1000 * (i + 1), 0.1 * i) for i in range(8))
    flat = iteration(0, curve=curve)
    assert flat.training is not None
    stuck = flat.training.model_copy(
        update={"curve": tuple(p.model_copy(update={"success": 0.0}) for p in flat.training.curve)}
    )
    shown = read(html.render(Page(title="t", stories=(story(flat.model_copy(update={"training": stuck})),))))
    for said in (
        "near_handle",
        "pays for coming near",
        "Nearer is more.",
        "every answer is outside its bounds",
        "near_handle pays without success",
        "kept from an earlier iteration",
        "0 to 0.7",
        "pays more, without more success",
    ):
        assert said in shown.text, said
    assert shown.text.count("pays more, without more success") == 1, "only for the reward term that rises"
    (points,) = (v for k, v in shown.attributes if k == "points" and v.count(" ") == 7 and "26" in v)
    assert points.startswith("0.0,26.0 ")


@pytest.mark.parametrize(("seconds", "shown"), [("61.4", "61"), ("inf", "\N{EN DASH}"), ("nan", "\N{EN DASH}")])
def test_report_page_shows_a_dash_for_a_time_that_is_not_finite(seconds: str, shown: str) -> None:
    made = iteration()
    assert made.training is not None
    odd = made.model_copy(update={"training": made.training.model_copy(update={"seconds": float(seconds)})})
    assert f"decisions, {shown} s," in read(html.render(Page(title="t", stories=(story(odd),)))).text


def test_report_page_draws_no_curve_of_numbers_without_a_finite_range() -> None:
    curve = tuple((1000 * (i + 1), 0.5) for i in range(6))
    told = iteration(0, curve=curve)
    assert told.training is not None
    far = tuple(
        p.model_copy(update={"reward_terms": {"near_handle": 1e308 * (-1) ** i, "nan": float("nan")}})
        for i, p in enumerate(told.training.curve)
    )
    training = told.training.model_copy(update={"curve": far})
    shown = read(html.render(Page(title="t", stories=(story(told.model_copy(update={"training": training})),))))
    assert not [v for k, v in shown.attributes if k == "points"]


def test_report_page_shows_how_a_policy_learned() -> None:
    plain = iteration()
    assert plain.training is not None
    reach = Parameter(name="reach", low=0.0, high=0.5, default=0.1)
    search = SearchRecord(episodes=200, successes=50, ended=4500, found={"grasp_handle.reach": 0.345678})
    setup = plain.setup.model_copy(
        update={
            "reset_option": "after:grasp_handle",
            "reset_share": 0.25,
            "plan_prior": 0.97,
            "interrupt_every": 5,
            "residual": 0.2,
            "trainer": {"ent_coef": 0.01},
        }
    )
    learned = plain.model_copy(
        update={
            "actions": tuple(a.model_copy(update={"parameters": (reach,)}) for a in plain.actions),
            "setup": setup,
            "training": plain.training.model_copy(update={"search": search}),
        }
    )
    shown = " ".join(read(html.render(Page(title="t", stories=(story(learned),)))).text.split())
    for said in (
        "25% of training episodes begin at after:grasp_handle",
        "the plan's choice has the probability 0.97 at first; decides again after 5 steps of a coded action; corrects "
        "a step of code by up to 20% of half the range",
        "ent_coef 0.01",
        "200 episodes, 25% succeeded, in the first 4,500 steps: grasp_handle.reach 0.3457 (default 0.1)",
    ):
        assert said in shown, said
    few = learned.training.model_copy(update={"search": search.model_copy(update={"found": {}})})
    kept = story(learned.model_copy(update={"training": few}))
    assert "too few, so the parameters keep their defaults" in read(html.render(Page(title="t", stories=(kept,)))).text
    for said in ("begins as the code", "hyperparameters", "starts"):
        assert said not in read(html.render(Page(title="t", stories=(story(plain),)))).text
