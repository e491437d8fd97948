"""The text of a failure: where, what was typed, and how the shown reply differs from the real one."""

from __future__ import annotations

from collections.abc import Sequence

from redis_transcripts import compare
from redis_transcripts.prompt import without_prompt
from redis_transcripts.session import StepOutcome
from redis_transcripts.source import Origin


def location(outcome: StepOutcome) -> Origin:
    """Return the first shown line that is not true; when lines are missing below the last one, the typed line."""
    index = outcome.first_difference
    shown = outcome.step.shown
    return shown[index].origin if index is not None and index < len(shown) else outcome.step.typed.origin


def failing(outcomes: Sequence[StepOutcome]) -> list[StepOutcome]:
    """Return the outcomes in which a reader would see a difference."""
    return [outcome for outcome in outcomes if outcome.first_difference is not None]


def describe(outcomes: Sequence[StepOutcome], server: str) -> str:
    """Return the text for the failing ones of ``outcomes`` in order. ``server`` names who answered."""
    return "\n\n".join(_describe_step(outcome, server) for outcome in failing(outcomes))


def _describe_step(outcome: StepOutcome, server: str) -> str:
    heading = f"{location(outcome)}: {server} answers otherwise"
    typed = f"> {without_prompt(outcome.step.typed)}"
    return "\n".join([heading, typed, *compare.unified_diff(outcome.step.shown, outcome.received)])
