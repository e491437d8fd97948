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

REDIS_KNOWS = "redis knows: title, hl_lines, unordered, varies, wrong, xfail, fresh, requires, cluster, resp, client"
CHECKED = 'block is checked; what cannot be run is a text block with static="why"'
REQUIRES = 'write a product and its versions, as in requires="redis>=7.2"'
ONE_CLIENT = "a cluster has one client, which speaks RESP2; drop"

# The header of a block, and what is said of it.
HEADERS = {
    "unknown word": ("```redis { fersh }", "unknown word or key `fersh`; did you mean `fresh`?"),
    "unknown key": ('```redis { titel="x" }', "unknown word or key `titel`; did you mean `title`?"),
    "unknown word, nothing like it": (
        "```redis { zebra }",
        f"unknown word or key `zebra`; {REDIS_KNOWS}",
    ),
    "key without value": ("```redis { title }", '`title` has no value; write title="..."'),
    "key with an empty value": ('```redis { title=" " }', '`title` has no value; write title="..."'),
    "word with value": ('```redis { fresh="yes" }', "`fresh` takes no value; write `fresh` alone"),
    "repeated key": ('```redis { title="a" title="b" }', "`title` is given twice; keep one"),
    "no space between two": (
        '```redis { title="x"fresh }',
        '`title="x"fresh` is neither a word nor a key; write `word` or `key="value"`, with a space between two',
    ),
    "quotes that do not match": (
        "```redis { fresh title='x\" }",
        '`title=\'x"` is neither a word nor a key; write `word` or `key="value"`, with a space between two',
    ),
    "key outside braces": (
        '```redis title="x"',
        '`title="x"` stands outside braces; write `redis { title="x" }`',
    ),
    "other value of resp": ("```redis { resp=4 }", "resp=4; write resp=2 or resp=3"),
    **{
        f"{language} block that is not run": (
            f'```{language} {{ static="too slow" }}',
            f"unknown word or key `static`; each {language} {CHECKED}",
        )
        for language in ("redis", "lua", "reply", "python", "output")
    },
    **{
        f"notest at a {language} block": (
            f"```{language} {{ notest }}",
            f"unknown word or key `notest`; each {language} {CHECKED}",
        )
        for language in ("redis", "lua", "python")
    },
    "notest at a console block": (
        "```console { notest }",
        "unknown word or key `notest`; "
        "console knows: title, hl_lines, unordered, varies, wrong, xfail, fresh, requires, cluster, files, static",
    ),
    "word of a block that is run at one that is not": (
        '```console { fresh static="too slow" }',
        "unknown word or key `fresh`; console knows: title, hl_lines, static",
    ),
    "key of a script at a redis block": ('```redis { keys="a" }', f"unknown word or key `keys`; {REDIS_KNOWS}"),
    "fixture at a redis block": (
        "```redis { fixture:tmp_path }",
        f"unknown word or key `fixture:tmp_path`; {REDIS_KNOWS}",
    ),
    "word at a reply": ("```reply { unordered }", "unknown word or key `unordered`; write it at the lua block above"),
    "key at an output": (
        '```output { varies="id" }',
        "unknown word or key `varies`; write it at the python block above",
    ),
    "nothing that varies": (
        '```redis { varies="," }',
        "varies does not know `,`; write one or more of: id, time, ttl, memory",
    ),
    "something else that varies": (
        '```redis { varies="id, clock" }',
        "varies does not know `clock`; write one or more of: id, time, ttl, memory",
    ),
    **{
        f"{name} without its reason or value": (
            f"```redis {{ {name} }}",
            f'`{name}` has no value; write {name}="..."',
        )
        for name in ("varies", "wrong", "xfail", "requires", "client", "resp")
    },
    **{
        f"requirement of {requirement}": (
            f'```redis {{ requires="{requirement}" }}',
            f"requires does not understand `{requirement}`; {REQUIRES}",
        )
        for requirement in ("redis 7", "memcached>=1", "redis>=x", "redis7", "7.2", "valkey redis>=7.x", "redis >= 7")
    },
    "name of a client of a cluster": (
        '```redis { cluster client="b" }',
        f"client= and cluster in one block; {ONE_CLIENT} client=",
    ),
    "RESP3 of a cluster": ("```redis { resp=3 cluster }", f"resp= and cluster in one block; {ONE_CLIENT} resp="),
    "unordered and varies": (
        '```redis { unordered varies="id" }',
        "unordered and varies in one block; split the block, or sort what varies",
    ),
    "no language": ("```", "a fence without a language; write it behind the marker, as in ```redis"),
    "class for a language": (
        "``` { .redis }",
        "a fence without a language; write it behind the marker, as in ```redis",
    ),
    "other language": (
        "```bash",
        'a bash block is not run; say why with static="...", '
        "or write it as one of: redis, lua, reply, python, output, console",
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
    "notest outside braces": (
        "```python notest\nprint(1)\n```\n",
        [f"page.md:1: not a fence to MkDocs: ```python notest; {NOT_A_FENCE}", f"page.md:3: {LONE_MARKER}"],
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
    "raw pre in capitals": (
        f"A text.\n\n<PRE>PING</PRE>\n\n{PING}",
        [f"page.md:3: code that is not a fence: PING; {CODE}"],
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
    "no repetition, without a reply": (
        "> 0 PING\n",
        ["page.md:2: typed line without a reply: `0 PING`; show below it what redis-cli prints"],
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
        for word in ("SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE")
    },
}

SHOW_REPLY = "show below it, in a reply block, what redis-cli prints"
CLOSE_QUOTE = "quote as in a typed line"
INCLUDE_PATH = "correct the path, which is relative to lua"
WRITE_CODE = "write it, or delete the block"
NEEDLESS = (
    "varies, but no shown line ends in ...; write ... from where it varies to the end of the line, or delete varies="
)
GIVE_ORDER = "give it an order, or put it into a block without `unordered`"
LUA = "```lua\nreturn 1\n```\n"
REPLY = "```reply\n(integer) 1\n```\n"
PYTHON = "```python\nprint(1)\n```\n"
OUTPUT = "```output\n1\n```\n"

# A page beside `lua/part.lua`, which includes a file that is not there, and `ping.txt`; and all that is said of it.
BLOCKS = {
    **{
        f"unordered {command}": (
            f'```redis {{ title="x" unordered }}\n> {command}\n1) "a"\n```\n',
            [f"page.md:2: unordered cannot tell what belongs together here; {GIVE_ORDER}"],
        )
        for command in ('EVAL "return {}" 0', "SORT jobs GET # GET w_*", "2 ZPOPMIN jobs", "EXEC")
    },
    "reply without a script": (
        f"{PING}\n{REPLY}",
        ["page.md:6: reply without a lua block above it; put it below the lua block that it answers"],
    ),
    "reply below the block behind its script": (
        f"{LUA}\n{PING}\n{REPLY}",
        [
            "page.md:10: reply without a lua block above it; put it below the lua block that it answers",
        ],
    ),
    "reply below Python": (
        f"{PYTHON}\n{REPLY}",
        ["page.md:5: reply without a lua block above it; put it below the lua block that it answers"],
    ),
    "output without code": (
        f"{OUTPUT}\n{PING}",
        ["page.md:1: output without a python block above it; put it below the python block that it answers"],
    ),
    "output below what is only shown": (
        f'{PYTHON}\n```text {{ static="a sketch" }}\n1\n```\n\n{OUTPUT}',
        ["page.md:9: output without a python block above it; put it below the python block that it answers"],
    ),
    "second reply": (
        f"{LUA}\n{REPLY}\n{REPLY}",
        ["page.md:9: a second reply block for the lua block at page.md:1; keep one"],
    ),
    "second output": (
        f"{PYTHON}\n{OUTPUT}\n{OUTPUT}",
        ["page.md:9: a second output block for the python block at page.md:1; keep one"],
    ),
    "script without a reply": (f"{PING}\n{LUA}", [f"page.md:6: a lua block without a reply: `return 1`; {SHOW_REPLY}"]),
    "script with an empty reply": (
        f"{LUA}\n```reply\n\n```\n",
        [f"page.md:1: a lua block without a reply: `return 1`; {SHOW_REPLY}"],
    ),
    "script that goes on behind an included file, without a reply": (
        '```lua\n--8<-- "lua/whole.lua"\nreturn one()\n```\n',
        [f"page.md:1: a lua block without a reply: `local function one()`; {SHOW_REPLY}"],
    ),
    "script from another file than one of Lua, without a reply": (
        '```lua { title="Ping" }\n--8<-- "ping.txt"\n```\n',
        [f"page.md:1: a lua block without a reply: `Ping`; {SHOW_REPLY}"],
    ),
    "script of nothing but an include of its own, without a reply": (
        '```lua\n--- @include "whole"\n```\n',
        [f'page.md:1: a lua block without a reply: `--- @include "whole"`; {SHOW_REPLY}'],
    ),
    "script without code": (f"```lua\n\n```\n\n{REPLY}", [f"page.md:1: a lua block without code; {WRITE_CODE}"]),
    "script without code and reply": (f"```lua\n```\n\n{PING}", [f"page.md:1: a lua block without code; {WRITE_CODE}"]),
    "python without code": ("```python\n\n```\n", [f"page.md:1: a python block without code; {WRITE_CODE}"]),
    "empty output": (
        f"{PYTHON}\n```output\n\n```\n",
        ["page.md:1: a python block with an empty output block: `print(1)`; show in it what is printed, or delete it"],
    ),
    "quote of a key that is not closed": (
        f"```lua {{ keys='a \"b' }}\nreturn 1\n```\n\n{REPLY}",
        [f'page.md:1: a quote in keys is not closed: `a "b`; {CLOSE_QUOTE}'],
    ),
    "quote of an argument that is not closed": (
        f'```lua {{ keys="a" argv="it\'s" }}\nreturn 1\n```\n\n{REPLY}',
        [f"page.md:1: a quote in argv is not closed: `it's`; {CLOSE_QUOTE}"],
    ),
    "include of a Lua file that is missing": (
        f'```lua\nlocal a\n--- @include "includes/missing"\nreturn 1\n```\n\n{REPLY}',
        [f"page.md:3: lua/includes/missing.lua cannot be read: No such file or directory; {INCLUDE_PATH}"],
    ),
    "include of a missing file in a Lua file": (
        f'```lua\n--- @include "part"\nreturn 1\n```\n\n{REPLY}',
        [f"lua/part.lua:2: lua/missing.lua cannot be read: No such file or directory; {INCLUDE_PATH}"],
    ),
    "include that is miswritten": (
        f'```lua\n  -- @include "part"\nreturn 1\n```\n\n{REPLY}',
        [
            'page.md:2: `-- @include "part"` includes nothing; '
            'write --- @include "includes/name" alone on its line, from the first column on'
        ],
    ),
    "nothing in a console block": (
        "```console\n\n```\n",
        ["page.md:1: a console block without a typed line; begin one with `$ `, or delete the block"],
    ),
    "console block without a typed line": (
        "```console\n\nls -l\n$ls\n```\n",
        ["page.md:3: text above the first typed line: `ls -l`; begin a typed line with `$ ` (the space counts)"],
    ),
    "text above a command": (
        "```console\n# list\n$ ls\n```\n",
        ["page.md:2: text above the first typed line: `# list`; begin a typed line with `$ ` (the space counts)"],
    ),
    "prompt of a shell with nothing typed, and a command that goes on": (
        "```console\n$ ls\n$\n$ echo a \\\n  b\n```\n",
        [
            "page.md:3: nothing is typed after the prompt; type a command or delete the line",
            "page.md:4: `$ echo a \\` goes on in the next line; write the command in one line",
        ],
    ),
    "reply in which nothing varies": (
        '```redis { varies="ttl" }\n> TTL a\n(integer) -2\n> GET a...\n...b\n```\n',
        [f"page.md:1: {NEEDLESS}"],
    ),
    "reply of a script in which nothing varies": (
        f'```lua {{ varies="time" }}\nreturn 1 -- ...\n```\n\n{REPLY}',
        [f"page.md:1: {NEEDLESS}"],
    ),
    "output in which nothing varies": (
        f'```python {{ varies="id" }}\nprint(...)\n```\n\n{OUTPUT}',
        [f"page.md:1: {NEEDLESS}"],
    ),
    "code without an output, which varies": (
        f'{PING}\n```python {{ varies="id" }}\nid = 1\n```\n',
        [f"page.md:6: {NEEDLESS}"],
    ),
    "output of a command in which nothing varies": (
        '```console { varies="memory" }\n$ ls ...\n.. .\n```\n',
        [f"page.md:1: {NEEDLESS}"],
    ),
    "faults of several blocks": (
        f'{LUA}\n```console\n$\n```\n\n```redis {{ varies="id" }}\n> PING\nPONG\n```\n',
        [
            f"page.md:1: a lua block without a reply: `return 1`; {SHOW_REPLY}",
            "page.md:6: nothing is typed after the prompt; type a command or delete the line",
            f"page.md:9: {NEEDLESS}",
        ],
    ),
}

OWN_TITLE = "give each a title of its own"

# A page beside `ping.txt` and `part.txt`, which includes a file that is not there, and all that is said of it.
PAGES = {
    "one title twice": (
        '```redis { title="a" }\n> PING\nPONG\n```\n\n```redis { title="a" }\n> ECHO b\n"b"\n```\n',
        [f"page.md:6: `a` is also the name of the block at page.md:1; {OWN_TITLE}"],
    ),
    "one title in two languages": (
        '```redis { title="a" }\n> PING\nPONG\n```\n\n```python { title="a" }\nx = 1\n```\n',
        [f"page.md:6: `a` is also the name of the block at page.md:1; {OWN_TITLE}"],
    ),
    "two untitled blocks with one first line": (
        f"{PING}\n{PING}",
        [f"page.md:6: `PING` is also the name of the block at page.md:1; {OWN_TITLE}"],
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
        ["page.md:1: a page with no example; add an example, or say in the front matter `examples: none, because ...`"],
    ),
    "nothing at all": (
        "",
        ["page.md:1: a page with no example; add an example, or say in the front matter `examples: none, because ...`"],
    ),
    "shown code alone": (
        '```text { static="a sketch" }\ntier | counter\n```\n',
        ["page.md:1: a page with no example; add an example, or say in the front matter `examples: none, because ...`"],
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
            examples.read(reader, page, tmp_path / "lua")
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


@pytest.mark.parametrize(("page", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_block_that_cannot_be_run_or_compared(
    page: str, expected: list[str], write: Write, said_of: Callable[[str], list[str]]
) -> None:
    write("lua/part.lua", 'local b\n--- @include "missing"\n')
    write("lua/whole.lua", "local function one()\n  return 1\nend\n")
    write("ping.txt", "return 'PONG'\n")
    assert said_of(page) == expected


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
        examples.read(reader, tmp_path / "page.md", tmp_path / "lua")
    assert str(error.value) == "page.md:1: not UTF-8: invalid continuation byte at byte 3; save it as UTF-8"


def test_included_file_that_is_not_utf_8(tmp_path: Path, said_of: Callable[[str], list[str]]) -> None:
    (tmp_path / "part.txt").write_bytes(b"> ECHO \xe9")
    assert said_of('```redis\n--8<-- "part.txt"\n```\n') == [
        "part.txt:1: not UTF-8: unexpected end of data at byte 7; save it as UTF-8"
    ]


def test_page_without_examples_that_says_why_is_well(tmp_path: Path, write: Write, reader: PageReader) -> None:
    page = write("page.md", "---\nexamples: none, because it lists terms\n---\n\nText.\n")
    assert examples.read(reader, page, tmp_path / "lua") == ()


def test_part_of_a_lua_file_is_shown_without_a_reply(tmp_path: Path, write: Write, reader: PageReader) -> None:
    write("lua/part.lua", '-- [start:shown]\n--- @include "missing"\nreturn 1\n-- [end:shown]\n')
    page = write("page.md", f'```lua {{ title="a" }}\n\n--8<-- "lua/part.lua:2:3"\n\n```\n\n{PING}\n{LUA}\n{REPLY}')
    found = examples.read(reader, page, tmp_path / "lua")
    assert [example.block.name for example in found] == ["redis[PING]", "lua[return 1]"]


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
