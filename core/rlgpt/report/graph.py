"""Draws a graph of sub-goals: what needs what, how often each was reached, and where steps and failures went."""

from __future__ import annotations

from markupsafe import Markup, escape

from rlgpt.domain import GoalGraph, SubGoalFigures, Value
from rlgpt.planner.records import KeptGraph

WIDTH, HEIGHT, GAP_X, GAP_Y = 190, 64, 46, 18


class GraphBox(Value):
    """One sub-goal of a drawing.

    :ivar column, row: its place; a sub-goal is right of all that it needs.
    :ivar share: share of the steps of all calls, 0 to 1; ``lost`` of it went into calls that did not reach it.
    """

    name: str
    column: int
    row: int
    needs: tuple[str, ...]
    standing: bool
    share: float
    figures: SubGoalFigures


def boxes(kept: KeptGraph) -> tuple[GraphBox, ...]:
    """The sub-goals of a graph with their places, in an order in which each follows what it needs."""
    graph, figures = kept.graph, {f.name: f for f in kept.evidence.figures}
    total = max(1, sum(f.steps for f in figures.values()))
    used: dict[int, int] = {}
    found = []
    for node in graph.in_order:
        column = _depth(graph, node.name)
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


def svg(drawn: tuple[GraphBox, ...]) -> Markup:
    """A drawing: an arrow leads from each need; the bar of a sub-goal is its share of the steps, the red number its
    failed calls.
    """
    at = {b.name: (b.column * (WIDTH + GAP_X) + 2, b.row * (HEIGHT + GAP_Y) + 2) for b in drawn}
    parts = [_arrow(at[need], at[box.name]) for box in drawn for need in box.needs]
    parts += [_box(box, *at[box.name]) for box in drawn]
    width = max(x for x, _ in at.values()) + WIDTH + 2
    height = max(y for _, y in at.values()) + HEIGHT + 2
    head = Markup(
        '<svg class="goals" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="graph of sub-goals">'
    )
    return head.format(w=width, h=height) + Markup("").join(parts) + Markup("</svg>")


def _depth(graph: GoalGraph, name: str) -> int:
    return max((1 + _depth(graph, need) for need in graph[name].needs), default=0)


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT // 2, end[0], end[1] + HEIGHT // 2
    middle = (x1 + x2) // 2
    return Markup('<path d="M{} {}C{} {} {} {} {} {}"/><path class="tip" d="M{} {}l-7 -4v8z"/>').format(
        x1, y1, middle, y1, middle, y2, x2 - 6, y2, x2, y2
    )


def _box(box: GraphBox, x: int, y: int) -> Markup:
    f = box.figures
    name = box.name if len(box.name) <= 24 else f"{box.name[:23]}…"
    told = f"{f.done} of {f.calls} calls" if f.calls else "never called"
    failed = Markup('<tspan class="failed" dx="8">{} failed</tspan>').format(f.failed) if f.failed else ""
    bar = Markup('<rect class="bar" x="{}" y="{}" width="{}" height="5"/>').format(
        x + 10, y + HEIGHT - 12, round((WIDTH - 20) * box.share)
    )
    return Markup(
        '<g class="goal{}"><title>{}</title><rect class="box" x="{}" y="{}" width="{}" height="{}" rx="9"/>'
        '<text class="name" x="{}" y="{}">{}</text><text x="{}" y="{}">{}{}</text>{}</g>'
    ).format(
        " standing" if box.standing else "",
        f"{box.name}: {f.steps:,} steps, {box.share:.0%} of all",
        x,
        y,
        WIDTH,
        HEIGHT,
        x + 10,
        y + 21,
        escape(name),
        x + 10,
        y + 40,
        told,
        failed,
        bar,
    )
