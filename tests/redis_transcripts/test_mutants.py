"""Any single change to a shown answer fails: at the first line that differs, or where it was asked; in the right file.

A page holds many of them; those that cannot be run, since an answer is missing, are on pages of their own.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

ANSWERS = {"lua": "reply", "python": "output"}
"""The fence below a block that shows its answer; the others show it below each typed line."""


@dataclass(frozen=True)
class Step:
    """What is asked, and the lines that answer it."""

    kind: str
    asked: str
    answer: tuple[str, ...]

    @property
    def line_that_raises(self) -> int | None:
        """Counted from 1 in Python that raises."""
        lines = self.asked.split("\n")
        return next((number for number, line in enumerate(lines, 1) if line.startswith("raise ")), None)


@dataclass(frozen=True)
class Block:
    """A block whose answers are true; one of lua or python has one step."""

    language: str
    steps: tuple[Step, ...]

    @property
    def shown(self) -> str:
        """The lines that show the answers: the whole transcript, or those of the fence below."""
        if self.language in ANSWERS:
            return "".join(f"{line}\n" for line in self.steps[0].answer)
        return "".join(f"{line}\n" for step in self.steps for line in (step.asked, *step.answer))

    def around(self, title: str) -> tuple[str, str]:
        """What stands on the page above the shown lines, and below them."""
        header = f'```{self.language} {{ title="{title}" fresh }}\n'
        if self.language in ANSWERS:
            header += f"{self.steps[0].asked}\n```\n\n```{ANSWERS[self.language]}\n"
        return header, "```\n"


BLOCKS = [
    Block(
        "redis",
        (
            Step("status", '> SET job:7 "priority 3"', ("OK",)),
            Step("bulk string", "> GET job:7", ('"priority 3"',)),
            Step("nil", "> GET job:8", ("(nil)",)),
            Step("integer", "> ZADD wait 1 a 2 b 3 c", ("(integer) 3",)),
            Step("array", "> ZRANGE wait 0 1 WITHSCORES", ('1) "a"', '2) "1"', '3) "b"', '4) "2"')),
            Step(
                "error", "> HGET wait a", ("(error) WRONGTYPE Operation against a key holding the wrong kind of value",)
            ),
            Step(
                "nested",
                "> EVAL \"return {1, {2, 'x', {}}, 'y'}\" 0",
                ("1) (integer) 1", "2) 1) (integer) 2", '   2) "x"', "   3) (empty array)", '3) "y"'),
            ),
        ),
    ),
    Block("lua", (Step("integer", "return redis.call('INCR', 'counter')", ("(integer) 1",)),)),
    Block("lua", (Step("error", "return redis.error_reply('ERR no job 7')", ("(error) ERR no job 7",)),)),
    Block("lua", (Step("nested", "return {1, {'a', 2}}", ("1) (integer) 1", '2) 1) "a"', "   2) (integer) 2")),)),
    Block("python", (Step("lines", "print('job 7\\n\\n  job 8')", ("job 7", "", "  job 8")),)),
    Block("python", (Step("exception", "print('job 7')\nraise KeyError(8)", ("job 7", "KeyError: 8")),)),
    Block(
        "console",
        (
            Step("lines", "$ printf 'job 7\\n\\n  job 8\\n'", ("job 7", "", "  job 8")),
            Step("error", "$ cd missing1", ("bash: cd: missing1: No such file or directory",)),
        ),
    ),
]


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


# What stands around a block.
PLACES: Mapping[str, Callable[[str], str]] = {
    "page": "A text.\n\n{}\n".format,
    "admonition": lambda block: f"!!! note\n\n{indented(block)}\nThe end.\n\n",
    "tab": lambda block: f'=== "One"\n\n{indented(block)}\n=== "Two"\n\n    Nothing.\n\nThe end.\n\n',
    "list": lambda block: f"1.  First:\n\n{indented(block)}\n2.  Second.\n\nThe end.\n\n",
    "included file": "{}\n".format,
}


def changes(answer: Sequence[str]) -> Iterator[tuple[str, list[str], int]]:
    """Yield each single change's name, the changed answer, and the index of its first line that differs."""
    for index, line in enumerate(answer):
        above, below = answer[:index], answer[index + 1 :]
        yield "line dropped", [*above, *below], index
        yield "line doubled", [*above, line, line, *below], index + 1
        for changed in with_a_character_changed(line):
            yield "character changed", [*above, changed, *below], index
        if below and below[0] != line:
            yield "neighbours swapped", [*above, below[0], line, *below[1:]], index
        if re.search(r"\d", line):
            plus_one = re.sub(r"\d+(?!.*\d)", lambda number: str(int(number[0]) + 1), line)
            yield "number plus one", [*above, plus_one, *below], index
        if "(integer)" in line:
            yield "integer to string", [*above, re.sub(r"\(integer\) (\d+)", r'"\1"', line), *below], index


def with_a_character_changed(line: str) -> Iterator[str]:
    if line:
        yield line[:-1] + ("x" if line[-1] != "x" else "y")
        yield line.swapcase()[0] + line[1:] if line[0].isalpha() else line[1:]


@dataclass(frozen=True)
class Mutant:
    """A block with one changed answer.

    ``blamed`` is the line to be blamed, counted from 0 among the shown ones; or from the header of the block that asks,
    where ``is_asking_blamed``.
    """

    kind: str
    change: str
    block: Block
    blamed: int
    is_asking_blamed: bool

    @property
    def is_refused(self) -> bool:
        """Whether its page cannot be run: nothing is shown for what has to have an answer."""
        return self.block.language != "console" and not all(step.answer for step in self.block.steps)


def mutants_of(block: Block) -> Iterator[Mutant]:
    for position, step in enumerate(block.steps):
        for change, answer, first_difference in changes(step.answer):
            changed = replace(step, answer=tuple(answer))
            mutant = replace(block, steps=(*block.steps[:position], changed, *block.steps[position + 1 :]))
            # Lines that are missing at the end of an answer have no line to blame.
            is_missing = first_difference >= len(answer)
            if block.language not in ANSWERS:
                asked_at = sum(1 + len(above.answer) for above in block.steps[:position])
                blamed = asked_at if is_missing else asked_at + 1 + first_difference
                yield Mutant(step.kind, change, mutant, blamed, is_asking_blamed=False)
            elif step.line_that_raises and not answer[-1].startswith("KeyError"):
                yield Mutant(step.kind, change, mutant, step.line_that_raises, is_asking_blamed=True)
            else:
                yield Mutant(step.kind, change, mutant, 0 if is_missing else first_difference, is_missing)


def mutants() -> Iterator[tuple[str, Mutant]]:
    """Yield each place with each mutant."""
    for place, block in itertools.product(PLACES, BLOCKS):
        for mutant in mutants_of(block):
            yield place, mutant


class Project:
    """Pages on which each block is a mutant or unchanged, and what the run has to say of each."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._pages: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self.expected: dict[str, str] = {}
        """Of each test ``passed`` or the place to be blamed; of a page that is refused those places, each in a line."""

    def add(self, place: str, mutant: Mutant) -> None:
        page = f"docs/{place} {'refused' if mutant.is_refused else 'compared'}.md"
        title, shown_in, shown_at, header_at = self._add(page, place, mutant.block)
        if mutant.is_asking_blamed:
            blamed = f"{page}:{header_at + mutant.blamed}"
        else:
            blamed = f"{shown_in}:{shown_at + mutant.blamed}"
        if not mutant.is_refused:
            self.expected[f"{page}::{mutant.block.language}[{title}]"] = blamed
        elif page in self.expected:
            self.expected[page] += f"\n{blamed}"
        else:
            self.expected[page] = blamed

    def add_unchanged(self, place: str, block: Block) -> None:
        page = f"docs/{place} compared.md"
        title, *_ = self._add(page, place, block)
        self.expected[f"{page}::{block.language}[{title}]"] = "passed"

    def write(self) -> None:
        for page, text in self._pages.items():
            self._write(page, text)

    def _add(self, page: str, place: str, block: Block) -> tuple[str, str, int, int]:
        """Return the block's title, the file and line where the shown lines begin, and where its header stands."""
        title = f"{next(self._numbers):04}"
        header, end = block.around(title)
        text = self._pages.get(page, "")
        if place == "included file":
            part = f"parts/{title}.txt"
            self._write(part, f"Above.\n# --8<-- [start:part]\n{block.shown}# --8<-- [end:part]\n")
            added = PLACES[place](f'{header}--8<-- "{part}:part"\n{end}')
        else:
            added = PLACES[place](header + block.shown + end)
        self._pages[page] = text + added
        header_at = text.count("\n") + 1 + added[: added.index(f"```{block.language}")].count("\n")
        if place == "included file":
            return title, part, 3, header_at
        return title, page, header_at + header.count("\n"), header_at


def places_named_in(result: str) -> str:
    """What a failure names at the beginning of its lines, or ``passed``."""
    return "\n".join(re.findall(r"^(?:docs|parts)/[\w ]+\.\w+:\d+(?=: )", result, re.MULTILINE)) or result


def test_every_single_change_to_an_answer_fails_where_it_was_made(write: Write, results_of: ResultsOf) -> None:
    project = Project(write)
    for place, block in itertools.product(PLACES, BLOCKS):
        project.add_unchanged(place, block)
    for place, mutant in mutants():
        project.add(place, mutant)
    project.write()
    # The summary of so many failures would take longer than they.
    results = results_of("--continue-on-collection-errors", "--no-summary")
    named = {test: places_named_in(result) for test, result in results.items()}
    assert named.keys() == project.expected.keys()
    assert {test: place for test, place in named.items() if place != project.expected[test]} == {}


def test_the_changes_cover_every_place_language_kind_of_answer_and_kind_of_change() -> None:
    made = list(mutants())
    assert len(made) >= 80
    assert set(PLACES) == {"page", "admonition", "tab", "list", "included file"}
    assert {block.language for block in BLOCKS} == {"redis", "lua", "python", "console"}
    kinds_of_change = {name for name, _, _ in changes(["1) (integer) 1", '2) "a"'])}
    assert len(kinds_of_change) == 6
    assert {(place, mutant.block.language, mutant.change) for place, mutant in made} == {
        *itertools.product(PLACES, ["redis", "lua"], kinds_of_change),
        *itertools.product(PLACES, ["python", "console"], kinds_of_change - {"integer to string"}),
    }
    assert {(place, mutant.block.language, mutant.kind) for place, mutant in made} == {
        (place, block.language, step.kind) for place in PLACES for block in BLOCKS for step in block.steps
    }
    changed = [(place, mutant.block) for place, mutant in made]
    assert len(set(changed)) == len(changed)
    assert not {mutant.block for _, mutant in made} & set(BLOCKS)
