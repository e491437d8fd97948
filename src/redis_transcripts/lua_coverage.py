"""Which lines of a Lua script were run, told by the script itself through the server's log.

Servers keep Lua's debug library from scripts, so there is no hook. Instead a call of ``redis.log`` goes before the
first statement on each line. It touches no key and no local variable and stays on the line, so replies and error lines
are those of the script as written; only the sha differs. A line counts once: of ``if a then b() end`` it is not told
whether ``b`` was called.

Statements are found by token. Lua needs no parser for that: in a block, a statement begins where an expression can have
ended and a name or keyword follows that cannot continue it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from redis_transcripts.lua import Script
from redis_transcripts.source import Origin

_TOKEN = re.compile(
    r"""
    (?P<gap> \A\#![^\n]* | \s+ | --\[(?P<comment>=*)\[ .*? \](?P=comment)\] | --[^\n]* )
    | (?P<word> [A-Za-z_]\w* )
    | (?P<literal>
        "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \[(?P<string>=*)\[ .*? \](?P=string)\]
        | 0[xX][0-9A-Fa-f]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)? | \.\.\.
    )
    | (?P<symbol> . )
    """,
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_KEYWORDS = {
    *("and", "break", "do", "else", "elseif", "end", "for", "function", "if", "in", "local", "not", "or", "repeat"),
    *("return", "then", "until", "while"),
}
_FIRST_OF_STATEMENT = {"(", "break", "do", "for", "function", "if", "local", "repeat", "return", "while"}

_REPORT = "reached in a script: "
_REPORTED = re.compile(rf"{_REPORT}(?P<origin>.+:\d+)$", re.MULTILINE)


def instrument(script: Script) -> str:
    """Return the text of ``script`` with a call before the first statement of each line, which logs that it is reached.

    ``script`` has to be one that a server accepts, and to leave the name ``redis`` to the server.
    """
    lines = [str(line) for line in script.lines]
    for index, column in _statements(script).items():
        path = str(script.lines[index].origin).replace("\\", r"\\").replace('"', r"\"")
        call = f'redis.log(redis.LOG_WARNING, "{_REPORT}{path}");'
        lines[index] = lines[index][:column] + call + lines[index][column:]
    return "\n".join(lines)


def statement_lines(script: Script) -> tuple[Origin, ...]:
    """Return the lines of ``script`` that count: those on which a statement begins."""
    return tuple(script.lines[index].origin for index in _statements(script))


def reached(log_text: str, script: Script) -> set[Origin]:
    """Return the lines of ``script`` that were reached, in it or in a script that shares them, by the server's log."""
    reported = {report["origin"] for report in _REPORTED.finditer(log_text)}
    return {origin for origin in statement_lines(script) if str(origin) in reported}


class _Inside(Enum):
    """What a token stands in."""

    BLOCK = auto()
    CONDITION = auto()
    """From ``if``, ``elseif``, ``while`` or ``for`` to its ``then`` or ``do``."""
    FUNCTION_NAME = auto()
    PARAMETERS = auto()
    BRACKETS = auto()


class _Behind(Enum):
    """What can follow a token in a block."""

    START = auto()
    """A statement, even one that begins with a parenthesis."""
    VALUE = auto()
    """A statement; but a parenthesis makes a call, or stands on a new line."""
    UNFINISHED = auto()
    """Only more of the same statement."""


def _statements(script: Script) -> dict[int, int]:
    """Return the index of each line on which a statement begins, in order, with the column of the first."""
    text = script.text
    first: dict[int, int] = {}
    line = counted = 0
    for offset in _statement_offsets(text):
        line += text.count("\n", counted, offset)
        counted = offset
        first.setdefault(line, offset - (text.rfind("\n", 0, offset) + 1))
    return first


def _statement_offsets(text: str) -> Iterator[int]:
    inside = [_Inside.BLOCK]
    behind = _Behind.START
    begins_line = True
    for token in _TOKEN.finditer(text):
        if token["gap"]:
            begins_line = begins_line or "\n" in token["gap"]
            continue
        if inside[-1] is _Inside.BLOCK and _begins_statement(token, behind, begins_line):
            yield token.start()
        behind = _enter(token, inside)
        begins_line = False


def _begins_statement(token: re.Match[str], behind: _Behind, begins_line: bool) -> bool:
    """Say whether ``token``, which stands in a block, begins a statement."""
    if token[0] == "(" and behind is _Behind.VALUE:
        # On one line it is a call, which Lua 5.1 refuses to read across a line end.
        return begins_line
    return behind is not _Behind.UNFINISHED and (token[0] in _FIRST_OF_STATEMENT or _is_name(token))


def _enter(token: re.Match[str], inside: list[_Inside]) -> _Behind:
    """Bring ``inside``, outermost first, to where the text behind ``token`` stands, and return what can follow."""
    match token[0]:
        case "(" | "[" | "{":
            is_parameters = inside[-1] is _Inside.FUNCTION_NAME
            if is_parameters:
                inside[-1] = _Inside.BLOCK
            inside.append(_Inside.PARAMETERS if is_parameters else _Inside.BRACKETS)
        case ")" | "]" | "}":
            return _Behind.START if _leave(inside) is _Inside.PARAMETERS else _Behind.VALUE
        case "function":
            inside.append(_Inside.FUNCTION_NAME)
        case "if" | "while" | "for":
            inside.append(_Inside.CONDITION)
        case "elseif":
            inside[-1] = _Inside.CONDITION
        case "then" | "do" if inside[-1] is _Inside.CONDITION:
            inside[-1] = _Inside.BLOCK
            return _Behind.START
        case "do" | "repeat":
            inside.append(_Inside.BLOCK)
            return _Behind.START
        case "end":
            # Not a value: what ends with it cannot be called as it stands.
            _leave(inside)
            return _Behind.START
        case "until":
            _leave(inside)
        case "else" | ";":
            return _Behind.START
        case _ if token["literal"] or _is_name(token):
            return _Behind.VALUE
    return _Behind.UNFINISHED


def _is_name(token: re.Match[str]) -> bool:
    """Say whether ``token`` is a name, or ``nil``, ``true`` or ``false``, which stand where a name can stand."""
    return token["word"] is not None and token[0] not in _KEYWORDS


def _leave(inside: list[_Inside]) -> _Inside:
    # A text that closes more than it opened is left to the server to refuse.
    return inside.pop() if len(inside) > 1 else inside[0]
