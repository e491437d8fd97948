"""A fence's header to a block: the fence grammar of these pages.

Language first, then braces; nothing outside the braces. Inside stand words (``fresh``) and keys (``title="Two members
tie"``).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redis_transcripts.errors import PageError, Problem
from redis_transcripts.prompt import without_prompt
from redis_transcripts.source import Fence, Origin, SourceLine

_HEADER = re.compile(r"(?P<marker>`{3,}|~{3,})[ \t]*(?P<language>[\w#.+-]*)[ \t]*(?P<rest>.*?)[ \t]*$")
_TOKEN = re.compile(r"""(?P<name>[A-Za-z_][\w-]*)(?:=(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"'=]+)))?(?:\s+|$)""")

# Each language's words and keys, and whether a name takes a value.
_PRESENTATION = {"title": True, "hl_lines": True}
_LANGUAGES = {
    "redis": _PRESENTATION | {"fresh": False, "resp": True, "wrong": True},
}
# A block of any other language is shown and not run; it says why.
_STATIC = _PRESENTATION | {"static": True}


@dataclass(frozen=True, slots=True)
class Block:
    """An example's place on a page.

    ``title`` names the block; an untitled one is named by its first line. ``keys`` holds the words and keys of the
    header; a word's value is none.
    """

    language: str
    title: str
    keys: Mapping[str, str | None]
    header: SourceLine
    lines: tuple[SourceLine, ...]

    @property
    def origin(self) -> Origin:
        return self.header.origin

    @property
    def name(self) -> str:
        """What follows the page's path in the block's id, such as ``redis[Two members tie]``."""
        return f"{self.language}[{self.title}]"


def blocks(fences: Sequence[Fence]) -> tuple[Block, ...]:
    """Return the blocks of a page that are run; those with ``static`` are not.

    Raises:
        PageError: a header breaks the grammar, or two blocks have one name.
    """
    problems: list[Problem] = []
    found: list[Block] = []
    for fence in fences:
        block, faults = _block(fence)
        problems += faults
        if block and "static" not in block.keys:
            found.append(block)
    problems += _repeated_names(found)
    if problems:
        raise PageError(problems)
    return tuple(found)


def _block(fence: Fence) -> tuple[Block | None, list[Problem]]:
    origin = fence.header.origin
    header = _HEADER.match(fence.header)
    assert header is not None, "the Markdown pipeline hands over fences only"
    language, rest = header["language"], header["rest"]
    if not language:
        return None, [Problem(origin, "a fence without a language", "write it behind the marker, as in ```redis")]
    if rest and not (rest.startswith("{") and rest.endswith("}")):
        return None, [
            Problem(origin, f"`{rest}` stands outside braces", f"write `{language} {{ {rest.strip('{}')} }}`")
        ]
    keys, problems = _keys(rest[1:-1].strip(), origin)
    problems += _misused(language, keys, origin)
    if problems:
        return None, problems
    title = keys.get("title") or next((without_prompt(line).strip() for line in fence.lines if line.strip()), "")
    return Block(language, title, keys, fence.header, fence.lines), []


def _keys(text: str, origin: Origin) -> tuple[dict[str, str | None], list[Problem]]:
    keys: dict[str, str | None] = {}
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if not token:
            fault = f"`{text[position:]}` is neither a word nor a key"
            return keys, [Problem(origin, fault, 'write `word` or `key="value"`, with a space between two')]
        name, quoted, bare = token["name"], token["quoted"], token["bare"]
        if name in keys:
            return keys, [Problem(origin, f"`{name}` is given twice", "keep one")]
        keys[name] = bare if quoted is None else quoted
        position = token.end()
    return keys, []


def _misused(language: str, keys: Mapping[str, str | None], origin: Origin) -> list[Problem]:
    if language not in _LANGUAGES and "static" not in keys:
        cure = 'say why with static="...", or write it as one of: ' + ", ".join(_LANGUAGES)
        return [Problem(origin, f"a {language} block is not run", cure)]
    grammar = _LANGUAGES.get(language, _STATIC)
    problems = []
    for name, value in keys.items():
        if name not in grammar:
            close = difflib.get_close_matches(name, grammar, n=1)
            cure = f"did you mean `{close[0]}`?" if close else f"{language} knows: {', '.join(grammar)}"
            problems.append(Problem(origin, f"unknown word or key `{name}`", cure))
        elif grammar[name] and not (value and value.strip()):
            problems.append(Problem(origin, f"`{name}` has no value", f'write {name}="..."'))
        elif not grammar[name] and value is not None:
            problems.append(Problem(origin, f"`{name}` takes no value", f"write `{name}` alone"))
    if keys.get("resp") not in (None, "2", "3"):
        problems.append(Problem(origin, f"resp={keys['resp']}", "write resp=2 or resp=3"))
    return problems


def _repeated_names(found: Sequence[Block]) -> list[Problem]:
    first: dict[str, Block] = {}
    problems = []
    for block in found:
        same = first.setdefault(block.name, block)
        if same is not block:
            fault = f"`{block.name}` is also the name of the block at {same.origin}"
            problems.append(Problem(block.origin, fault, "give each a title of its own"))
    return problems
