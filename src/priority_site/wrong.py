"""Draws a block that shows what misleads: ``wrong="why"`` in its header becomes a class and a part of its title."""

from __future__ import annotations

import re

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

_FENCE = re.compile(r"^[>\s]*(?P<marker>`{3,}|~{3,})")
_HEADER = re.compile(r"^(?P<begin>[>\s]*(?:`{3,}|~{3,})\s*\w+\s*\{)(?P<keys>.*)\}\s*$")
_WRONG = re.compile(r'(?:^|\s)wrong="(?P<why>[^"]*)"')
_TITLE = re.compile(r'(?:^|\s)title="(?P<title>[^"]*)"')


class _Headers(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        marked = []
        marker = ""
        for line in lines:
            fence = _FENCE.match(line)
            if not marker:
                marked.append(_mark(line))
                marker = fence["marker"] if fence else ""
            else:
                # What stands inside a fence is text, headers of other fences too.
                marked.append(line)
                if fence and fence["marker"] == marker and line.rstrip().endswith(marker):
                    marker = ""
        return marked


class WrongExtension(Extension):
    """Runs before superfences reads the header."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Add the preprocessor, between the one that normalizes white space and superfences."""
        md.preprocessors.register(_Headers(md), "wrong_blocks", 26)


def makeExtension(**settings: object) -> WrongExtension:  # noqa: N802
    """Return the extension: the entry that Python-Markdown asks for."""
    return WrongExtension(**settings)


def _mark(line: str) -> str:
    header = _HEADER.match(line)
    wrong = header and _WRONG.search(header["keys"])
    if not header or not wrong:
        return line
    keys = _WRONG.sub("", header["keys"])
    title = _TITLE.search(keys)
    shown = f"{title['title']}: wrong, {wrong['why']}" if title else f"Wrong: {wrong['why']}"
    return f'{header["begin"]} .wrong title="{shown}" {_TITLE.sub("", keys)} }}'
