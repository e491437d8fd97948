"""What a page includes with ``--8<--`` is part of it, and its lines keep the file and line they stand in."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts.markdown import Page, PageReader

Write = Callable[[str, str], Path]

PARTS = """\
first
# --8<-- [start:part]
    > PING
    PONG
# --8<-- [end:part]
last
"""

# A page, its fences as lines of `file:line text`, and the files it includes.
INCLUDES: dict[str, tuple[str, str, dict[str, str]]] = {
    "whole file": (
        """\
        ```redis
        > ECHO page
        "page"
        --8<-- "parts/ping.txt"
        > ECHO again
        "again"
        ```
        """,
        """\
        page.md:1 ```redis
        page.md:2 > ECHO page
        page.md:3 "page"
        parts/ping.txt:1 > PING
        parts/ping.txt:2 PONG
        page.md:5 > ECHO again
        page.md:6 "again"
        """,
        {"parts/ping.txt": "> PING\nPONG"},
    ),
    "include in an include": (
        """\
        !!! note

            ```redis
            --8<-- "outer.txt"
            ```
        """,
        """\
        page.md:3 ```redis
        outer.txt:1 > ECHO outer
        outer.txt:2 "outer"
        inner.txt:1 > PING
        inner.txt:2 PONG
        outer.txt:4 > ECHO end
        outer.txt:5 "end"
        """,
        {
            "outer.txt": '> ECHO outer\n"outer"\n--8<-- "inner.txt"\n> ECHO end\n"end"',
            "inner.txt": "> PING\nPONG",
        },
    ),
    "block form with an empty line": (
        """\
        ```redis
        --8<--
        one.txt

        ; left-out.txt
        two.txt
        --8<--
        ```
        """,
        """\
        page.md:1 ```redis
        one.txt:1 > ECHO one
        one.txt:2 "one"
        page.md:4
        two.txt:1 > ECHO two
        two.txt:2 "two"
        """,
        {"one.txt": '> ECHO one\n"one"', "two.txt": '> ECHO two\n"two"'},
    ),
    "ranges of lines": (
        """\
        ```redis
        --8<-- "many.txt:3:4,7:8"
        ```
        """,
        """\
        page.md:1 ```redis
        many.txt:3 > ECHO b
        many.txt:4 "b"
        many.txt:7 > ECHO d
        many.txt:8 "d"
        """,
        {"many.txt": '> ECHO a\n"a"\n> ECHO b\n"b"\n> ECHO c\n"c"\n> ECHO d\n"d"\n'},
    ),
    "lines counted from the end": (
        """\
        ```redis
        --8<-- "many.txt:-2:"
        ```
        """,
        """\
        page.md:1 ```redis
        many.txt:3 > ECHO b
        many.txt:4 "b"
        """,
        {"many.txt": '> ECHO a\n"a"\n> ECHO b\n"b"'},
    ),
    "section, indentation removed": (
        """\
        ```redis
        --8<-- "parts.txt:part"
        ```
        """,
        """\
        page.md:1 ```redis
        parts.txt:3 > PING
        parts.txt:4 PONG
        """,
        {"parts.txt": PARTS},
    ),
    "section around another include": (
        """\
        ```redis
        --8<-- "outer.txt:part"
        ```
        """,
        """\
        page.md:1 ```redis
        inner.txt:1 > PING
        inner.txt:2 PONG
        """,
        {
            "outer.txt": 'x\n--8<-- [start:part]\n--8<-- "inner.txt"\n--8<-- [end:part]\ny',
            "inner.txt": "> PING\nPONG",
        },
    ),
    "markers of sections in a whole file": (
        """\
        ```text { static="a file" }
        --8<-- "parts.txt"
        ```
        """,
        """\
        page.md:1 ```text { static="a file" }
        parts.txt:1 first
        parts.txt:3     > PING
        parts.txt:4     PONG
        parts.txt:6 last
        parts.txt:7
        """,
        {"parts.txt": PARTS},
    ),
    "escaped markers": (
        """\
        ````text { static="how to include" }
        ;--8<-- "parts/ping.txt"
        # ;--8<-- [start:part]
        ````
        """,
        """\
        page.md:1 ````text { static="how to include" }
        page.md:2 --8<-- "parts/ping.txt"
        page.md:3 # --8<-- [start:part]
        """,
        {},
    ),
    "escaped marker in a section": (
        """\
        ```text { static="a file" }
        --8<-- "outer.txt:part"
        ```
        """,
        """\
        page.md:1 ```text { static="a file" }
        outer.txt:2 above
        outer.txt:3 # --8<-- [start:shown]
        outer.txt:4 below
        """,
        {"outer.txt": "--8<-- [start:part]\nabove\n# ;--8<-- [start:shown]\nbelow\n--8<-- [end:part]\n"},
    ),
    "file that holds whole fences": (
        """\
        - in a list

            --8<-- "fences.md"

        ```redis
        > ECHO end
        "end"
        ```
        """,
        """\
        fences.md:3 ```redis { title="From the file" }
        fences.md:4 > PING
        fences.md:5 PONG
        fences.md:8 ```redis
        fences.md:9 > ECHO file
        fences.md:10 "file"
        page.md:5 ```redis
        page.md:6 > ECHO end
        page.md:7 "end"
        """,
        {
            "fences.md": (
                "A text.\n\n"
                '```redis { title="From the file" }\n> PING\nPONG\n```\n\n'
                '```redis\n> ECHO file\n"file"\n```\n'
            )
        },
    ),
    "include inside the fence of an included file": (
        """\
        --8<-- "fences.md"
        """,
        """\
        fences.md:1 ```redis
        deeper/ping.txt:1 > PING
        deeper/ping.txt:2 PONG
        """,
        {"fences.md": '```redis\n--8<-- "deeper/ping.txt"\n```', "deeper/ping.txt": "> PING\nPONG"},
    ),
}


@pytest.fixture(params=list(INCLUDES))
def case(request: pytest.FixtureRequest, write: Write) -> tuple[Path, str]:
    """A page with the files it includes, and what is expected of it."""
    page, expected, files = INCLUDES[request.param]
    for name, text in files.items():
        write(name, text)
    return write("page.md", page), expected


def test_each_line_names_the_file_and_line_it_stands_in(
    case: tuple[Path, str], reader: PageReader, lines_of: Callable[[Page], str]
) -> None:
    page, expected = case
    assert lines_of(reader.read(page)) == textwrap.dedent(expected)


def test_fences_hold_the_text_that_mkdocs_shows(
    case: tuple[Path, str], reader: PageReader, shown_by_mkdocs: Callable[[Path], list[str]]
) -> None:
    page, _ = case
    assert ["\n".join(fence.lines).strip("\n") for fence in reader.read(page).fences] == shown_by_mkdocs(page)


def test_what_is_appended_to_every_page_is_part_of_it(
    tmp_path: Path, write: Write, lines_of: Callable[[Page], str]
) -> None:
    snippets = {"base_path": [str(tmp_path)], "auto_append": ["end.md"]}
    reader = PageReader(tmp_path, ["pymdownx.snippets", "pymdownx.superfences"], {"pymdownx.snippets": snippets})
    write("end.md", "```redis\n> PING\nPONG\n```")
    page = reader.read(write("page.md", "A page.\n"))
    assert lines_of(page) == "end.md:1 ```redis\nend.md:2 > PING\nend.md:3 PONG\n"
