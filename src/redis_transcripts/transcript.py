"""A fence's lines to steps: what is typed, and the reply shown below it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from redis_transcripts import arguments
from redis_transcripts.errors import PageError, Problem
from redis_transcripts.fence import Block
from redis_transcripts.prompt import PROMPT, without_prompt
from redis_transcripts.source import SourceLine, without_blank_end

_LOCAL_COMMANDS = {"quit", "exit", "clear", "help", "?", "restart", "connect", ":set"}
# One reply to each channel, or replies without end; in RESP3 pushes, which may come at any time.
_STREAMING_COMMANDS = {
    "monitor",
    "psubscribe",
    "psync",
    "punsubscribe",
    "ssubscribe",
    "subscribe",
    "sunsubscribe",
    "sync",
    "unsubscribe",
}

_LARGEST_REPEAT = 2**63 - 1
# As C's strtol reads it; an empty first argument counts as 0.
_REPEAT = re.compile(rb"\s*[+-]?\d+|")


@dataclass(frozen=True, slots=True)
class Step:
    """A typed line and the reply shown for it.

    ``repeat`` is the number in ``3 INCR counter``. ``refusal`` is what redis-cli prints for a line that it does not
    send at all; such a step has no ``arguments``.
    """

    typed: SourceLine
    arguments: tuple[bytes, ...]
    repeat: int
    refusal: str | None
    shown: tuple[SourceLine, ...]


def parse(block: Block) -> tuple[Step, ...]:
    """Return the steps of a redis block.

    Blank lines before a typed line and at the end separate steps and belong to no reply.

    Raises:
        PageError: the block has no typed line, text above the first, a typed line without a reply, or a command that
            only redis-cli itself knows.
    """
    problems: list[Problem] = []
    steps: list[Step] = []
    typed: SourceLine | None = None
    shown: list[SourceLine] = []

    def finish() -> None:
        if typed is None:
            if shown:
                problems.append(_no_typed_line(shown[0]))
            return
        step, problem = _step(typed, without_blank_end(shown))
        steps.append(step)
        if problem:
            problems.append(problem)

    for line in block.lines:
        if PROMPT.match(line):
            finish()
            typed, shown = line, []
        elif shown or line.strip():
            shown.append(line)
    finish()
    if not steps and not problems:
        fault = "a redis block without a typed line"
        problems.append(Problem(block.origin, fault, "begin one with `> `, or delete the block"))
    if problems:
        raise PageError(problems)
    return tuple(steps)


def _step(typed: SourceLine, shown: tuple[SourceLine, ...]) -> tuple[Step, Problem | None]:
    text = without_prompt(typed)
    try:
        split = tuple(arguments.split(text.encode()))
    except arguments.UnbalancedQuotesError:
        return Step(typed, (), 1, "Invalid argument(s)", shown), _missing_reply(typed, shown)
    if len(split) > 1 and _REPEAT.fullmatch(split[0]):
        repeat = int(split[0] or b"0")
        if not 1 <= repeat <= _LARGEST_REPEAT:
            refusal = "Invalid redis-cli repeat command option value."
            return Step(typed, (), 1, refusal, shown), _missing_reply(typed, shown)
        return Step(typed, split[1:], repeat, None, shown), _fault(typed, split[1:], shown)
    return Step(typed, split, 1, None, shown), _fault(typed, split, shown)


def _fault(typed: SourceLine, split: tuple[bytes, ...], shown: tuple[SourceLine, ...]) -> Problem | None:
    if not split:
        return Problem(typed.origin, "nothing is typed after the prompt", "type a command or delete the line")
    command = split[0].decode("utf-8", "replace").lower()
    if command in _LOCAL_COMMANDS:
        return Problem(typed.origin, f"`{command}` is a command of redis-cli, not of the server", "delete the step")
    if command in _STREAMING_COMMANDS:
        return Problem(typed.origin, f"`{command}` answers with a stream, not with one reply", "delete the step")
    return _missing_reply(typed, shown)


def _missing_reply(typed: SourceLine, shown: tuple[SourceLine, ...]) -> Problem | None:
    if shown:
        return None
    fault = f"typed line without a reply: `{without_prompt(typed)}`"
    return Problem(typed.origin, fault, "show below it what redis-cli prints")


def _no_typed_line(first: SourceLine) -> Problem:
    return Problem(
        first.origin,
        f"text above the first typed line: `{first.strip()}`",
        "begin a typed line with `> ` (the space counts)",
    )
