"""The lines shown to the lines received."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def first_difference(shown: Sequence[str], received: Sequence[str]) -> int | None:
    """Return the index of the first line that differs, or none when a reader would see no difference.

    White space at the end of a line is not seen, so it is not compared. The index equals ``len(shown)`` when lines are
    missing at the end.
    """
    for index in range(max(len(shown), len(received))):
        if index == len(shown) or index == len(received) or shown[index].rstrip() != received[index].rstrip():
            return index
    return None


def unified_diff(shown: Sequence[str], received: Sequence[str]) -> list[str]:
    """Return the lines of a unified diff that leads from ``shown`` to ``received``."""
    return list(
        difflib.unified_diff(
            [line.rstrip() for line in shown],
            [line.rstrip() for line in received],
            fromfile="shown",
            tofile="received",
            lineterm="",
        )
    )
