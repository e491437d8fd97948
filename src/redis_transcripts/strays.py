"""What looks like code on a page and is no fence, or is a fence and does not reach the reader."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from redis_transcripts.errors import Problem
from redis_transcripts.source import Fence, SourceLine

MARK = re.compile(r'data-fence="(\d+)"')
"""What the Markdown pipeline leaves in place of a fence: the attribute of a ``<pre>``, with the fence's number."""

_FENCE_LIKE = re.compile(
    r"^[>\s]*(?P<item>(?:(?:[-*+:]|\d+[.)]|\[\^[^\]]+\]:)\s+)*)(?P<marker>`{3,}|~{3,})(?P<info>[^`]*)$"
)
_WELL_FORMED_INFO = re.compile(r"[ \t]*[\w#.+-]*[ \t]*(\{.*\})?[ \t]*")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PRE = re.compile(r"<pre\b(?P<attributes>[^>]*)>(?P<body>.*?)(?=</pre>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_INLINE_CODE = re.compile(r"(`+).+?\1")


def near_misses(unclaimed: Iterable[SourceLine]) -> Iterator[Problem]:
    for line in unclaimed:
        fence = _FENCE_LIKE.match(line)
        if not fence:
            continue
        info = fence["info"]
        if fence["item"] or not _WELL_FORMED_INFO.fullmatch(info):
            cure = "write the language first, then everything else in braces, on a line of its own"
            yield Problem(line.origin, f"not a fence to MkDocs: {line.strip()}", cure)
        elif not info.strip():
            yield Problem(line.origin, "a fence marker without its other one", "match it with another or delete it")
        else:
            cure = f"end it with {fence['marker']}, indented as its header is, with every line in it"
            yield Problem(line.origin, f"a fence that is not closed: {line.strip()}", cure)


def swallowed_headers(fences: Sequence[Fence]) -> Iterator[Problem]:
    for fence in fences:
        marker = _FENCE_LIKE.match(fence.header)
        assert marker is not None
        for line in fence.lines:
            inner = _FENCE_LIKE.match(line)
            if inner and inner["marker"].startswith(marker["marker"]):
                fault = f"a fence that is not closed before the marker at {line.origin}: {fence.header}"
                cure = f"close it above, or open it with more than {len(marker['marker'])} characters to show a fence"
                yield Problem(fence.header.origin, fault, cure)
                break


def hidden_fences(rendered: str, fences: Sequence[Fence]) -> Iterator[Problem]:
    shown = {int(number) for number in MARK.findall(_COMMENT.sub("", rendered))}
    for number, fence in enumerate(fences):
        if number not in shown:
            fault = f"a fence that the page does not show as code: {fence.header}"
            yield Problem(fence.header.origin, fault, "take it out of the comment or the indented code, or delete it")


def code_outside_fences(rendered: str, unclaimed: Iterable[SourceLine]) -> Iterator[Problem]:
    lines = list(unclaimed)
    for block in _PRE.finditer(_COMMENT.sub("", rendered)):
        code = html.unescape(_TAG.sub("", block["body"])).strip().split("\n")[0].strip()
        # A fence inside indented code is a hidden one or a near miss.
        if not MARK.search(block["attributes"]) and not _FENCE_LIKE.match(code):
            cure = "put it into a fence, or dedent it if it is text"
            yield Problem(_line_of(code, lines).origin, f"code that is not a fence: {code}", cure)


def _line_of(code: str, lines: Sequence[SourceLine]) -> SourceLine:
    """The line where the code that begins with ``code`` most likely stands: HTML does not tell."""
    indented = re.compile(rf"[>\s]*\s{{4}}{re.escape(code)}\s*")
    candidates = [
        *(line for line in lines if indented.fullmatch(line)),
        *(line for line in lines if "<pre" in _INLINE_CODE.sub("", line)),
        *(line for line in lines if code in line),
        *lines,
    ]
    return candidates[0]
