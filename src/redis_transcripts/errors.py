"""The errors of this package. Each names the file, the line and the cure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redis_transcripts.source import Origin


class TranscriptsError(Exception):
    """Base of every error that this package raises on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing on a page that keeps it from being run, and what to do about it."""

    origin: Origin
    fault: str
    cure: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.fault}; {self.cure}"


class PageError(TranscriptsError):
    """A page cannot be run as it is written. The text lists every problem, one a line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class ServerError(TranscriptsError):
    """No server could be found or started, or the one in use stopped answering."""


class ProtocolError(TranscriptsError):
    """What came over the wire is not RESP2 or RESP3."""
