"""The figure of ``docs/priority/limits.ipynb``: how many scores are left of many jobs, by their priority."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

_WIDTH, _HEIGHT = 340, 236
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 326, 34, 184
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def figure(distinct: Mapping[int, int], jobs: int) -> str:
    """Return the figure as HTML that holds SVG, which takes its colours from the page.

    ``distinct`` maps each priority to the number of distinct scores that ``jobs`` jobs with consecutive counters have
    there. The line keeps its height until the next priority: it depends on the spacing of doubles, which changes at
    powers of two only.

    Raises:
        ValueError: no priority has all scores distinct, or every one has, so there is no edge to show.
    """
    exact = max((priority for priority, scores in distinct.items() if scores == jobs), default=None)
    broken = min((priority for priority, scores in distinct.items() if scores < jobs), default=None)
    if exact is None or broken is None:
        raise ValueError("all priorities lie on one side of the edge; add some of the other side")
    last = max(distinct)
    plane = _Plane(jobs, last)
    description = (
        f"A line that stays at {jobs} scores up to priority {exact}, falls to {distinct[broken]} at {broken}, "
        f"is halved at every doubling after that, and ends at {distinct[last]} at {last}."
    )
    lines = [
        "<figure>",
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="distinct-title distinct-description">',
        f'<title id="distinct-title">Distinct scores of {jobs} jobs, by priority</title>',
        f'<desc id="distinct-description">{description}</desc>',
        '<g fill="currentColor" font-size="12">',
        _text(0, 14, f"distinct scores of {jobs} jobs", hue="counter"),
        *(plane.level(scores) for scores in (0, jobs // 2, jobs)),
        *(plane.tick(priority) for priority in (1, 2**10, broken, last)),
        _text(_RIGHT, _BOTTOM + 40, "priority", hue="tier", anchor="end"),
        plane.steps(distinct),
        *(plane.dot(priority, distinct[priority]) for priority in (exact, broken, last)),
        _text(plane.x(exact) - 8, plane.y(jobs) + 20, f"{exact}: {jobs}", anchor="end"),
        _text(plane.x(broken) + 8, plane.y(distinct[broken]) - 6, f"{broken}: {distinct[broken]}"),
        _text(plane.x(last), plane.y(distinct[last]) - 12, f"{_as_power(last)}: {distinct[last]}", anchor="end"),
        "</g>",
        "</svg>",
        f"<figcaption>From {broken} on, every doubling of the priority leaves about half of the scores.</figcaption>",
        "</figure>",
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Plane:
    """Priorities from 1 to ``last`` to the right, logarithmically; scores from 0 to ``jobs`` upwards."""

    jobs: int
    last: int

    def x(self, priority: int) -> float:
        return _LEFT + (_RIGHT - _LEFT) * math.log2(priority) / math.log2(self.last)

    def y(self, scores: int) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * scores / self.jobs

    def level(self, scores: int) -> str:
        y = self.y(scores)
        rule = f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}" stroke="currentColor" stroke-opacity="0.25"/>'
        return rule + _text(_LEFT - 6, y + 4, str(scores), anchor="end")

    def tick(self, priority: int) -> str:
        x = self.x(priority)
        rule = f'<path d="M{x:.1f} {_BOTTOM}v5" stroke="currentColor"/>'
        return rule + _text(x, _BOTTOM + 20, _as_power(priority), hue="tier", anchor="middle")

    def steps(self, distinct: Mapping[int, int]) -> str:
        first, *others = sorted(distinct)
        moves = [f"M{self.x(first):.1f} {self.y(distinct[first]):.1f}"]
        moves += [f"H{self.x(priority):.1f}V{self.y(distinct[priority]):.1f}" for priority in others]
        return f'<path class="counter" d="{"".join(moves)}" fill="none" stroke="currentColor" stroke-width="2"/>'

    def dot(self, priority: int, scores: int) -> str:
        return f'<circle class="counter" cx="{self.x(priority):.1f}" cy="{self.y(scores):.1f}" r="3.5"/>'


def _as_power(priority: int) -> str:
    """Return the power of two that is next to ``priority``."""
    return "2" + str(round(math.log2(priority))).translate(_RAISED)


def _text(x: float, y: float, text: str, *, hue: str = "", anchor: str = "start") -> str:
    hue = f' class="{hue}"' if hue else ""
    return f'<text{hue} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
