"""What came of running an example."""

from __future__ import annotations

from dataclasses import dataclass

from redis_transcripts import compare
from redis_transcripts.compare import Judgement
from redis_transcripts.errors import TranscriptsError
from redis_transcripts.source import Origin, SourceLine


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, the lines that the page shows for it, and those that came.

    ``by`` names who answered. ``asked`` is what a report shows of the question, ``at`` where it stands; ``note`` adds
    what the lines do not tell.
    """

    by: str
    at: Origin
    asked: str
    shown: tuple[SourceLine, ...]
    received: tuple[str, ...]
    judgement: Judgement
    note: str = ""

    @property
    def first_difference(self) -> int | None:
        """The index of the first shown line that is not true, or none; ``compare.first_difference`` says when."""
        return compare.first_difference(self.shown, self.received, self.judgement)

    @property
    def location(self) -> Origin:
        """The first shown line that is not true; where lines are missing below the last one, where it was asked."""
        index = self.first_difference
        return self.shown[index].origin if index is not None and index < len(self.shown) else self.at


class ExampleError(TranscriptsError):
    """An example could not be run to its end. The text names the line."""


class SessionLostError(ExampleError):
    """A command got no reply, so that nothing after it on the page can be run."""
