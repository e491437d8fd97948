"""A page's fences are those that MkDocs shows, and every line knows the file and line it came from."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import examples
from redis_transcripts.examples import Example, LuaExample, RedisExample
from redis_transcripts.markdown import Page, PageReader

Write = Callable[[str, str], Path]

# A page, and its fences as lines of `file:line text`.
NESTINGS = {
    "top level": (
        """\
        # Title

        ```redis { title="Top" }
        > PING
        PONG
        ```
        """,
        """\
        page.md:3 ```redis { title="Top" }
        page.md:4 > PING
        page.md:5 PONG
        """,
    ),
    "admonition": (
        """\
        !!! note "Read this"

            ```redis
            > PING
            PONG
            ```
        """,
        """\
        page.md:3 ```redis
        page.md:4 > PING
        page.md:5 PONG
        """,
    ),
    "details": (
        """\
        ??? question "Why"
            Because.

            ```redis
            > PING
            PONG
            ```
        """,
        """\
        page.md:4 ```redis
        page.md:5 > PING
        page.md:6 PONG
        """,
    ),
    "content tabs": (
        """\
        === "One"

            ```redis
            > ECHO one
            "one"
            ```

        === "Two"

            ```redis
            > ECHO two
            "two"
            ```
        """,
        """\
        page.md:3 ```redis
        page.md:4 > ECHO one
        page.md:5 "one"
        page.md:10 ```redis
        page.md:11 > ECHO two
        page.md:12 "two"
        """,
    ),
    "tab in an admonition": (
        """\
        !!! tip

            === "One"

                ```redis
                > PING
                PONG
                ```
        """,
        """\
        page.md:5 ```redis
        page.md:6 > PING
        page.md:7 PONG
        """,
    ),
    "list in a tab": (
        """\
        === "One"

            - first

                ```redis
                > PING
                PONG
                ```
        """,
        """\
        page.md:5 ```redis
        page.md:6 > PING
        page.md:7 PONG
        """,
    ),
    "list indented by two": (
        """\
        - first
          ```redis
          > PING
          PONG
          ```
        """,
        """\
        page.md:2 ```redis
        page.md:3 > PING
        page.md:4 PONG
        """,
    ),
    "list indented by four": (
        """\
        1.  first

            ```redis
            > LRANGE jobs 0 -1
             1) "a"

             2) "b"
            ```
        """,
        """\
        page.md:3 ```redis
        page.md:4 > LRANGE jobs 0 -1
        page.md:5  1) "a"
        page.md:6
        page.md:7  2) "b"
        """,
    ),
    "blockquote": (
        """\
        > ```redis
        > > PING
        > PONG
        > ```
        """,
        """\
        page.md:1 ```redis
        page.md:2 > PING
        page.md:3 PONG
        """,
    ),
    "definition list": (
        """\
        Score
        :   A double.

            ```redis
            > PING
            PONG
            ```
        """,
        """\
        page.md:4 ```redis
        page.md:5 > PING
        page.md:6 PONG
        """,
    ),
    "footnote": (
        """\
        Text.[^1]

        [^1]:
            A note.

            ```redis
            > PING
            PONG
            ```
        """,
        """\
        page.md:6 ```redis
        page.md:7 > PING
        page.md:8 PONG
        """,
    ),
    "Markdown in HTML": (
        """\
        <div class="wide" markdown>

        ```redis
        > PING
        PONG
        ```

        </div>
        """,
        """\
        page.md:3 ```redis
        page.md:4 > PING
        page.md:5 PONG
        """,
    ),
    "tilde markers": (
        """\
        ~~~redis
        > PING
        PONG
        ~~~
        """,
        """\
        page.md:1 ~~~redis
        page.md:2 > PING
        page.md:3 PONG
        """,
    ),
    "five backticks around three": (
        """\
        `````text { static="how to write one" }
        ```redis
        > PING
        ```
        `````
        """,
        """\
        page.md:1 `````text { static="how to write one" }
        page.md:2 ```redis
        page.md:3 > PING
        page.md:4 ```
        """,
    ),
    "tabs for indentation": (
        """\
        !!! note

        \t```redis
        \t> PING
        \tPONG
        \t```
        """,
        """\
        page.md:3 ```redis
        page.md:4 > PING
        page.md:5 PONG
        """,
    ),
    "front matter": (
        """\
        ---
        title: Order
        tags: [a, b]
        ---

        ```redis
        > PING
        PONG
        ```
        """,
        """\
        page.md:6 ```redis
        page.md:7 > PING
        page.md:8 PONG
        """,
    ),
    "front matter without markers": (
        """\
        title: Order
        summary: one line
            and another

        ```redis
        > PING
        PONG
        ```
        """,
        """\
        page.md:5 ```redis
        page.md:6 > PING
        page.md:7 PONG
        """,
    ),
    "HTML and escapes in the code": (
        """\
        ```redis
        > ECHO "<b>&amp;\\n</b> {curly} `tick`"
        "<b>&amp;\\n</b> {curly} `tick`"
        ```
        """,
        """\
        page.md:1 ```redis
        page.md:2 > ECHO "<b>&amp;\\n</b> {curly} `tick`"
        page.md:3 "<b>&amp;\\n</b> {curly} `tick`"
        """,
    ),
    "several on one page": (
        """\
        ```redis
        > PING
        PONG
        ```

        - a list

            ```text { static="a sketch" }
            tier | counter
            ```

        ```redis
        > ECHO a
        "a"
        ```
        """,
        """\
        page.md:1 ```redis
        page.md:2 > PING
        page.md:3 PONG
        page.md:8 ```text { static="a sketch" }
        page.md:9 tier | counter
        page.md:12 ```redis
        page.md:13 > ECHO a
        page.md:14 "a"
        """,
    ),
}

nestings = pytest.mark.parametrize(("page", "expected"), NESTINGS.values(), ids=NESTINGS)


@nestings
def test_each_line_knows_where_it_stands(
    page: str, expected: str, write: Write, reader: PageReader, lines_of: Callable[[Page], str]
) -> None:
    assert lines_of(reader.read(write("page.md", page))) == textwrap.dedent(expected)


@nestings
def test_fences_hold_the_text_that_mkdocs_shows(
    page: str, expected: str, write: Write, reader: PageReader, shown_by_mkdocs: Callable[[Path], list[str]]
) -> None:
    path = write("page.md", page)
    assert ["\n".join(fence.lines).strip("\n") for fence in reader.read(path).fences] == shown_by_mkdocs(path)


@pytest.mark.parametrize("encode", ["\ufeff{}".format, lambda text: text.replace("\n", "\r\n")], ids=["BOM", "CRLF"])
def test_how_an_editor_saved_the_page_makes_no_difference(
    encode: Callable[[str], str], tmp_path: Path, write: Write, reader: PageReader
) -> None:
    text = '---\ntitle: Order\n---\n\n```redis\n> ECHO \u00e9\n"\\xc3\\xa9"\n```\n'
    plain = reader.read(write("page.md", text))
    (tmp_path / "page.md").write_bytes(encode(text).encode())
    assert reader.read(tmp_path / "page.md") == plain
    assert plain.metadata == {"title": "Order"}


def test_a_fence_that_a_formatter_of_the_site_draws_is_not_code(tmp_path: Path, write: Write) -> None:
    config = {"pymdownx.superfences": {"custom_fences": [{"name": "mermaid", "class": "mermaid"}]}}
    page = write("page.md", "```mermaid\ngraph TD\n```\n\n```redis\n> PING\nPONG\n```\n")
    fences = PageReader(tmp_path, ["pymdownx.superfences"], config).read(page).fences
    assert [str(fence.header) for fence in fences] == ["```redis"]


def test_lines_added_above_move_the_origins_and_change_nothing_else(
    tmp_path: Path, write: Write, reader: PageReader
) -> None:
    page = """\
        ```redis { title="Top" }
        > PING
        PONG
        ```

        !!! note

            ```redis
            > LRANGE jobs 0 -1
            1) "a"
            ```

        --8<-- "fence.md"

        ```lua { title="Script" }
        return 1
        ```

        ```reply
        (integer) 1
        ```
        """
    write("fence.md", '```redis\n> ECHO file\n"file"\n```\n')
    before = examples.read(reader, write("page.md", page), tmp_path)
    after = examples.read(reader, write("page.md", "# A title\n\n" + textwrap.dedent(page)), tmp_path)

    names = ["redis[Top]", "redis[LRANGE jobs 0 -1]", "redis[ECHO file]", "lua[Script]"]
    assert [example.block.name for example in before] == names
    assert [str(example.block.origin) for example in before] == ["page.md:1", "page.md:8", "fence.md:1", "page.md:15"]
    assert [example.block.name for example in after] == names
    assert [str(example.block.origin) for example in after] == ["page.md:3", "page.md:10", "fence.md:1", "page.md:17"]
    assert [run_and_shown(example) for example in after] == [run_and_shown(example) for example in before]
    assert run_and_shown(after[1]) == [("> LRANGE jobs 0 -1", ('1) "a"',))]
    assert run_and_shown(after[3]) == [("return 1", ("(integer) 1",))]


def run_and_shown(example: Example) -> list[tuple[str, tuple[str, ...]]]:
    """What is run of a redis or lua example, and what is shown for it: lines compare as text."""
    if isinstance(example, RedisExample):
        return [(step.typed, step.shown) for step in example.steps]
    assert isinstance(example, LuaExample)
    return [(example.script.text, example.shown)]
