"""Draws what the figure of the first page needs without JavaScript: the six jobs, their scores, and beliefs about them.

A fence of the language ``six-jobs`` names the part in its only line: ``cards``, ``scores`` or ``beliefs``. The custom
element ``docs/assets/six-jobs/element.js`` makes a figure of the cards, and takes jobs and sentences from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pymdownx.superfences import SuperFencesException


@dataclass(frozen=True, slots=True)
class Job:
    """A job that waits: its number, its priority, why one may expect it next, and the sentence that answers that."""

    number: int
    priority: int
    belief: str
    answer: str


JOBS = (
    Job(
        7,
        3,
        "First come, first served.",
        "Job 7 came first, but its tier is 3: tiers 1 and 2 go before it.",
    ),
    Job(8, 1, "", "Tier 1 goes before tiers 2 and 3, and of its two jobs job 8 came first."),
    Job(9, 2, "Tiers take turns.", "Tier 2 waits until tier 1 is empty."),
    Job(
        10,
        1,
        "Only the priority counts.",
        "With the priority alone as score you would be right: 8 and 10 tie, and the text 10 sorts before 8.",
    ),
    Job(
        11,
        3,
        "A higher number is more important.",
        "ZPOPMIN takes the smallest score; ZPOPMAX would take job 11.",
    ),
    Job(12, 2, "Tiers take turns.", "Tier 2 waits until tier 1 is empty."),
)
"""The jobs in order of arrival."""

_PROMPT = "Choose one, or open the answer."
_TIER = 0x100000000
_PLACES = ("1st", "2nd", "3rd", "4th", "5th", "6th")


def cards() -> str:
    """Return the element with the jobs in order of arrival, and the place where it tells what happens."""
    items = "".join(
        f'<li data-answer="{escape(job.answer)}"><b>job {job.number}</b> <span>priority {job.priority}</span></li>'
        for job in JOBS
    )
    jobs = f'<ol class="jobs" aria-label="Jobs in order of arrival">{items}</ol>'
    # Inside a block: Markdown takes an element that it does not know for a part of a paragraph.
    return f'<div><six-jobs>{jobs}<p role="status">{_PROMPT}</p></six-jobs></div>'


def scores() -> str:
    """Return the table of the jobs in the order in which they come out."""
    arrived = [(job, counter) for counter, job in enumerate(JOBS, 1)]
    ordered = sorted(arrived, key=lambda arrival: _pack(*arrival))
    rows = [
        (place, f"job {job.number}", _drawn_score(job, counter))
        for place, (job, counter) in zip(_PLACES, ordered, strict=True)
    ]
    score = 'score: <span class="tier">tier</span> and <span class="counter">counter</span>'
    return _table(("comes out", "job", score), rows)


def beliefs() -> str:
    """Return the table of what one may have thought, with the jobs of one belief in one row."""
    said: dict[tuple[str, str], list[int]] = {}
    for job in JOBS:
        if job.belief:
            said.setdefault((job.belief, job.answer), []).append(job.number)
    rows = [
        (f"job {' or '.join(map(str, numbers))}", escape(belief), escape(answer))
        for (belief, answer), numbers in said.items()
    ]
    return _table(("you said", "what you may have thought", "what happens"), rows)


_PARTS: Mapping[str, Callable[[], str]] = {"cards": cards, "scores": scores, "beliefs": beliefs}


def draw(source: str, language: str, css_class: str, options: object, md: object, **_: Any) -> str:
    """Return the HTML of a ``six-jobs`` fence: a formatter of superfences.

    Raises:
        SuperFencesException: the fence names no part that there is.
    """
    part = source.strip()
    if part not in _PARTS:
        raise SuperFencesException(f"a {language} fence holds one of {', '.join(_PARTS)}, not {part!r}")
    return _PARTS[part]()


def _pack(job: Job, counter: int) -> int:
    return job.priority * _TIER + counter % _TIER


def _drawn_score(job: Job, counter: int) -> str:
    boxes = f'<b class="tier">{job.priority}</b><b class="counter">{counter}</b>'
    return f'<span class="score">{boxes}<span>{_pack(job, counter)}</span></span>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already."""
    titles = "".join(f'<th scope="col">{title}</th>' for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
