"""A typed line to arguments, split as redis-cli splits it.

Source: the behaviour of redis-cli 7.0.15; ``tests/redis_transcripts/test_oracle.py`` compares the two.
Python's ``shlex`` differs in quotes, escapes and empty arguments.
"""

from __future__ import annotations

# Vertical tab and form feed separate arguments, but inside one they are characters like any other.
_SPACES = b" \n\r\t\v\f"
_ENDS = b" \n\r\t"
_ESCAPES = {ord("n"): 0x0A, ord("r"): 0x0D, ord("t"): 0x09, ord("b"): 0x08, ord("a"): 0x07}
_HEX_DIGITS = b"0123456789abcdefABCDEF"
_SINGLE, _DOUBLE, _BACKSLASH = b"'"[0], b'"'[0], b"\\"[0]


class UnbalancedQuotesError(ValueError):
    """A quote is not closed, or something other than a space follows a closing quote."""


def split(line: bytes) -> list[bytes]:
    r"""Return the arguments of ``line``.

    Between double quotes ``\xHH``, ``\n``, ``\r``, ``\t``, ``\b`` and ``\a`` are bytes, and a backslash before
    any other character stands for that character. Between single quotes only ``\'`` is an escape.

    Raises:
        UnbalancedQuotesError: redis-cli answers such a line with ``Invalid argument(s)`` and sends nothing.
    """
    arguments: list[bytes] = []
    position = 0
    while True:
        while position < len(line) and line[position] in _SPACES:
            position += 1
        if position == len(line):
            return arguments
        argument, position = _argument(line, position)
        arguments.append(argument)


def _argument(line: bytes, position: int) -> tuple[bytes, int]:
    """Read one argument that begins at ``position``; return it and the position behind it."""
    argument = bytearray()
    while position < len(line) and line[position] not in _ENDS:
        character = line[position]
        if character in (_SINGLE, _DOUBLE):
            read_quoted = _double_quoted if character == _DOUBLE else _single_quoted
            text, position = read_quoted(line, position + 1)
            argument += text
            if position < len(line) and line[position] not in _SPACES:
                raise UnbalancedQuotesError(line.decode("utf-8", "backslashreplace"))
            return bytes(argument), position
        argument.append(character)
        position += 1
    return bytes(argument), position


def _double_quoted(line: bytes, position: int) -> tuple[bytes, int]:
    text = bytearray()
    while position < len(line):
        character = line[position]
        if character == _DOUBLE:
            return bytes(text), position + 1
        if character == _BACKSLASH and position + 1 < len(line):
            digits = line[position + 2 : position + 4]
            if line[position + 1] == ord("x") and len(digits) == 2 and all(digit in _HEX_DIGITS for digit in digits):
                text.append(int(digits, 16))
                position += 4
            else:
                text.append(_ESCAPES.get(line[position + 1], line[position + 1]))
                position += 2
            continue
        text.append(character)
        position += 1
    raise UnbalancedQuotesError(line.decode("utf-8", "backslashreplace"))


def _single_quoted(line: bytes, position: int) -> tuple[bytes, int]:
    text = bytearray()
    while position < len(line):
        character = line[position]
        if character == _SINGLE:
            return bytes(text), position + 1
        if line[position : position + 2] == b"\\'":
            text.append(_SINGLE)
            position += 2
            continue
        text.append(character)
        position += 1
    raise UnbalancedQuotesError(line.decode("utf-8", "backslashreplace"))
