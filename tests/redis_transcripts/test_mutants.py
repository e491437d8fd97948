"""Any single change to a shown reply fails, at the first line that differs or at its typed line, in the right file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]


@dataclass(frozen=True)
class Step:
    kind: str
    typed: str
    reply: list[str]


STEPS = [
    Step("status", '> SET job:7 "priority 3"', ["OK"]),
    Step("bulk string", "> GET job:7", ['"priority 3"']),
    Step("nil", "> GET job:8", ["(nil)"]),
    Step("integer", "> ZADD wait 1 a 2 b 3 c", ["(integer) 3"]),
    Step("array", "> ZRANGE wait 0 -1 WITHSCORES", ['1) "a"', '2) "1"', '3) "b"', '4) "2"', '5) "c"', '6) "3"']),
    Step("error", "> HGET wait a", ["(error) WRONGTYPE Operation against a key holding the wrong kind of value"]),
    Step(
        "nested",
        "> EVAL \"return {1, {2, 'x', {}}, 'y'}\" 0",
        ["1) (integer) 1", "2) 1) (integer) 2", '   2) "x"', "   3) (empty array)", '3) "y"'],
    ),
]


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


# Where a transcript stands: the page, and the file it includes, with `{name}` for the name of both.
PLACES: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "page": lambda text: (f"# A page\n\n```redis\n{text}```\n", ""),
    "admonition": lambda text: (f"!!! note\n\n{indented(f'```redis\n{text}```\n')}\nThe end.\n", ""),
    "tab": lambda text: (f'=== "One"\n\n{indented(f"```redis\n{text}```\n")}\n=== "Two"\n\n    Nothing.\n', ""),
    "list": lambda text: (f"1.  First:\n\n{indented(f'```redis\n{text}```\n')}\n2.  Second.\n", ""),
    "included file": lambda text: (
        '```redis\n--8<-- "parts/{name}.txt:part"\n```\n',
        f"# --8<-- [start:part]\n{text}# --8<-- [end:part]\n",
    ),
}


def changes(reply: list[str]) -> Iterator[tuple[str, list[str], int]]:
    """Yield each single change's name, the changed reply, and the index of its first line that differs."""
    for index, line in enumerate(reply):
        above, below = reply[:index], reply[index + 1 :]
        yield "line dropped", above + below, index
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
    yield line[:-1] + ("x" if line[-1] != "x" else "y")
    yield line.swapcase()[0] + line[1:] if line[0].isalpha() else line[1:]


@dataclass(frozen=True)
class Mutant:
    """A page with one changed reply; ``line`` is the one of the transcript that is to be blamed."""

    place: str
    kind: str
    change: str
    transcript: str
    line: int


def mutants() -> Iterator[Mutant]:
    for place in PLACES:
        for position, step in enumerate(STEPS):
            typed_line = 1 + sum(1 + len(above.reply) for above in STEPS[:position])
            for change, reply, first_difference in changes(step.reply):
                steps = [*STEPS[:position], Step(step.kind, step.typed, reply), *STEPS[position + 1 :]]
                # Lines that are missing at the end of a reply have no line to blame.
                blamed = typed_line if first_difference >= len(reply) else typed_line + 1 + first_difference
                yield Mutant(place, step.kind, change, transcript_of(steps), blamed)


def transcript_of(steps: list[Step]) -> str:
    return "".join(line + "\n" for step in steps for line in (step.typed, *step.reply))


def write_page(write: Write, name: str, place: str, transcript: str) -> tuple[str, int]:
    """Write the page; return the file that holds the transcript, and how many lines stand above it."""
    page, included = PLACES[place](transcript)
    write(f"docs/{name}.md", page.format(name=name) if included else page)
    write(f"parts/{name}.txt", included)
    file, text = (f"parts/{name}.txt", included) if included else (f"docs/{name}.md", page)
    return file, text[: text.index(STEPS[0].typed)].count("\n")


def test_every_single_change_to_a_reply_fails_where_it_was_made(write: Write, results_of: ResultsOf) -> None:
    blamed = {}
    for number, mutant in enumerate(mutants()):
        name = f"{number:04}"
        file, above = write_page(write, name, mutant.place, mutant.transcript)
        blamed[f"docs/{name}.md"] = f"{file}:{above + mutant.line}"
    unchanged = {f"docs/unchanged {place}.md" for place in PLACES}
    for place in PLACES:
        write_page(write, f"unchanged {place}", place, transcript_of(STEPS))

    # A typed line that lost its only line of reply is told when the page is read.
    results = {test.split("::")[0]: result for test, result in results_of("--continue-on-collection-errors").items()}

    assert {results.pop(page) for page in unchanged} == {"passed"}
    assert {page: result.split(": ")[0] for page, result in results.items()} == blamed
    assert all(result.count("docs/") + result.count("parts/") == 1 for result in results.values())


def test_the_changes_cover_every_place_kind_of_reply_and_kind_of_change() -> None:
    made = list(mutants())
    assert len(made) >= 60
    names = {name for name, _, _ in changes(["1) (integer) 1", '2) "a"'])}
    assert len(names) == 6
    assert {(mutant.place, mutant.change) for mutant in made} == {(place, name) for place in PLACES for name in names}
    assert {(mutant.place, mutant.kind) for mutant in made} == {
        (place, step.kind) for place in PLACES for step in STEPS
    }
    assert len({(mutant.place, mutant.transcript) for mutant in made}) == len(made)
    assert all(mutant.transcript != transcript_of(STEPS) for mutant in made)
