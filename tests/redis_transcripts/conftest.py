"""A project in a temporary folder, whose pages the tests write."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown
from mkdocs.utils import meta

from redis_transcripts import site_config
from redis_transcripts.markdown import Page, PageReader
from redis_transcripts.server import Server, find

Extensions = tuple[list[str], Mapping[str, Mapping[str, Any]]]

Write = Callable[[str, str], Path]
"""Writes the file of that name with that text, dedented, into the project."""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def extensions(tmp_path: Path) -> Extensions:
    """Those of a project that names none, but sections are dedented when they are included, as on this site."""
    names, configs = site_config.markdown_extensions(tmp_path, None)
    return names, {**configs, "pymdownx.snippets": {"base_path": [str(tmp_path)], "dedent_subsections": True}}


@pytest.fixture
def reader(tmp_path: Path, extensions: Extensions) -> PageReader:
    return PageReader(tmp_path, *extensions)


@pytest.fixture
def lines_of() -> Callable[[Page], str]:
    """Lists the lines of a page's fences, each with its origin."""

    def list_lines(page: Page) -> str:
        lines = [line for fence in page.fences for line in (fence.header, *fence.lines)]
        return "".join(f"{line.origin} {line}".rstrip() + "\n" for line in lines)

    return list_lines


@pytest.fixture
def shown_by_mkdocs(extensions: Extensions) -> Callable[[Path], list[str]]:
    """Returns the text of each code block that the unchanged Markdown extensions make of a page."""
    names, configs = extensions

    def render(path: Path) -> list[str]:
        body, _ = meta.get_data(path.read_text(encoding="utf-8-sig"))
        code = _CodeBlocks()
        code.feed(Markdown(extensions=names, extension_configs=configs).convert(body))
        return [text.strip("\n") for text in code.found]

    return render


class _CodeBlocks(HTMLParser):
    """Collects the text of each ``<pre>``."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "pre":
            self.found.append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data


@pytest.fixture
def project(
    pytester: pytest.Pytester, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """Runs pytest in the project, whose pages are the Markdown files below ``docs``."""
    monkeypatch.chdir(tmp_path)
    write("pytest.ini", "[pytest]\naddopts = -p no:valkey\nredis_pages = docs\n")
    return pytester


@pytest.fixture
def results_of(project: pytest.Pytester) -> Callable[..., dict[str, str]]:
    """Runs pytest with the arguments; returns of each test, and each page that has none, ``passed`` or the failure."""

    def run(*arguments: str) -> dict[str, str]:
        passed, skipped, failed = project.inline_run(*arguments).listoutcomes()
        assert not skipped
        return {
            **{report.nodeid: "passed" for report in passed},
            **{report.nodeid: str(report.longrepr) for report in failed},
        }

    return run


@pytest.fixture
def started() -> Iterator[Callable[..., Server]]:
    """Starts a server of the default kind with the settings, and ends it with the test."""
    with contextlib.ExitStack() as servers:

        def start(**settings: str) -> Server:
            running = Server(find(None), settings)
            servers.callback(running.stop)
            running.address()
            return running

        yield start
