"""Holds the code that a built page shows against what was run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import nbformat

from redis_transcripts import examples, fence, lua, lua_coverage, report
from redis_transcripts.examples import Example
from redis_transcripts.markdown import PageReader
from redis_transcripts.outcome import ExampleError
from redis_transcripts.page_run import PageRun
from redis_transcripts.servers import Servers
from redis_transcripts.source import Origin, SourceLine

TESTS_OF_LUA = (
    "tests/lua/test_get_priority_score.py",
    "tests/lua/test_parity.py",
    "tests/lua/test_queue_scripts_parity.py",
    "tests/lua/test_refusals.py",
    "tests/lua/test_diagnose.py",
    "tests/snippets/priority/queue/test_priority_queue.py",
    "tests/snippets/priority/queue/test_lost_reply.py",
    # One kind of client and of server reaches what the others do.
    *("-k", "not (cluster or valkey or asyncio or embedded or grow)"),
)
"""The tests that are to reach every line of the Lua files: those that compare what a script leaves and answers."""


def shown_code(html: str) -> list[str]:
    """Return the text of every ``<pre>`` of a built page."""
    parser = _Code()
    parser.feed(html)
    return [text.strip("\n") for text in parser.blocks]


def unaccounted(html: str, page: Path, reader: PageReader, lua_folder: Path, servers: Servers) -> list[str]:
    """Return the code in ``html`` that is neither run now, nor a part of a Lua file, nor given a reason on ``page``."""
    blocks = fence.all_blocks(reader.read(page).fences)
    answers = [block.answer for block in blocks if block.answer]
    accounted = [_text(block.lines) for block in blocks if not block.is_run]
    accounted += [_text(shown.lines) for shown in answers]
    accounted += [_text(example.block.lines) for example in _run(examples.read(reader, page, lua_folder), servers)]
    return list((Counter(shown_code(html)) - Counter(accounted)).elements())


def unexecuted(html: str, copy: Path) -> list[str]:
    """Return the code in ``html`` that is neither a cell of the executed notebook at ``copy`` nor what one printed."""
    executed = []
    for cell in nbformat.read(copy, as_version=4).cells:  # type: ignore[no-untyped-call]
        if cell.cell_type == "code" and cell.execution_count is not None:
            executed += [cell.source, *(output.text for output in cell.outputs if output.output_type == "stream")]
    accounted = [_text(text.split("\n")) for text in executed]
    return list((Counter(shown_code(html)) - Counter(accounted)).elements())


def shown_parts(page: Path, reader: PageReader) -> list[SourceLine]:
    """Return the lines of Lua files that ``page`` shows without running them."""
    blocks = fence.all_blocks(reader.read(page).fences)
    return [line for block in blocks if block.is_part_of_a_file for line in block.lines]


def unreached(parts: Sequence[SourceLine], root: Path, reached: set[Origin]) -> list[Origin]:
    """Return where a statement begins in ``parts`` that is not among the lines ``reached``."""
    files = {line.origin.path for line in parts}
    statements = {origin for file in files for origin in lua_coverage.statement_lines(lua.read(root / file, root))}
    return [line.origin for line in parts if line.origin in statements - reached]


def reached_by_tests(root: Path, log: Path) -> set[Origin]:
    """Run the tests of the Lua files below ``root`` and return the lines that they reach."""
    command = [sys.executable, "-m", "pytest", "-q", *TESTS_OF_LUA]
    subprocess.run(command, cwd=root, env={**os.environ, "LUA_COVERAGE": str(log)}, check=True, capture_output=True)
    scripts = [lua.read(file, root) for file in (root / "lua").rglob("*.lua")]
    logged = log.read_text(errors="replace")
    return {origin for script in scripts for origin in lua_coverage.reached(logged, script)}


def _run(found: Sequence[Example], servers: Servers) -> Iterator[Example]:
    """Run the examples of a page and yield those that are true, or whose fault is known."""
    run = PageRun(servers, found)
    try:
        for index, example in enumerate(found):
            try:
                answers = run.outcome(index)
                is_true = not report.failing(answers) or "xfail" in example.block.keys
                if answers and is_true:
                    yield example
            except ExampleError:
                continue
    finally:
        run.close()


def _text(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n")


class _Code(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "pre":
            self._depth += 1
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.blocks[-1] += data
