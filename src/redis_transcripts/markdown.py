"""The fences of a page, exactly as MkDocs renders them, each line with the file and line it came from.

The site's real Markdown pipeline runs, with three changes: the snippets preprocessor keeps the origin of every line, a
preprocessor behind it notes those origins, and the superfences preprocessor reports each fence and leaves a mark in
the HTML, by which a fence that does not reach the page is found. A parser of its own would disagree with MkDocs on
admonitions, tabs, lists and includes sooner or later.

The methods overridden here are undocumented: ``constraints.txt`` pins pymdown-extensions.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.utils import meta
from pymdownx.snippets import SnippetMissingError, SnippetPreprocessor
from pymdownx.superfences import SuperFencesBlockPreprocessor

from redis_transcripts import strays
from redis_transcripts.errors import PageError, Problem, TranscriptsError
from redis_transcripts.source import Fence, Origin, SourceLine, display_path


@dataclass(frozen=True, slots=True)
class Page:
    """What a page holds: its path as messages show it, its front matter, and its fences in order."""

    path: str
    metadata: Mapping[str, Any]
    fences: tuple[Fence, ...]


class PageReader:
    """Reads pages with one Markdown pipeline, which is built once: that takes longer than reading a page.

    ``root`` is the folder that paths in messages are relative to. ``extensions`` and ``extension_configs`` are those of
    ``mkdocs.yml``; without ``pymdownx.superfences`` among them there are no fences to read.

    Raises:
        TranscriptsError: an extension is missing or refuses its configuration.
    """

    def __init__(
        self, root: Path, extensions: Sequence[str], extension_configs: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.root = root
        try:
            self._markdown = Markdown(extensions=extensions, extension_configs=extension_configs)
        except Exception as error:
            raise TranscriptsError(f"the Markdown extensions cannot be loaded: {error}") from error
        preprocessors = self._markdown.preprocessors
        if "fenced_code_block" not in preprocessors or not isinstance(
            superfences := preprocessors["fenced_code_block"], SuperFencesBlockPreprocessor
        ):
            raise TranscriptsError("pymdownx.superfences is not among the Markdown extensions; add it to mkdocs.yml")
        self._page_lines = _PageLines(self._markdown)
        self._origins = _Origins(self._markdown)
        self._superfences = _RecordingSuperFences(self._markdown, superfences, self._origins)
        preprocessors.register(self._page_lines, "transcript_page_lines", 1000)
        preprocessors.register(self._origins, "transcript_origins", 31.9)
        preprocessors.register(self._superfences, "fenced_code_block", 25)
        if "snippet" in preprocessors:
            preprocessors.register(_TracingSnippets(root, self._markdown), "snippet", 32)

    def read(self, path: Path) -> Page:
        """Return the page at ``path``.

        Raises:
            PageError: the file cannot be read as text, an include is missing, or the page has an unclosed fence, a near
                miss of a fence, code that is not a fence, or a fence that it does not show.
        """
        name = display_path(path, self.root)
        body, metadata, self._page_lines.first = _read_body(path, name)
        self._markdown.reset()
        self._superfences.start_page()
        self._origins.lines = []
        rendered = self._markdown.convert(body)
        found = self._superfences.found
        unclaimed = list(self._superfences.unclaimed())
        problems = sorted(
            [
                *strays.near_misses(unclaimed),
                *strays.swallowed_headers(found),
                *strays.hidden_fences(rendered, found),
                *strays.code_outside_fences(rendered, unclaimed),
            ],
            key=lambda problem: (problem.origin.path != name, problem.origin.path, problem.origin.line),
        )
        if problems:
            raise PageError(problems)
        return Page(name, metadata, tuple(found))


def _read_body(path: Path, name: str) -> tuple[str, dict[str, Any], Origin]:
    """Return what follows the front matter, the front matter, and where the body begins."""
    with _reading(name):
        text = path.read_text(encoding="utf-8-sig")
    body, metadata = meta.get_data(text)
    front_matter = text[: len(text) - len(body)]
    return body, metadata, Origin(name, front_matter.count("\n") + 1)


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Say which file it is that cannot be read as text."""
    try:
        yield
    except UnicodeDecodeError as error:
        wanted = error.encoding.upper()
        fault = Problem(Origin(name, 1), f"not {wanted}: {error.reason} at byte {error.start}", f"save it as {wanted}")
        raise PageError([fault]) from error
    except OSError as error:
        fault = Problem(Origin(name, 1), f"cannot be read: {error.strerror}", "check the path and its permissions")
        raise PageError([fault]) from error


class _PageLines(Preprocessor):
    """The first step: gives each line of the page its origin."""

    first: Origin

    def run(self, lines: list[str]) -> list[str]:
        path, number = self.first.path, self.first.line
        return [SourceLine(line, Origin(path, number + index)) for index, line in enumerate(lines)]


class _TracingSnippets(SnippetPreprocessor):
    """The snippets preprocessor with lines that know the file they were read from; a missing file is an error."""

    def __init__(self, root: Path, md: Markdown) -> None:
        config = next(
            extension.getConfigs()
            for extension in md.registeredExtensions
            if type(extension).__module__ == SnippetPreprocessor.__module__
        )
        super().__init__({**config, "check_paths": True}, md)
        self._root = root
        self._target = ""

    def run(self, lines: list[SourceLine]) -> list[SourceLine]:
        self._page_end = lines[-1].origin
        included: list[SourceLine] = super().run(lines)
        return included

    def read_lines(self, path: str) -> list[SourceLine]:
        name = display_path(Path(path), self._root)
        with _reading(name):
            lines = super().read_lines(path)
        return [SourceLine(line, Origin(name, number)) for number, line in enumerate(lines, 1)]

    def parse_snippets(
        self, lines: list[str], file_name: str | None = None, is_url: bool = False, is_section: bool = False
    ) -> list[SourceLine]:
        # What `auto_append` adds to every page stands in no file.
        asking = [line if isinstance(line, SourceLine) else SourceLine(line, self._page_end) for line in lines]
        notation = list(itertools.compress(asking, self.get_syntax_mask(asking, is_section)))
        try:
            parsed: list[str] = super().parse_snippets(asking, file_name, is_url, is_section)
        except SnippetMissingError as error:
            origin = next(line.origin for line in notation if self._path_in(line) == self._target)
            fault = f"include `{self._target}`: {error}"
            raise PageError([Problem(origin, fault, "correct the path or the section's name")]) from error
        # An empty line among the paths of a block stays on the page, without the line it was.
        empty = (line for line in notation if not line.strip())
        return [line if isinstance(line, SourceLine) else SourceLine(line, next(empty).origin) for line in parsed]

    def match_section(self, line: SourceLine) -> _SectionMarker | None:
        match = super().match_section(line)
        return _SectionMarker(match, line.origin) if match else None

    def dedent(self, lines: list[SourceLine]) -> list[SourceLine]:
        dedented: list[str] = super().dedent(lines)
        return [SourceLine(text, line.origin) for text, line in zip(dedented, lines, strict=False)]

    def parse_snippet_target(self, path: str) -> dict[str, Any] | None:
        self._target = path
        target: dict[str, Any] | None = super().parse_snippet_target(path)
        return target

    def _path_in(self, line: str) -> str:
        """What a line of an include asks for: all of it in a block, else what stands between quotes."""
        inline = self.RE_ALL_SNIPPETS.match(line)
        return inline["snippet"][1:-1].strip() if inline and inline["snippet"] else line.strip()


@dataclass(frozen=True, slots=True)
class _SectionMarker:
    """The match of a section marker. An escaped one is shown: the snippets preprocessor joins it from its groups."""

    match: re.Match[str]
    origin: Origin

    def group(self, name: str) -> SourceLine:
        return SourceLine(self.match[name], self.origin)


class _Origins(Preprocessor):
    """Behind the snippets: keeps the origin of every line, which later steps lose."""

    lines: list[SourceLine]

    def run(self, lines: list[str]) -> list[str]:
        for line in lines:
            if not isinstance(line, SourceLine):
                raise TranscriptsError(f"a Markdown extension rewrote a line before its origin was kept: {line!r}")
            self.lines.append(line)
        return lines


class _RecordingSuperFences(SuperFencesBlockPreprocessor):
    """The superfences preprocessor, which reports the fences of a page and leaves a mark in place of their HTML.

    Formatters are not called: figures and highlighting are the site's business, and slow.
    """

    def __init__(self, md: Markdown, original: SuperFencesBlockPreprocessor, origins: _Origins) -> None:
        super().__init__(md)
        self.config = original.config
        self.extension = original.extension
        self._origins = origins
        self._highlighter = original.highlight
        self.formatter: object = None
        self._lines: list[str] = []
        self._claimed: list[range] = []
        self.found: list[Fence] = []

    def start_page(self) -> None:
        self.found = []
        self._lines = []
        self._claimed = []

    def run(self, lines: list[str]) -> list[str]:
        count = len(self._origins.lines)
        if len(lines) < count or any(line.strip() for line in lines[count:]):
            raise TranscriptsError("a Markdown extension changed the number of lines before fences are found")
        self._lines = lines[:count]
        processed: list[str] = super().run(lines)
        return processed

    def process_nested_block(self, ws: str, content: str, start: int, end: int) -> None:
        if self.formatter == self._highlighter:
            source = self.rebuild_block(self.code)
            origins = self._origins.lines[start + 1 : end - 1]
            lines = [SourceLine(t, o.origin) for t, o in zip(source.split("\n"), origins, strict=False)]
            # As the page has it: an extension may have rewritten it since, to draw the block in another way.
            header = SourceLine(self._origins.lines[start].lstrip("> \t").rstrip(), self._origins.lines[start].origin)
            self.found.append(Fence(header, tuple(lines)))
            mark = f'<pre data-fence="{len(self.found) - 1}"></pre>'
        else:
            mark = "<div></div>"
        self._claimed.append(range(start, end))
        self.formatter = lambda **_: mark
        super().process_nested_block(ws, content, start, end)

    def unclaimed(self) -> Iterator[SourceLine]:
        """The lines of the page that belong to no fence."""
        claimed = {index for lines in self._claimed for index in lines}
        for index, line in enumerate(self._lines):
            if index not in claimed:
                yield SourceLine(line, self._origins.lines[index].origin)
