"""The text of a failure: where, what was asked, and how the shown answer differs from the real one."""

from __future__ import annotations

from collections.abc import Sequence

from redis_transcripts import compare
from redis_transcripts.outcome import Answer


def failing(answers: Sequence[Answer]) -> list[Answer]:
    """Return those in which a reader would see a difference."""
    return [answer for answer in answers if answer.first_difference is not None]


def describe(answers: Sequence[Answer]) -> str:
    """Return the text for the failing ones of ``answers`` in order."""
    return "\n\n".join(_describe(answer) for answer in failing(answers))


def _describe(answer: Answer) -> str:
    heading = f"{answer.location}: {answer.by} answers otherwise"
    diff = compare.unified_diff(answer.shown, answer.received, answer.judgement)
    note = [answer.note] if answer.note else []
    return "\n".join([heading, answer.asked, *diff, *note])
