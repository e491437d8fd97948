"""A fence's header to a block: the fence grammar of these pages.

Language first, then braces; nothing outside the braces. Inside stand words (``fresh``) and keys (``title="Two members
tie"``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from redis_transcripts.errors import PageError, Problem
from redis_transcripts.grammar import ANSWERS, is_static, misuses
from redis_transcripts.prompt import without_prompt
from redis_transcripts.source import Fence, Origin, SourceLine

_HEADER = re.compile(r"(?P<marker>`{3,}|~{3,})[ \t]*(?P<language>[\w#.+-]*)[ \t]*(?P<rest>.*?)[ \t]*$")
_TOKEN = re.compile(
    r"""(?P<name>[A-Za-z_][\w:-]*)(?:=(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'=]+)))?(?:\s+|$)"""
)


@dataclass(frozen=True, slots=True)
class Block:
    """An example's place on a page.

    ``title`` names the block; an untitled one is named by its first line. ``keys`` holds the words and keys of the
    header; a word's value is none. ``answer`` is the fence that shows what a lua or python block gives.
    """

    language: str
    title: str
    keys: Mapping[str, str | None]
    header: SourceLine
    lines: tuple[SourceLine, ...]
    answer: Fence | None = None

    @property
    def origin(self) -> Origin:
        return self.header.origin

    @property
    def is_run(self) -> bool:
        return not (is_static(self.language, self.keys) or self.is_part_of_a_file)

    @property
    def is_part_of_a_file(self) -> bool:
        """Whether the block only shows lines of a Lua file: nothing answers, and nothing in it stands on the page."""
        code = [line for line in self.lines if line.strip()]
        included = bool(code) and all(line.origin.path.endswith(".lua") for line in code)
        return self.language == "lua" and self.answer is None and included

    @property
    def name(self) -> str:
        """What follows the page's path in the block's id, such as ``redis[Two members tie]``."""
        return f"{self.language}[{self.title}]"


def blocks(fences: Sequence[Fence]) -> tuple[Block, ...]:
    """Return the blocks of a page that are run, each with the fence that shows its answer.

    Those with ``static``, and those that only show a part of a Lua file, are not run.

    Raises:
        PageError: a header breaks the grammar, an answer has no block, or two blocks have one name.
    """
    return tuple(block for block in all_blocks(fences) if block.is_run)


def all_blocks(fences: Sequence[Fence]) -> tuple[Block, ...]:
    """Return every block of a page, those that are not run too, each with the fence that shows its answer.

    Raises:
        PageError: as ``blocks``.
    """
    problems: list[Problem] = []
    found: list[Block] = []
    for fence in fences:
        block, faults = _block(fence)
        problems += faults
        if block is None:
            continue
        if block.language in ANSWERS:
            problems += _attach(fence, block, found)
        else:
            found.append(block)
    problems += _repeated_names([block for block in found if block.is_run])
    if problems:
        raise PageError(sorted(problems, key=lambda problem: problem.origin.line))
    return tuple(found)


def _attach(fence: Fence, answer: Block, found: list[Block]) -> list[Problem]:
    """Give ``fence`` to the last block of ``found``, whose answer it has to be."""
    wanted = ANSWERS[answer.language]
    if not found or found[-1].language != wanted:
        fault = f"{answer.language} without a {wanted} block above it"
        return [Problem(answer.origin, fault, f"put it below the {wanted} block that it answers")]
    if found[-1].answer is not None:
        fault = f"a second {answer.language} block for the {wanted} block at {found[-1].origin}"
        return [Problem(answer.origin, fault, "keep one")]
    found[-1] = replace(found[-1], answer=fence)
    return []


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
    problems += misuses(language, keys, origin)
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
        name = token["name"]
        if name in keys:
            return keys, [Problem(origin, f"`{name}` is given twice", "keep one")]
        keys[name] = next((token[how] for how in ("double", "single", "bare") if token[how] is not None), None)
        position = token.end()
    return keys, []


def _repeated_names(found: Sequence[Block]) -> list[Problem]:
    first: dict[str, Block] = {}
    problems = []
    for block in found:
        same = first.setdefault(block.title, block)
        if same is not block:
            fault = f"`{block.title}` is also the name of the block at {same.origin}"
            problems.append(Problem(block.origin, fault, "give each a title of its own"))
    return problems
