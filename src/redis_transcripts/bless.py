"""Rewrites the shown lines that differ with those that came, in the page or in the file that the page includes."""

from __future__ import annotations

import contextlib
import difflib
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts import compare
from redis_transcripts.errors import TranscriptsError
from redis_transcripts.outcome import Answer
from redis_transcripts.prompt import PROMPT
from redis_transcripts.source import Origin, SourceLine

# A fence's marker, an include, a typed line of either kind, and what Markdown turns into spaces or another line.
_READ_OTHERWISE = re.compile(rf"^\s*(?:`{{3,}}|~{{3,}})|-+8<-+|^\$ |{PROMPT.pattern}|[\t\r]")


class BlessError(TranscriptsError):
    """An answer cannot be written into the page. The text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The shown lines from ``origin`` on, and what they become.

    Lines that are true become what they are: another page that shows them may want something else.
    """

    origin: Origin
    shown: tuple[SourceLine, ...]
    wanted: tuple[str, ...]


def edits(answers: Sequence[Answer]) -> tuple[Edit, ...]:
    """Return what makes the shown lines of ``answers`` true. Lines that agree, those that vary too, are not touched.

    Raises:
        BlessError: nothing is shown where something came, so that there is no place to write it, or the other way
            round; or what is shown comes from more than one place; or the page would not read as what came.
    """
    return tuple(_edit(answer) for answer in answers if answer.first_difference is not None or _is_of_a_piece(answer))


def apply(edits: Sequence[Edit], root: Path) -> list[str]:
    """Carry out ``edits`` on the files below ``root`` and return the lines of a report of what changed.

    Raises:
        BlessError: two edits want different text in one place, as when two pages include it, or a file has changed
            since it was read, or cannot be written to. Nothing is written then.
    """
    texts: dict[Path, bytes] = {}
    told: list[str] = []
    for path in sorted({edit.origin.path for edit in edits}):
        in_file = sorted({edit for edit in edits if edit.origin.path == path}, key=lambda edit: edit.origin.line)
        _require_agreement(in_file)
        changes = [change for edit in in_file for change in _changes(edit)]
        if changes:
            file = root / path
            texts[file] = _rewritten(file.read_bytes().decode(), in_file).encode()
            told += [line for change in changes for line in change.report()]
    _write(texts)
    return told


def _write(texts: Mapping[Path, bytes]) -> None:
    """Write all of ``texts`` or, when one of the files cannot be written to, none."""
    with contextlib.ExitStack() as opened:
        files = []
        for path, text in texts.items():
            try:
                files.append((opened.enter_context(path.open("r+b")), text))
            except OSError as error:
                raise BlessError(f"{path}: {error.strerror}; make it writable") from error
        for file, text in files:
            file.write(text)
            file.truncate()


@dataclass(frozen=True, slots=True)
class _Change:
    """Adjoining lines of an edit that differ. Where lines are added, ``origin`` is that of the line below them."""

    origin: Origin
    old: tuple[str, ...]
    new: tuple[str, ...]

    def report(self) -> Iterator[str]:
        yield str(self.origin)
        yield from (f"-{line}" for line in self.old)
        yield from (f"+{line}" for line in self.new)


def _edit(answer: Answer) -> Edit:
    if not answer.shown:
        raise BlessError(f"{answer.at}: no place to write the answer of `{answer.asked}` to; add it by hand")
    if not answer.received:
        raise BlessError(f"{answer.at}: nothing came from `{answer.asked}`; delete what is shown by hand")
    first = answer.shown[0].origin
    if not _is_of_a_piece(answer):
        raise BlessError(f"{first}: what is shown comes from more than one place; edit it by hand")
    wanted = tuple(compare.keep_agreeing(answer.shown, answer.received, answer.judgement))
    for line in wanted:
        if line not in answer.shown and _READ_OTHERWISE.search(line):
            raise BlessError(f"{answer.at}: a page cannot show `{line}`, which would be read as something else")
    return Edit(first, answer.shown, wanted)


def _is_of_a_piece(answer: Answer) -> bool:
    """Whether what is shown stands in one file, line below line."""
    origins = [line.origin for line in answer.shown]
    return bool(origins) and origins == [Origin(origins[0].path, origins[0].line + n) for n in range(len(origins))]


def _require_agreement(edits: Sequence[Edit]) -> None:
    for edit, following in itertools.pairwise(edits):
        if following.origin.line < edit.origin.line + len(edit.shown):
            raise BlessError(f"{following.origin}: two examples show this and answer differently; edit it by hand")


def _changes(edit: Edit) -> Iterator[_Change]:
    matcher = difflib.SequenceMatcher(None, edit.shown, edit.wanted, autojunk=False)
    for tag, start, end, low, high in matcher.get_opcodes():
        if tag != "equal":
            origin = Origin(edit.origin.path, edit.origin.line + start)
            yield _Change(origin, edit.shown[start:end], edit.wanted[low:high])


def _rewritten(text: str, edits: Sequence[Edit]) -> str:
    """Return the text of a file after ``edits``, which are in the order of its lines."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    is_complete = text.endswith("\n")
    lines = list(io.StringIO(text if is_complete else text + line_end, newline=""))
    for edit in reversed(edits):
        indentation = _indentation(lines, edit)
        for change in reversed(list(_changes(edit))):
            start = change.origin.line - 1
            new = [(indentation + line).rstrip() + line_end for line in change.new]
            lines[start : start + len(change.old)] = new
    rewritten = "".join(lines)
    return rewritten if is_complete else rewritten.removesuffix(line_end)


def _indentation(lines: Sequence[str], edit: Edit) -> str:
    """Return what stands before the shown lines in the file, such as the indentation of a list."""
    indentation = ""
    for number, shown in enumerate(edit.shown, edit.origin.line - 1):
        line, text = "".join(lines[number : number + 1]).rstrip(), shown.rstrip()
        if not line.endswith(text):
            raise BlessError(f"{shown.origin}: this line is not what the page shows; edit it by hand, or run again")
        if text:
            indentation = line.removesuffix(text)
    return indentation
