"""The fences of a page, exactly as MkDocs renders them, each line with the file and line it came from.

The site's real Markdown pipeline runs, with three changes: the snippets preprocessor keeps the origin of every line, a
preprocessor behind it notes those origins, and the superfences preprocessor reports each fence and leaves a mark in
the HTML, by which a fence that does not reach the page is found. A parser of its own would disagree with MkDocs on
admonitions, tabs, lists and includes sooner or later.

The methods overridden here are undocumented: ``constraints.txt`` pins pymdown-extensions.
"""

from __future__ import annotations

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
        self._root = root
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
        self._snippets: _TracingSnippets | None = None
        if "snippet" in preprocessors:
            self._snippets = _TracingSnippets(root, preprocessors["snippet"], self._markdown)
            preprocessors.register(self._snippets, "snippet", 32)

    def read(self, path: Path) -> Page:
        """Return the page at ``path``.

        Raises:
            PageError: the file cannot be read as text, an include is missing, or the page has an unclosed fence, a near
                miss of a fence, code that is not a fence, or a fence that it does not show.
        """
        name = display_path(path, self._root)
        body, metadata, self._page_lines.first = _read_body(path, name)
        self._markdown.reset()
        self._superfences.start_page()
        self._origins.lines = []
        try:
            rendered = self._markdown.convert(body)
        except SnippetMissingError as error:
            assert self._snippets is not None
            raise PageError([self._snippets.missing(error)]) from error
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
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        fault = Problem(Origin(name, 1), f"not UTF-8: {error.reason} at byte {error.start}", "save the page as UTF-8")
        raise PageError([fault]) from error
    except OSError as error:
        fault = Problem(Origin(name, 1), f"cannot be read: {error.strerror}", "check the path and its permissions")
        raise PageError([fault]) from error
    body, metadata = meta.get_data(text)
    front_matter = text[: len(text) - len(body)]
    return body, metadata, Origin(name, front_matter.count("\n") + 1)


class _PageLines(Preprocessor):
    """The first step: gives each line of the page its origin."""

    first: Origin

    def run(self, lines: list[str]) -> list[str]:
        path, number = self.first.path, self.first.line
        return [SourceLine(line, Origin(path, number + index)) for index, line in enumerate(lines)]


class _TracingSnippets(SnippetPreprocessor):
    """The snippets preprocessor with lines that know the file they were read from; a missing file is an error."""

    def __init__(self, root: Path, original: SnippetPreprocessor, md: Markdown) -> None:
        config = next(
            extension.getConfigs()
            for extension in md.registeredExtensions
            if type(extension).__module__ == SnippetPreprocessor.__module__
        )
        super().__init__({**config, "check_paths": True}, md)
        self._root = root
        self._target = ""
        self._lines_read: list[SourceLine] = []

    def run(self, lines: list[str]) -> list[str]:
        self._lines_read = [line for line in lines if isinstance(line, SourceLine)]
        included: list[str] = super().run(lines)
        return included

    def read_lines(self, path: str) -> list[SourceLine]:
        name = display_path(Path(path), self._root)
        lines = [SourceLine(line, Origin(name, number)) for number, line in enumerate(super().read_lines(path), 1)]
        self._lines_read += lines
        return lines

    def dedent(self, lines: list[SourceLine]) -> list[SourceLine]:
        dedented: list[str] = super().dedent(lines)
        return [SourceLine(text, line.origin) for text, line in zip(dedented, lines, strict=False)]

    def parse_snippet_target(self, path: str) -> dict[str, Any] | None:
        self._target = path
        target: dict[str, Any] | None = super().parse_snippet_target(path)
        return target

    def missing(self, error: SnippetMissingError) -> Problem:
        """The problem behind ``error``, at the line that asks for the include."""
        asking = next(line for line in self._lines_read if self._target in line)
        return Problem(asking.origin, f"include `{self._target}`: {error}", "correct the path or the section's name")


class _Origins(Preprocessor):
    """Behind the snippets: keeps the origin of every line, which later steps lose."""

    lines: list[SourceLine]

    def run(self, lines: list[str]) -> list[str]:
        for line in lines:
            if not isinstance(line, SourceLine):
                if not self.lines or "8<" not in line:
                    raise TranscriptsError(f"a Markdown extension rewrote a line before its origin was kept: {line!r}")
                # An escaped section marker comes back as plain text; it stands below the line before it.
                before = self.lines[-1].origin
                line = SourceLine(line, Origin(before.path, before.line + 1))
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
            header = SourceLine(self.first[len(self.ws) :], self._origins.lines[start].origin)
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
