"""Draws a graph of sub-goals. The drawing shows which sub-goals each sub-goal needs, how often each sub-goal was
reached, and how many steps and failures its calls had.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from rlgpt.domain import SubGoalFigures, Value
from rlgpt.planner.records import KeptGraph

WIDTH, HEIGHT, GAP_X, GAP_Y = 190, 64, 46, 18


Shape = tuple[str, dict[str, Any], list[Any]]
"""An element of a drawing: its SVG tag, its attributes, and its content, which is text or further elements. The report
converts an element to markup. The live page converts it to an element of the browser, because no text may become markup
in the live page.
"""


class GraphBox(Value):
    """The box of one sub-goal in a drawing.

    :ivar column: number of the box's column; a sub-goal is to the right of all sub-goals that it needs.
    :ivar row: number of the row.
    :ivar share: the share of the steps of all calls that the calls of this sub-goal took, from 0 to 1.
    :ivar figures: the figures about the sub-goal from the played episodes.
    """

    name: str
    column: int
    row: int
    needs: tuple[str, ...]
    standing: bool
    share: float
    figures: SubGoalFigures


def boxes(kept: KeptGraph) -> tuple[GraphBox, ...]:
    """The boxes of all sub-goals of a graph. The box of a sub-goal comes after the boxes of the sub-goals that it
    needs.
    """
    figures = {f.name: f for f in kept.evidence.figures}
    total = max(1, sum(f.steps for f in figures.values()))
    used: dict[int, int] = {}
    columns: dict[str, int] = {}
    found = []
    for node in kept.graph.in_order:
        column = columns[node.name] = max((1 + columns[need] for need in node.needs), default=0)
        row = used[column] = used.get(column, -1) + 1
        known = figures.get(node.name, SubGoalFigures(name=node.name))
        found.append(
            GraphBox(
                name=node.name,
                column=column,
                row=row,
                needs=node.needs,
                standing=node.standing,
                share=known.steps / total,
                figures=known,
            )
        )
    return tuple(found)


def drawing(drawn: tuple[GraphBox, ...]) -> Shape:
    """The drawing of a graph. An arrow leads from each need of a sub-goal to this sub-goal. The bar in the box of a
    sub-goal shows its share of the steps, and the red number is the number of failed calls.
    """
    at = {b.name: (b.column * (WIDTH + GAP_X) + 2, b.row * (HEIGHT + GAP_Y) + 2) for b in drawn}
    parts = [arrow for box in drawn for need in box.needs for arrow in _arrow(at[need], at[box.name])]
    parts += [_box(box, *at[box.name]) for box in drawn]
    width = max(x for x, _ in at.values()) + WIDTH + 2
    height = max(y for _, y in at.values()) + HEIGHT + 2
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return "svg", {"class": "goals", **size, "role": "img", "aria-label": "graph of sub-goals"}, parts


def markup(shape: Shape | str) -> Markup:
    """A drawing as SVG markup. Every text in it is escaped."""
    if isinstance(shape, str):
        return Markup("{}").format(shape)
    tag, attributes, content = shape
    given = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in attributes.items())
    return Markup("<{0}{1}>{2}</{0}>").format(tag, given, Markup("").join(map(markup, content)))


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> list[Shape]:
    x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT // 2, end[0], end[1] + HEIGHT // 2
    middle = (x1 + x2) // 2
    line: Shape = ("path", {"d": f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2 - 6} {y2}"}, [])
    return [line, ("path", {"class": "tip", "d": f"M{x2} {y2}l-7 -4v8z"}, [])]


def _box(box: GraphBox, x: int, y: int) -> Shape:
    f = box.figures
    name = box.name if len(box.name) <= 24 else f"{box.name[:23]}…"
    calls: list[Shape | str] = [f"{f.done} of {f.calls} calls" if f.calls else "never called"]
    if f.failed:
        calls.append(("tspan", {"class": "failed", "dx": 8}, [f"{f.failed} failed"]))
    place = {"class": "box", "x": x, "y": y, "width": WIDTH, "height": HEIGHT, "rx": 9}
    bar = {"class": "bar", "x": x + 10, "y": y + HEIGHT - 12, "width": round((WIDTH - 20) * box.share), "height": 5}
    content: list[Shape | str] = [
        ("title", {}, [f"{box.name}: {f.steps:,} steps, {box.share:.0%} of all"]),
        ("rect", place, []),
        ("text", {"class": "name", "x": x + 10, "y": y + 21}, [name]),
        ("text", {"x": x + 10, "y": y + 40}, calls),
        ("rect", bar, []),
    ]
    return "g", {"class": "goal standing" if box.standing else "goal"}, content
