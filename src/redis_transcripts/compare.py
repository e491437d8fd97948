"""The lines shown to the lines received."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_REST_VARIES = "..."
_NUMBER = re.compile(r" *\d+[)~#] ")


@dataclass(frozen=True, slots=True)
class Judgement:
    """How strictly lines are compared.

    ``varies``: a shown line that ends in ``...`` stands for any received line that begins as it does.
    ``entries``: none where order counts, else how many elements of an array make one entry (2 where a reply lists
    names and values in turn); entries are then compared as a multiset.
    """

    varies: bool = False
    entries: int | None = None


def first_difference(shown: Sequence[str], received: Sequence[str], judgement: Judgement) -> int | None:
    """Return the index of the first shown line that differs, or none when a reader would see no difference.

    White space at the end of a line is not seen, so it is not compared. The index equals ``len(shown)`` when lines are
    missing at the end.
    """
    if judgement.entries is not None:
        return _first_stray(shown, received, judgement.entries)
    for index in range(max(len(shown), len(received))):
        if index == len(shown) or index == len(received) or not _same(shown[index], received[index], judgement.varies):
            return index
    return None


def stands_for_others(shown: str) -> bool:
    """Whether a shown line stands for every one that begins as it does, in a block in which something varies."""
    return shown.rstrip().endswith(_REST_VARIES)


def unified_diff(shown: Sequence[str], received: Sequence[str], judgement: Judgement) -> list[str]:
    """Return the lines of a unified diff that leads from ``shown`` to ``received``; lines that agree are shown ones."""
    return list(
        difflib.unified_diff(
            [line.rstrip() for line in shown],
            [line.rstrip() for line in keep_agreeing(shown, received, judgement)],
            fromfile="shown",
            tofile="received",
            lineterm="",
        )
    )


def keep_agreeing(shown: Sequence[str], received: Sequence[str], judgement: Judgement) -> list[str]:
    """Return ``received`` with each line that agrees with the shown one in its place given as it is shown.

    Places are counted from the top and, below the first line that differs, from the end. Where order does not count,
    entries come in the order of the shown ones.
    """
    if judgement.entries is not None:
        received = _in_shown_order(shown, received, judgement.entries)
    top = _count_agreeing(shown, received, judgement.varies)
    shown_below, received_below = shown[top:], received[top:]
    end = _count_agreeing(shown_below[::-1], received_below[::-1], judgement.varies)
    old, new = shown_below[: len(shown_below) - end], received_below[: len(received_below) - end]
    differing = [line if _same(line, came, judgement.varies) else came for line, came in zip(old, new, strict=False)]
    return [*shown[:top], *differing, *new[len(differing) :], *shown_below[len(old) :]]


def _count_agreeing(shown: Sequence[str], received: Sequence[str], varies: bool) -> int:
    """Return how many lines agree before the first that does not."""
    pairs = zip(shown, received, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: _same(*pair, varies), pairs))


def _same(shown: str, received: str, varies: bool) -> bool:
    shown, received = shown.rstrip(), received.rstrip()
    if varies and stands_for_others(shown):
        beginning = shown.removesuffix(_REST_VARIES)
        return received.startswith(beginning) and len(received) > len(beginning)
    return shown == received


def _first_stray(shown: Sequence[str], received: Sequence[str], size: int) -> int | None:
    """Return the first shown line of an entry that the reply does not hold, or ``len(shown)`` when one is missing."""
    shown_elements, received_elements = _elements(shown), _elements(received)
    missing = Counter(map(_text, _entries(received_elements, size)))
    for entry in _entries(shown_elements, size):
        if not missing[_text(entry)]:
            return entry[0].index
        missing[_text(entry)] -= 1
    # What the elements are numbered with is shown in order even where the elements are not.
    numbers_agree = [element.number for element in shown_elements] == [element.number for element in received_elements]
    return None if numbers_agree else len(shown)


def _in_shown_order(shown: Sequence[str], received: Sequence[str], size: int) -> list[str]:
    """Return the lines of ``received`` with its entries in the places that they have in ``shown``, numbered anew."""
    elements = _elements(received)
    left = _entries(elements, size)
    places: list[_Entry | None] = []
    for wanted in map(_text, _entries(_elements(shown), size)):
        found = next((entry for entry in left if _text(entry) == wanted), None)
        places.append(found)
        if found:
            left.remove(found)
    # A place whose entry is not there goes to one that is not shown.
    strays = iter(left)
    ordered = [*(entry or next(strays, ()) for entry in places), *strays]
    numbered = zip(elements, itertools.chain.from_iterable(ordered), strict=True)
    return [line for place, element in numbered for line in (place.number + element.lines[0], *element.lines[1:])]


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of the outermost array: the index of its first line, its number as printed, and its lines."""

    index: int
    number: str
    lines: tuple[str, ...]


type _Entry = tuple[_Element, ...]


def _elements(lines: Sequence[str]) -> list[_Element]:
    elements: list[_Element] = []
    for index, line in enumerate(lines):
        number = _NUMBER.match(line)
        if number and (not elements or number.end() == len(elements[0].number)):
            elements.append(_Element(index, number.group(), (line[number.end() :].rstrip(),)))
        elif elements:
            last = elements[-1]
            elements[-1] = _Element(last.index, last.number, (*last.lines, line.rstrip()))
        else:
            elements.append(_Element(index, "", (line.rstrip(),)))
    return elements


def _entries(elements: Sequence[_Element], size: int) -> list[_Entry]:
    """Return groups of ``size`` elements."""
    return [tuple(elements[first : first + size]) for first in range(0, len(elements), size)]


def _text(entry: _Entry) -> tuple[str, ...]:
    """Return the lines of ``entry`` without the numbers of its elements."""
    return tuple(line for element in entry for line in element.lines)
