"""A page that cannot be run as it is written says so: each message names the file, the line and the cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import examples
from redis_transcripts.errors import PageError
from redis_transcripts.markdown import PageReader

Write = Callable[[str, str], Path]

PING = """\
```redis
> PING
PONG
```
"""

# The header of a redis block, and what is said of it.
HEADERS = {
    "unknown word": ("```redis { fersh }", "unknown word or key `fersh`; did you mean `fresh`?"),
    "unknown key": ('```redis { titel="x" }', "unknown word or key `titel`; did you mean `title`?"),
    "unknown word, nothing like it": (
        "```redis { zebra }",
        "unknown word or key `zebra`; redis knows: title, hl_lines, fresh, resp, wrong",
    ),
    "key without value": ("```redis { title }", '`title` has no value; write title="..."'),
    "key with an empty value": ('```redis { title=" " }', '`title` has no value; write title="..."'),
    "word with value": ('```redis { fresh="yes" }', "`fresh` takes no value; write `fresh` alone"),
    "repeated key": ('```redis { title="a" title="b" }', "`title` is given twice; keep one"),
    "no space between two": (
        '```redis { title="x"fresh }',
        '`title="x"fresh` is neither a word nor a key; write `word` or `key="value"`, with a space between two',
    ),
    "single quotes": (
        "```redis { fresh title='x' }",
        "`title='x'` is neither a word nor a key; write `word` or `key=\"value\"`, with a space between two",
    ),
    "key outside braces": (
        '```redis title="x"',
        '`title="x"` stands outside braces; write `redis { title="x" }`',
    ),
    "other value of resp": ("```redis { resp=4 }", "resp=4; write resp=2 or resp=3"),
    "redis block that is not run": (
        '```redis { static="too slow" }',
        "unknown word or key `static`; redis knows: title, hl_lines, fresh, resp, wrong",
    ),
    "no language": ("```", "a fence without a language; write it behind the marker, as in ```redis"),
    "class for a language": (
        "``` { .redis }",
        "a fence without a language; write it behind the marker, as in ```redis",
    ),
    "other language": (
        "```bash",
        'a bash block is not run; say why with static="...", or write it as one of: redis',
    ),
    "other language, unknown key": (
        '```bash { fresh static="x" }',
        "unknown word or key `fresh`; bash knows: title, hl_lines, static",
    ),
    "static without reason": ("```bash { static }", '`static` has no value; write static="..."'),
}

NOT_A_FENCE = "write the language first, then everything else in braces, on a line of its own"
LONE_MARKER = "a fence marker without its other one; match it with another or delete it"
NOT_CLOSED = "end it with ```, indented as its header is, with every line in it"
HIDDEN = "take it out of the comment or the indented code, or delete it"
CODE = "put it into a fence, or dedent it if it is text"

# A page, and all that is said of it, in order.
FENCES = {
    "bare word in the header": (
        "```redis fresh\n> PING\nPONG\n```\n",
        [f"page.md:1: not a fence to MkDocs: ```redis fresh; {NOT_A_FENCE}", f"page.md:4: {LONE_MARKER}"],
    ),
    "bare word in the header, above another fence": (
        f"```redis fresh\n> PING\nPONG\n```\n\nA text.\n\n{PING}",
        [
            f"page.md:1: not a fence to MkDocs: ```redis fresh; {NOT_A_FENCE}",
            "page.md:4: a fence that is not closed before the marker at page.md:8: ```; "
            "close it above, or open it with more than 3 characters to show a fence",
        ],
    ),
    "text behind the braces": (
        "~~~redis { fresh } now\n> PING\nPONG\n~~~\n",
        [f"page.md:1: not a fence to MkDocs: ~~~redis {{ fresh }} now; {NOT_A_FENCE}", f"page.md:4: {LONE_MARKER}"],
    ),
    "brace that is not closed": (
        "```redis { fresh\n> PING\nPONG\n```\n",
        [f"page.md:1: not a fence to MkDocs: ```redis {{ fresh; {NOT_A_FENCE}", f"page.md:4: {LONE_MARKER}"],
    ),
    "fence behind a bullet": (
        "- ```redis\n  > PING\n  PONG\n  ```\n",
        [f"page.md:1: not a fence to MkDocs: - ```redis; {NOT_A_FENCE}", f"page.md:4: {LONE_MARKER}"],
    ),
    "fence behind the colon of a definition": (
        "Ping\n:   ```redis\n    > PING\n    PONG\n    ```\n",
        [f"page.md:2: not a fence to MkDocs: :   ```redis; {NOT_A_FENCE}", f"page.md:5: {LONE_MARKER}"],
    ),
    "open at the end of the page": (
        "A text.\n\n```redis\n> PING\nPONG\n",
        [f"page.md:3: a fence that is not closed: ```redis; {NOT_CLOSED}"],
    ),
    "open, and the next fence closes it": (
        f"```redis\n> PING\nPONG\n\nA text.\n\n{PING}",
        [
            "page.md:1: a fence that is not closed before the marker at page.md:7: ```redis; "
            "close it above, or open it with more than 3 characters to show a fence"
        ],
    ),
    "open in an admonition": (
        f"!!! note\n\n    ```redis\n    > PING\n    PONG\n\nA text.\n\n{PING}",
        [f"page.md:3: a fence that is not closed: ```redis; {NOT_CLOSED}"],
    ),
    "closed at another indentation": (
        "- a list\n\n    ```redis\n    > PING\n    PONG\n  ```\n",
        [f"page.md:3: a fence that is not closed: ```redis; {NOT_CLOSED}", f"page.md:6: {LONE_MARKER}"],
    ),
    "marker without a partner": (f"{PING}\nA text.\n\n```\n", [f"page.md:8: {LONE_MARKER}"]),
    "indented code": (
        f"The list `ls -l` in tools.\n\n    ls -l\n    pwd\n\n{PING}",
        [f"page.md:3: code that is not a fence: ls -l; {CODE}"],
    ),
    "indented code in an admonition": (
        f"!!! note\n\n    A text.\n\n        ls -l\n\n{PING}",
        [f"page.md:5: code that is not a fence: ls -l; {CODE}"],
    ),
    "raw pre": (
        f"A `<pre>` and `ls -l`.\n\n<pre>\nls -l\n</pre>\n\n{PING}",
        [f"page.md:3: code that is not a fence: ls -l; {CODE}"],
    ),
    "raw pre on one line": (
        f"A text with ls.\n\n<div><pre class=x><code>ls &amp; pwd</code></pre></div>\n\n{PING}",
        [f"page.md:3: code that is not a fence: ls & pwd; {CODE}"],
    ),
    "fence in a comment": (
        f'A text.\n\n<!--\n{PING}-->\n\n```redis\n> ECHO a\n"a"\n```\n',
        [f"page.md:4: a fence that the page does not show as code: ```redis; {HIDDEN}"],
    ),
    "fence in indented code": (
        "    ```redis\n    > PING\n    PONG\n    ```",
        [f"page.md:1: a fence that the page does not show as code: ```redis; {HIDDEN}"],
    ),
}

LOCAL = "is a command of redis-cli, not of the server; delete the step"
STREAM = "answers with a stream, not with one reply; delete the step"

# The lines of a redis block whose header is the first line of the page, and all that is said of it.
STEPS = {
    "typed line without a reply": (
        "> GET a\n> PING\nPONG\n",
        ["page.md:2: typed line without a reply: `GET a`; show below it what redis-cli prints"],
    ),
    "typed line without a reply at the end": (
        "> PING\nPONG\n\nredis> GET a\n\n",
        ["page.md:5: typed line without a reply: `GET a`; show below it what redis-cli prints"],
    ),
    "unbalanced quotes without a reply": (
        '> ECHO "a\n',
        ['page.md:2: typed line without a reply: `ECHO "a`; show below it what redis-cli prints'],
    ),
    "text above the first typed line": (
        "\nPING\n> PING\nPONG\n",
        ["page.md:3: text above the first typed line: `PING`; begin a typed line with `> ` (the space counts)"],
    ),
    "prompt without its space": (
        ">PING\nPONG\n",
        ["page.md:2: text above the first typed line: `>PING`; begin a typed line with `> ` (the space counts)"],
    ),
    "nothing in the block": (
        "",
        ["page.md:1: a redis block without a typed line; begin one with `> `, or delete the block"],
    ),
    "empty lines in the block": (
        "\n\n",
        ["page.md:1: a redis block without a typed line; begin one with `> `, or delete the block"],
    ),
    "prompt with nothing typed": (
        ">  \nPONG\n",
        ["page.md:2: nothing is typed after the prompt; type a command or delete the line"],
    ),
    "two faults": (
        "> GET a\n> quit\nOK\n",
        [
            "page.md:2: typed line without a reply: `GET a`; show below it what redis-cli prints",
            f"page.md:3: `quit` {LOCAL}",
        ],
    ),
    **{
        f"redis-cli's own {word}": (f"> {word}\nOK\n", [f"page.md:2: `{word.lower().split()[0]}` {LOCAL}"])
        for word in ("QUIT", "exit", "clear", "help SET", "?", ":set hints", "connect localhost 1", "restart")
    },
    **{
        f"stream of {word}": (f"> {word}\nOK\n", [f"page.md:2: `{word.lower().split()[-1]}` {STREAM}"])
        for word in ("MONITOR", "SYNC", "PSYNC", "2 MONITOR")
    },
    **{
        f"stream of {word}": (f"> {word} a\nOK\n", [f"page.md:2: `{word.lower()}` {STREAM}"])
        for word in ("SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE")
    },
}

OWN_TITLE = "give each a title of its own"

# A page beside `ping.txt` and `part.txt`, which includes a file that is not there, and all that is said of it.
PAGES = {
    "one title twice": (
        '```redis { title="a" }\n> PING\nPONG\n```\n\n```redis { title="a" }\n> ECHO b\n"b"\n```\n',
        [f"page.md:6: `redis[a]` is also the name of the block at page.md:1; {OWN_TITLE}"],
    ),
    "two untitled blocks with one first line": (
        f"{PING}\n{PING}",
        [f"page.md:6: `redis[PING]` is also the name of the block at page.md:1; {OWN_TITLE}"],
    ),
    "missing include": (
        'As missing.txt says.\n\n```redis\n--8<-- "missing.txt"\n```\n',
        [
            "page.md:4: include `missing.txt`: Snippet at path 'missing.txt' could not be found; "
            "correct the path or the section's name"
        ],
    ),
    "missing include in a block of includes": (
        "```redis\n--8<--\nping.txt\nmissing.txt\n--8<--\n```\n",
        [
            "page.md:4: include `missing.txt`: Snippet at path 'missing.txt' could not be found; "
            "correct the path or the section's name"
        ],
    ),
    "missing include in an included file": (
        '--8<-- "part.txt"\n',
        [
            "part.txt:2: include `missing.txt`: Snippet at path 'missing.txt' could not be found; "
            "correct the path or the section's name"
        ],
    ),
    "missing section": (
        '```redis\n--8<-- "part.txt:chapter"\n```\n',
        [
            "page.md:2: include `part.txt:chapter`: Snippet section 'chapter' could not be located; "
            "correct the path or the section's name"
        ],
    ),
    "no example": (
        "# A title\n",
        [
            "page.md:1: a page with no example; "
            "add a redis block, or say in the front matter `examples: none, because ...`"
        ],
    ),
    "nothing at all": (
        "",
        [
            "page.md:1: a page with no example; "
            "add a redis block, or say in the front matter `examples: none, because ...`"
        ],
    ),
    "shown code alone": (
        '```text { static="a sketch" }\ntier | counter\n```\n',
        [
            "page.md:1: a page with no example; "
            "add a redis block, or say in the front matter `examples: none, because ...`"
        ],
    ),
    "no example, without the reason": (
        "---\nexamples: none\n---\n",
        ["page.md:1: `examples: none` gives no reason; write `examples: none, because ...`"],
    ),
    "no example, yet there is one": (
        f"---\nexamples: none, because it lists terms\n---\n\n{PING}",
        ["page.md:1: `examples: none, because it lists terms`, but there is one at page.md:5; delete the line"],
    ),
}


@pytest.fixture
def said_of(tmp_path: Path, reader: PageReader) -> Callable[[str], list[str]]:
    def problems(text: str) -> list[str]:
        page = tmp_path / "page.md"
        page.write_text(text)
        with pytest.raises(PageError) as error:
            examples.read(reader, page)
        return str(error.value).splitlines()

    return problems


@pytest.mark.parametrize(("header", "expected"), HEADERS.values(), ids=HEADERS)
def test_header_that_breaks_the_grammar(header: str, expected: str, said_of: Callable[[str], list[str]]) -> None:
    assert said_of(f"A text.\n\n{header}\n> PING\nPONG\n```\n") == [f"page.md:3: {expected}"]


@pytest.mark.parametrize(("page", "expected"), FENCES.values(), ids=FENCES)
def test_code_that_readers_do_not_see_as_a_fence(
    page: str, expected: list[str], said_of: Callable[[str], list[str]]
) -> None:
    assert said_of(page) == expected


@pytest.mark.parametrize(("lines", "expected"), STEPS.values(), ids=STEPS)
def test_block_without_steps_to_run(lines: str, expected: list[str], said_of: Callable[[str], list[str]]) -> None:
    assert said_of(f"```redis\n{lines}```\n") == expected


@pytest.mark.parametrize(("page", "expected"), PAGES.values(), ids=PAGES)
def test_page_that_is_not_whole(
    page: str, expected: list[str], write: Write, said_of: Callable[[str], list[str]]
) -> None:
    write("part.txt", 'A line.\n--8<-- "missing.txt"\n')
    write("ping.txt", "> PING\nPONG\n")
    assert said_of(page) == expected


def test_page_that_is_not_utf_8(tmp_path: Path, reader: PageReader) -> None:
    (tmp_path / "page.md").write_bytes("Caf\u00e9 de Flore".encode("latin-1"))
    with pytest.raises(PageError) as error:
        examples.read(reader, tmp_path / "page.md")
    assert str(error.value) == "page.md:1: not UTF-8: invalid continuation byte at byte 3; save it as UTF-8"


def test_included_file_that_is_not_utf_8(tmp_path: Path, said_of: Callable[[str], list[str]]) -> None:
    (tmp_path / "part.txt").write_bytes(b"> ECHO \xe9")
    assert said_of('```redis\n--8<-- "part.txt"\n```\n') == [
        "part.txt:1: not UTF-8: unexpected end of data at byte 7; save it as UTF-8"
    ]


def test_page_without_examples_that_says_why_is_well(write: Write, reader: PageReader) -> None:
    assert examples.read(reader, write("page.md", "---\nexamples: none, because it lists terms\n---\n\nText.\n")) == ()


def test_pytest_shows_what_is_wrong_with_every_page_and_fails(project: pytest.Pytester, write: Write) -> None:
    write("docs/one.md", "```redis { fersh }\n> PING\nPONG\n```\n")
    write("docs/sub/two.md", "```redis\n> GET a\n> quit\nOK\n```\n")
    write("docs/well.md", PING)
    result = project.runpytest_inprocess()
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting docs/one.md*",
            "docs/one.md:1: unknown word or key `fersh`; did you mean `fresh`[?]",
            "*ERROR collecting docs/sub/two.md*",
            "docs/sub/two.md:2: typed line without a reply: `GET a`; show below it what redis-cli prints",
            f"docs/sub/two.md:3: `quit` {LOCAL}",
        ],
        consecutive=False,
    )
