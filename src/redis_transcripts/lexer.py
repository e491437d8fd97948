"""The Pygments lexer for transcripts: prompt, command, arguments, reply, error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Generic, Keyword, Number, String, Text, Whitespace, _TokenType

from redis_transcripts.prompt import PROMPT

_ARGUMENT = re.compile(
    r"""(?P<space>\s+)|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<number>-?\d+(?:\.\d+)?(?=\s|$))|(?P<word>\S+)"""
)

_LINE = re.compile(r"(?P<content>[^\n]*)(?P<end>\n|\Z)")
# An error may be an element of an array or a value of a map.
_ERROR = re.compile(r"\s*(?:\d+[)~#] (?:.* => )?)*\(error\) ")


class TranscriptLexer(Lexer):
    """Transcripts as redis-cli shows them.

    The prompt is ``Generic.Prompt``, a reply line ``Generic.Output`` or, when the server reports an error,
    ``Generic.Error``, so that a page can copy the typed lines alone.
    """

    name = "Redis transcript"
    aliases: ClassVar[list[str]] = ["redis", "reply"]
    filenames: ClassVar[list[str]] = []
    url = "https://redis.io/docs/latest/develop/tools/cli/"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield position, token type and text."""
        for line in _LINE.finditer(text):
            content = line["content"]
            if prompt := PROMPT.match(content):
                yield line.start(), Generic.Prompt, prompt.group()
                yield from _typed(content[prompt.end() :], line.start() + prompt.end())
            elif content:
                yield line.start(), Generic.Error if _ERROR.match(content) else Generic.Output, content
            if line["end"]:
                yield line.start("end"), Whitespace, line["end"]


def _typed(text: str, position: int) -> Iterator[tuple[int, _TokenType, str]]:
    command_seen = False
    for argument in _ARGUMENT.finditer(text):
        start = position + argument.start()
        if argument["space"]:
            yield start, Whitespace, argument.group()
        elif argument["string"]:
            yield start, String, argument.group()
        elif argument["number"]:
            yield start, Number, argument.group()
        else:
            yield start, Text if command_seen else Keyword, argument.group()
            command_seen = True
