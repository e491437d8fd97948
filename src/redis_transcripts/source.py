"""Lines of text that remember the file and line they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, SupportsIndex


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line stands: a path as a message shows it, and a line number from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class SourceLine(str):
    """A line of text that remembers where it came from."""

    __slots__ = ("origin",)
    origin: Origin

    def __new__(cls, text: str, origin: Origin) -> Self:
        line = super().__new__(cls, text)
        line.origin = origin
        return line

    # What the snippets preprocessor does to a line: it indents an included one with `indentation + line`, and joins the
    # parts of an escaped marker without its `;`, or replaces that.

    def __radd__(self, prefix: str) -> SourceLine:
        return SourceLine(str.__add__(prefix, self), self.origin)

    def __add__(self, suffix: str) -> SourceLine:
        return SourceLine(super().__add__(suffix), self.origin)

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> SourceLine:
        return SourceLine(super().replace(old, new, count), self.origin)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block: its first line without indentation, and the lines between its markers."""

    header: SourceLine
    lines: tuple[SourceLine, ...]


def without_blank_end[Line: str](lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return ``lines`` without the blank ones at their end: on a page these separate, and belong to nothing."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return tuple(lines[:end])


def display_path(path: Path, root: Path) -> str:
    """Return ``path`` relative to ``root`` with forward slashes, or whole when it lies elsewhere."""
    absolute = path.absolute()
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else str(absolute)
