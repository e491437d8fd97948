"""``docs/reference/commands.md`` holds each command that the pages use, no other, and says of it what servers say."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import command_uses
import pytest
from command_uses import Use
from components import require

from redis_transcripts import server, site_config
from redis_transcripts.connection import Connection
from redis_transcripts.markdown import PageReader
from redis_transcripts.resp import Kind, Reply
from redis_transcripts.source import Origin

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = DOCS / "reference/commands.md"

_ROW = re.compile(r"\| *\[(?P<command>[A-Z_ ]+)\]\(#(?P<anchor>[a-z_-]+)\) *\|(?P<cells>.*)\|")
_GROUP = re.compile(r"\| *\*\*.+?\*\* *\|(?P<cells>.*)\|")
_HEADING = re.compile(r"#+ (?P<text>.+)")
# A heading of several commands has an anchor for each.
_ANCHOR = re.compile(r'<a id="([a-z_-]+)"></a>')
# A cost as servers write it, with one level of brackets inside.
_COST = re.compile(r"O\((?:[^()]|\([^()]*\))*\)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server knows of a command: ``costs`` are the O(...) of its complexity, in any order."""

    since: str
    costs: frozenset[str]
    categories: frozenset[str]


@dataclass(frozen=True, slots=True)
class Row:
    """A command in the page's table: its line there, the section it leads to, and what the table says."""

    line: int
    anchor: str
    purpose: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Section:
    """The text below a heading, and the lines that it takes on the page."""

    text: str
    lines: range


class Asked:
    """A server that is asked about commands."""

    def __init__(self, running: server.Server) -> None:
        self.binary = running.binary
        self._connection = Connection(running.address(), _soon())

    def close(self) -> None:
        self._connection.close()

    def names(self) -> frozenset[str]:
        """Return every command, those of a family as two words, such as ``OBJECT ENCODING``."""
        return frozenset(_text(item).replace("|", " ").upper() for item in self._ask("LIST").items)

    def facts(self, command: str) -> Facts:
        categories = self._ask("INFO", command).items[0].items[6]
        documented = self._documented(command)
        return Facts(
            _text(documented["since"]),
            frozenset(_COST.findall(_text(documented["complexity"]))),
            frozenset(_text(item).removeprefix("@") for item in categories.items),
        )

    def deprecated_since(self, command: str) -> str | None:
        version = self._documented(command).get("deprecated_since")
        return _text(version) if version else None

    def _documented(self, command: str) -> Mapping[str, Reply]:
        # In RESP2 a map is a name and a value in turn.
        fields = self._ask("DOCS", command).items[1].items
        return dict(zip(map(_text, fields[::2]), fields[1::2], strict=True))

    def _ask(self, question: str, *commands: str) -> Reply:
        words = ["COMMAND", question, *(command.lower().replace(" ", "|") for command in commands)]
        reply = self._connection.ask([word.encode() for word in words], _soon())
        assert reply.kind is Kind.ARRAY, reply
        return reply


def _soon() -> float:
    return time.monotonic() + 10


def _text(reply: Reply) -> str:
    return reply.text.decode()


@pytest.fixture(scope="module", params=[None, server.EMBEDDED], ids=["default", "embedded"])
def asked(request: pytest.FixtureRequest) -> Iterator[Asked]:
    binary = server.find(request.param)
    require(binary.version_numbers >= (7, 0), f"{binary} has no COMMAND DOCS; install Redis 7.0 or newer")
    running = server.Server(binary)
    opened = Asked(running)
    yield opened
    opened.close()
    running.stop()


@pytest.fixture(scope="module")
def known() -> Iterator[frozenset[str]]:
    """Every command of the embedded server, which is always there."""
    running = server.Server(server.find(server.EMBEDDED))
    opened = Asked(running)
    yield opened.names()
    opened.close()
    running.stop()


@pytest.fixture(scope="module")
def reader() -> PageReader:
    return PageReader(ROOT, *site_config.markdown_extensions(ROOT, ROOT / "mkdocs.yml"))


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    found = _rows(PAGE.read_text())
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def sections() -> dict[str, Section]:
    return _sections(PAGE.read_text())


@pytest.fixture(scope="module")
def used_elsewhere(reader: PageReader, known: frozenset[str]) -> list[Use]:
    uses: list[Use] = []
    for page in sorted(set(DOCS.rglob("*.md")) - {PAGE}):
        uses += command_uses.of_page(page, reader, ROOT / "lua", known)
    for notebook in sorted(DOCS.rglob("*.ipynb")):
        uses += command_uses.of_notebook(notebook, ROOT, known)
    for file in sorted([*(ROOT / "lua").rglob("*.lua"), *(ROOT / "snippets").rglob("*.py")]):
        uses += command_uses.of_file(file, ROOT, known)
    return uses


def _rows(text: str) -> dict[str, Row]:
    """The commands of the table; the categories beside a group's name are those of each row below it too."""
    found: dict[str, Row] = {}
    group: frozenset[str] = frozenset()
    for line, content in enumerate(text.split("\n"), 1):
        if heading := _GROUP.fullmatch(content):
            group = frozenset(re.findall(r"@(\w+)", heading["cells"]))
        if row := _ROW.fullmatch(content):
            purpose, cost, since, categories = (cell.strip() for cell in row["cells"].split("|"))
            facts = Facts(since, frozenset(_COST.findall(cost)), group | frozenset(categories.split(", ")))
            assert row["command"] not in found, f"line {line}: {row['command']} has two rows"
            found[row["command"]] = Row(line, row["anchor"], purpose, facts)
    return found


def _sections(text: str) -> dict[str, Section]:
    lines = text.split("\n")
    starts = [(number, match["text"]) for number, line in enumerate(lines, 1) if (match := _HEADING.fullmatch(line))]
    ends = [number for number, _ in starts[1:]] + [len(lines) + 1]
    return {
        name: Section("\n".join(lines[start : end - 1]), range(start + 1, end))
        for (start, heading), end in zip(starts, ends, strict=True)
        for name in _named(heading)
    }


def _named(heading: str) -> list[str]:
    """The commands that a heading names, or what else it says."""
    text = _ANCHOR.sub("", heading)
    return text.split(", ") if text.isupper() else [text]


def _missing(uses: list[Use], rows: Mapping[str, Row]) -> list[str]:
    """Each command that is used and has no row, with the first place that uses it."""
    first: dict[str, Use] = {}
    for use in uses:
        first.setdefault(use.command, use)
    return [f"{use.origin} uses {command}" for command, use in first.items() if command not in rows]


def _unused(uses: list[Use], rows: Mapping[str, Row]) -> list[str]:
    """Each row of a command that no page uses, with its place."""
    used = {use.command for use in uses}
    name = PAGE.relative_to(ROOT).as_posix()
    return [f"{name}:{row.line} has {command}" for command, row in rows.items() if command not in used]


def test_each_command_of_the_pages_has_a_row(
    used_elsewhere: list[Use], reader: PageReader, known: frozenset[str], rows: dict[str, Row]
) -> None:
    uses = used_elsewhere + command_uses.of_page(PAGE, reader, ROOT / "lua", known)
    assert len({use.command for use in uses}) > 20
    assert _missing(uses, rows) == []


def test_each_row_is_of_a_command_that_another_page_uses(used_elsewhere: list[Use], rows: dict[str, Row]) -> None:
    assert _unused(used_elsewhere, rows) == []


def test_the_table_says_what_the_server_says(asked: Asked, rows: dict[str, Row]) -> None:
    assert {name: row.facts for name, row in rows.items()} == {name: asked.facts(name) for name in rows}


def test_a_deprecated_command_is_called_so(asked: Asked, rows: dict[str, Row], sections: dict[str, Section]) -> None:
    shown = {name for name, row in rows.items() if "deprecated" in row.purpose}
    assert shown == {name for name in rows if "deprecated" in sections[name].text.lower()}
    told = {name: since for name in rows if (since := asked.deprecated_since(name))}
    if asked.binary.product == "Valkey":
        assert told == {}
        assert [name for name in shown if "Not deprecated in Valkey 9.1." not in sections[name].text] == []
    else:
        assert shown == set(told)
        for name, since in told.items():
            assert f"Deprecated in Redis since {since}, " in sections[name].text


def test_each_row_leads_to_a_section_in_the_same_order(rows: dict[str, Row], sections: dict[str, Section]) -> None:
    assert [name for name in sections if name in rows] == list(rows)
    assert [name for name in sections if name.isupper() and name not in rows] == []
    assert {name: row.anchor for name, row in rows.items()} == {name: name.lower().replace(" ", "-") for name in rows}


def test_a_heading_of_several_commands_has_an_anchor_for_each() -> None:
    for line in PAGE.read_text().split("\n"):
        heading = _HEADING.fullmatch(line)
        names = _named(heading["text"]) if heading else []
        if len(names) > 1:
            assert _ANCHOR.findall(line) == [name.lower().replace(" ", "-") for name in names]


def test_each_section_shows_a_run_of_its_command(
    rows: dict[str, Row], sections: dict[str, Section], reader: PageReader, known: frozenset[str]
) -> None:
    uses = command_uses.of_page(PAGE, reader, ROOT / "lua", known)
    shown = {name for name in rows for use in uses if use.command == name and use.origin.line in sections[name].lines}
    assert shown == set(rows)


def test_each_section_leads_to_both_manuals(rows: dict[str, Row], sections: dict[str, Section]) -> None:
    several = Counter(section.lines for section in sections.values())
    for name, row in rows.items():
        manual = "Redis" if several[sections[name].lines] == 1 else f"{name} in Redis"
        redis = f"[{manual}](https://redis.io/docs/latest/commands/{row.anchor}/)"
        valkey = f"[Valkey](https://valkey.io/commands/{row.anchor}/)"
        assert re.search(rf"{re.escape(f'{redis}, {valkey}')}[.;]\n", sections[name].text)


def test_what_the_table_lacks_and_what_no_page_uses_is_named() -> None:
    table = "| **Lists** | `@list` | | | |\n| [LPUSH](#lpush) | adds | O(1) each, O(N) for N | 1.0.0 | write, fast |\n"
    rows = _rows(table)
    facts = Facts("1.0.0", frozenset({"O(1)", "O(N)"}), frozenset({"list", "write", "fast"}))
    assert rows == {"LPUSH": Row(2, "lpush", "adds", facts)}
    uses = [Use("INCR", Origin("docs/page.md", 7)), Use("INCR", Origin("docs/page.md", 9))]
    assert _missing(uses, rows) == ["docs/page.md:7 uses INCR"]
    assert _unused(uses, rows) == ["docs/reference/commands.md:2 has LPUSH"]


_EVERY_WAY = """
```redis
> zadd jobs 1 a
(integer) 1
> EVAL "redis.call('ZREM', KEYS[1], 'a') return redis.pcall('OBJECT', 'ENCODING', KEYS[1])" 1 jobs
(nil)
> ZADDD jobs 1 a
(error) ERR
```

```lua
local rcall = redis.call
rcall(
  "GET", "a")
--- @include "count"
```

```reply
(nil)
```

```python
from redis import Redis

redis = Redis()
redis.set("a", {"GET": 1}.get("b"))
pipeline = redis.pipeline(transaction=False)
pipeline.exists("a")


def take(client: Redis) -> object:
    return client.keys(), redis.client_id(), redis.execute_command("SCRIPT EXISTS", ""), {}.keys()
```

```console
$ redis-cli -n 1 'LPUSH' list 1 # and redis-cli GET
(integer) 1
GET
```
"""


def test_uses_are_found_in_every_language_of_a_page(tmp_path: Path, known: frozenset[str]) -> None:
    (tmp_path / "count.lua").write_text('return redis.call("INCR", "a")\n')
    (tmp_path / "page.md").write_text(_EVERY_WAY)
    reader = PageReader(tmp_path, *site_config.markdown_extensions(tmp_path, None))
    uses = command_uses.of_page(tmp_path / "page.md", reader, tmp_path, known)
    assert [(use.command, str(use.origin)) for use in uses] == [
        ("ZADD", "page.md:3"),
        ("EVAL", "page.md:5"),
        ("ZREM", "page.md:5"),
        ("OBJECT ENCODING", "page.md:5"),
        ("GET", "page.md:14"),
        ("INCR", "count.lua:1"),
        ("SET", "page.md:26"),
        ("EXISTS", "page.md:28"),
        ("KEYS", "page.md:32"),
        ("CLIENT ID", "page.md:32"),
        ("SCRIPT EXISTS", "page.md:32"),
        ("LPUSH", "page.md:36"),
    ]


def test_uses_are_found_in_files_and_in_notebooks(tmp_path: Path, known: frozenset[str]) -> None:
    (tmp_path / "take.lua").write_text('local a = 1\nreturn redis.call("ZPOPMIN", KEYS[1])\n')
    (tmp_path / "take.py").write_text(
        "class Queue:\n"
        "    def __init__(self, redis: Redis):\n"
        "        self._client = redis\n"
        "        self._take = redis.register_script('return redis.call(\"TIME\")')\n"
        "    def add(self):\n"
        "        self._client.get('a'), self.get('b')\n"
        "        with self._client.pipeline() as batch:\n"
        "            batch.type('a')\n"
    )
    cell = {"cell_type": "code", "source": "import redis\nredis.Redis().delete('a')", "metadata": {}, "outputs": []}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{**cell, "id": "a", "execution_count": 1}],
    }
    (tmp_path / "book.ipynb").write_text(json.dumps(notebook))
    uses = [use for name in ("take.lua", "take.py") for use in command_uses.of_file(tmp_path / name, tmp_path, known)]
    uses += command_uses.of_notebook(tmp_path / "book.ipynb", tmp_path, known)
    assert [(use.command, str(use.origin)) for use in uses] == [
        ("ZPOPMIN", "take.lua:2"),
        ("EVALSHA", "take.py:4"),
        ("SCRIPT LOAD", "take.py:4"),
        ("GET", "take.py:6"),
        ("MULTI", "take.py:7"),
        ("EXEC", "take.py:7"),
        ("TYPE", "take.py:8"),
        ("TIME", "take.py:4"),
        ("DEL", "book.ipynb, cell 1:2"),
    ]
