"""A page's examples: its blocks, and what is to be run of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts import arguments, compare, console, fence, files, lua, transcript
from redis_transcripts.console import Command
from redis_transcripts.errors import PageError, Problem
from redis_transcripts.fence import Block
from redis_transcripts.files import ProvidedFile
from redis_transcripts.lua import Script
from redis_transcripts.markdown import Page, PageReader
from redis_transcripts.source import Fence, Origin, SourceLine, without_blank_end
from redis_transcripts.transcript import Step

_REPLIES_OF_ANY_FORM = {
    b"eval",
    b"eval_ro",
    b"evalsha",
    b"evalsha_ro",
    b"exec",
    b"fcall",
    b"fcall_ro",
    b"sort",
    b"sort_ro",
}
_NO_EXAMPLES = re.compile(r"none\W+\w.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RedisExample:
    """Typed lines and the reply of each."""

    block: Block
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class LuaExample:
    """A script for EVAL, its keys and arguments, and its reply."""

    block: Block
    script: Script
    keys: tuple[bytes, ...]
    argv: tuple[bytes, ...]
    shown: tuple[SourceLine, ...]


@dataclass(frozen=True, slots=True)
class PythonExample:
    """Code, what it prints, and the files in its folder."""

    block: Block
    shown: tuple[SourceLine, ...]
    files: tuple[ProvidedFile, ...]


@dataclass(frozen=True, slots=True)
class ConsoleExample:
    """Commands for a shell, what each prints, and the files in its folder."""

    block: Block
    commands: tuple[Command, ...]
    files: tuple[ProvidedFile, ...]


type Example = RedisExample | LuaExample | PythonExample | ConsoleExample


def read(reader: PageReader, path: Path, lua_folder: Path) -> tuple[Example, ...]:
    """Return the examples of the page at ``path`` in order. Includes of Lua on the page are relative to ``lua_folder``.

    Raises:
        PageError: the page cannot be run as it is written, or has no example and does not say why in its front matter
            (``examples: none, because ...``).
    """
    page = reader.read(path)
    blocks = fence.blocks(page.fences)
    problems: list[Problem] = []
    found: list[Example] = []
    for block in blocks:
        try:
            example = _example(block, lua_folder, reader.root)
        except PageError as error:
            problems += error.problems
        else:
            problems += _needless_varies(example)
            problems += _unpairable(example)
            found.append(example)
    problems += _said_of_examples(page, blocks)
    if problems:
        raise PageError(problems)
    return tuple(found)


def _example(block: Block, lua_folder: Path, root: Path) -> Example:
    match block.language:
        case "lua":
            return _lua_example(block, lua_folder, root)
        case "python":
            return _python_example(block, root)
        case "console":
            return ConsoleExample(block, console.parse(block), files.provided(block, root))
    return RedisExample(block, transcript.parse(block))


def _lua_example(block: Block, lua_folder: Path, root: Path) -> LuaExample:
    _require_code(block)
    if block.answer is None or not (shown := _shown(block.answer)):
        cure = "show below it, in a reply block, what redis-cli prints"
        raise PageError([Problem(block.origin, f"a lua block without a reply: `{block.title}`", cure)])
    words = []
    for name in ("keys", "argv"):
        try:
            words.append(tuple(arguments.split((block.keys.get(name) or "").encode())))
        except arguments.UnbalancedQuotesError as error:
            fault = Problem(block.origin, f"a quote in {name} is not closed: `{error}`", "quote as in a typed line")
            raise PageError([fault]) from error
    return LuaExample(block, lua.flatten(block.lines, lua_folder, root), words[0], words[1], shown)


def _python_example(block: Block, root: Path) -> PythonExample:
    _require_code(block)
    shown = _shown(block.answer)
    if block.answer is not None and not shown:
        fault = f"a python block with an empty output block: `{block.title}`"
        raise PageError([Problem(block.origin, fault, "show in it what is printed, or delete it")])
    return PythonExample(block, shown, files.provided(block, root))


def _require_code(block: Block) -> None:
    if not any(line.strip() for line in block.lines):
        fault = f"a {block.language} block without code"
        raise PageError([Problem(block.origin, fault, "write it, or delete the block")])


def _needless_varies(example: Example) -> list[Problem]:
    match example:
        case RedisExample():
            shown = [line for step in example.steps for line in step.shown]
        case ConsoleExample():
            shown = [line for command in example.commands for line in command.shown]
        case LuaExample() | PythonExample():
            shown = list(example.shown)
    if "varies" not in example.block.keys or any(map(compare.stands_for_others, shown)):
        return []
    cure = "write ... from where it varies to the end of the line, or delete varies="
    return [Problem(example.block.origin, "varies, but no shown line ends in ...", cure)]


def _shown(answer: Fence | None) -> tuple[SourceLine, ...]:
    return without_blank_end(answer.lines) if answer else ()


def _unpairable(example: Example) -> list[Problem]:
    """Where order does not count, names and their values must not be torn apart, so a reply's form has to be known."""
    if not isinstance(example, RedisExample) or "unordered" not in example.block.keys:
        return []
    unknown = [step for step in example.steps if step.repeat > 1 or (step.arguments[:1] and _is_of_any_form(step))]
    cure = "give it an order, or put it into a block without `unordered`"
    return [Problem(step.typed.origin, "unordered cannot tell what belongs together here", cure) for step in unknown]


def _is_of_any_form(step: Step) -> bool:
    return step.arguments[0].lower() in _REPLIES_OF_ANY_FORM


def _said_of_examples(page: Page, blocks: Sequence[Block]) -> list[Problem]:
    said = page.metadata.get("examples")
    top = Origin(page.path, 1)
    if said is None:
        if blocks:
            return []
        cure = "add an example, or say in the front matter `examples: none, because ...`"
        return [Problem(top, "a page with no example", cure)]
    if not _NO_EXAMPLES.fullmatch(str(said)):
        return [Problem(top, f"`examples: {said}` gives no reason", "write `examples: none, because ...`")]
    if blocks:
        return [Problem(top, f"`examples: {said}`, but there is one at {blocks[0].origin}", "delete the line")]
    return []
