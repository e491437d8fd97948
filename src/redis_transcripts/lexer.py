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


class TranscriptLexer(Lexer):
    """Transcripts as redis-cli shows them.

    The prompt is ``Generic.Prompt``, a reply line ``Generic.Output`` or, when the server reports an error,
    ``Generic.Error``, so that a page can copy the typed lines alone.
    """

    name = "Redis transcript"
    aliases: ClassVar[list[str]] = ["redis"]
    filenames: ClassVar[list[str]] = []
    url = "https://redis.io/docs/latest/develop/tools/cli/"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield position, token type and text."""
        position = 0
        for line in text.splitlines(keepends=True):
            content = line.rstrip("\n")
            prompt = PROMPT.match(content)
            if prompt:
                yield position, Generic.Prompt, prompt.group()
                yield from _typed(content[prompt.end() :], position + prompt.end())
            elif content:
                yield position, Generic.Error if "(error) " in content else Generic.Output, content
            yield position + len(content), Whitespace, line[len(content) :]
            position += len(line)


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
