"""Captions of blocks: what a header says beside the title is shown with it.

``wrong="why"`` becomes a class of the block and a part of its title. Beside the title stands the state from which a
block is run, below it what it is run with: the ``keys`` and ``argv`` of a script, the ``files`` in a program's folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

type Said = Mapping[str, str]
"""The words and keys of a header; the value of a word is the empty text."""

_FENCE = re.compile(r"^[>\s]*(?P<marker>`{3,}|~{3,})")
_HEADER = re.compile(r"^(?P<begin>[>\s]*(?:`{3,}|~{3,})\s*(?P<language>\w+)\s*\{)(?P<said>.*)\}\s*$")
_SAID = re.compile(
    r"""(?<!\S)(?P<name>[A-Za-z][\w:-]*)(?:=(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>\S+)))?(?!\S)"""
)
_STATES: Mapping[str, Callable[[str], str]] = {
    "fresh": lambda _: "on an empty server",
    "client": lambda name: f"client {name}",
    "resp": lambda version: f"RESP{version}",
    "cluster": lambda _: "on a cluster",
}
_INPUTS = {"keys": "KEYS", "argv": "ARGV", "files": "beside"}
# The languages whose blocks are run; a block of any other may use the same words for itself.
_RUN = ("redis", "lua", "python", "console")
_MOST_KEYS_AGAIN = 3


class _Headers(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        captioned = []
        marker = ""
        keys = ""
        for line in lines:
            fence = _FENCE.match(line)
            if not marker:
                header, keys = _captioned(line, keys)
                captioned.append(header)
                marker = fence["marker"] if fence else ""
            else:
                # What stands inside a fence is text, headers of other fences too.
                captioned.append(line)
                if fence and fence["marker"].startswith(marker) and line.rstrip().endswith(marker):
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


def _captioned(line: str, keys_above: str) -> tuple[str, str]:
    """Return the header with its caption, and the keys of the last script: those above, or the header's own."""
    header = _HEADER.match(line)
    if not header or header["language"] not in _RUN:
        return line, keys_above
    said = {
        found["name"]: found["double"] or found["single"] or found["bare"] or ""
        for found in _SAID.finditer(header["said"])
    }
    keys = said.get("keys", "")
    # Without quotes in the markup, which would end the title.
    marks = [f"<span class=state>{escape(show(said[name]))}</span>" for name, show in _STATES.items() if name in said]
    marks += [f"<span class=input>{shown}</span>" for shown in _inputs(said, keys_above)]
    keys_above = keys or keys_above
    if not marks and "wrong" not in said:
        return line, keys_above
    wrong = ".wrong " if "wrong" in said else ""
    highlighted = f' hl_lines="{said["hl_lines"]}"' if "hl_lines" in said else ""
    title = f'title="{escape(_title(said))}{"".join(marks)}" title_mode="html"'
    return f"{header['begin']} {wrong}{title}{highlighted} }}", keys_above


def _title(said: Said) -> str:
    if "wrong" not in said:
        return said.get("title", "")
    return f"{said['title']}: wrong, {said['wrong']}" if "title" in said else f"Wrong: {said['wrong']}"


def _inputs(said: Said, keys_above: str) -> Iterator[str]:
    """Yield the markup of each. Many keys are written out once."""
    for name, shown in _INPUTS.items():
        if name not in said:
            continue
        value = said[name]
        if name == "keys" and value == keys_above and len(value.split()) > _MOST_KEYS_AGAIN:
            yield f"{shown} as above"
            continue
        if name == "files":
            value = " ".join(Path(file).name for file in value.split())
        yield f"{shown} <code>{escape(value)}</code>"
