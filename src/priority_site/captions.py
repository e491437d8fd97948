"""Captions of blocks: what a header says beside the title is shown with it.

``wrong="why"`` becomes a class of the block and a part of its title. Below the title stands what a reader needs to run
the block: the ``keys`` and ``argv`` of a Lua script, the names of the ``files`` beside a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

_FENCE = re.compile(r"^[>\s]*(?P<marker>`{3,}|~{3,})")
_HEADER = re.compile(r"^(?P<begin>[>\s]*(?:`{3,}|~{3,})\s*(?P<language>\w+)\s*\{)(?P<keys>.*)\}\s*$")
_KEY = re.compile(r"""(?<!\S)(?P<name>title|wrong|keys|argv|files)=(?P<quote>["'])(?P<value>.*?)(?P=quote)""")
_INPUTS = {"lua": {"keys": "KEYS", "argv": "ARGV"}, "python": {"files": "beside"}, "console": {"files": "beside"}}


class _Headers(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        captioned = []
        marker = ""
        for line in lines:
            fence = _FENCE.match(line)
            if not marker:
                captioned.append(_captioned(line))
                marker = fence["marker"] if fence else ""
            else:
                # What stands inside a fence is text, headers of other fences too.
                captioned.append(line)
                if fence and fence["marker"] == marker and line.rstrip().endswith(marker):
                    marker = ""
        return captioned


class CaptionsExtension(Extension):
    """Runs before superfences reads the header."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Add the preprocessor, between the one that normalizes white space and superfences."""
        md.preprocessors.register(_Headers(md), "captions", 26)


def makeExtension(**settings: object) -> CaptionsExtension:  # noqa: N802
    """Return the extension: the entry that Python-Markdown asks for."""
    return CaptionsExtension(**settings)


def _captioned(line: str) -> str:
    header = _HEADER.match(line)
    if not header:
        return line
    said = {key["name"]: key["value"] for key in _KEY.finditer(header["keys"])}
    is_wrong = "wrong" in said
    inputs = "".join(_inputs(header["language"], said))
    if not is_wrong and not inputs:
        return line
    title = escape("".join(_title(said)))
    rest = _KEY.sub("", header["keys"])
    mark = ".wrong " if is_wrong else ""
    return f'{header["begin"]} {mark}title="{title}{inputs}" title_mode="html" {rest} }}'


def _title(said: dict[str, str]) -> Iterator[str]:
    if "title" in said:
        yield said["title"]
    if "wrong" in said:
        yield f": wrong, {said['wrong']}" if "title" in said else f"Wrong: {said['wrong']}"


def _inputs(language: str, said: dict[str, str]) -> Iterator[str]:
    """Yield the markup of each; without quotes, which would end the title."""
    for name, shown in _INPUTS.get(language, {}).items():
        if name in said:
            value = said[name] if name != "files" else " ".join(Path(file).name for file in said[name].split())
            yield f"<span class=input>{shown} <code>{escape(value)}</code></span>"
