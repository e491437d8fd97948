"""What the built pages hold, without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

PAGES = [
    "index.html",
    "order/sorted-sets/index.html",
    "order/composite-keys/index.html",
    "priority/fifo/index.html",
    "priority/limits/index.html",
    "priority/move-to-active/index.html",
    "priority/packing/index.html",
    "priority/pop/index.html",
    "priority/queue/index.html",
    "reference/commands/index.html",
    "reference/scripts/index.html",
    "reference/tested/index.html",
    "404.html",
]


class _Text(HTMLParser):
    """Collects the text of every ``<pre>``, and of the spans in it by their class."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.tokens: list[tuple[str, str]] = []
        self._in_pre = False
        self._class = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "pre":
            self._in_pre = True
            self.blocks.append("")
        if tag == "span":
            self._class = dict(attrs).get("class") or ""

    def handle_endtag(self, tag: str) -> None:
        self._in_pre = self._in_pre and tag != "pre"
        self._class = ""

    def handle_data(self, data: str) -> None:
        if self._in_pre:
            self.blocks[-1] += data
            self.tokens.append((self._class, data))


@pytest.fixture(scope="module")
def sorted_sets(site: Path) -> _Text:
    page = _Text()
    page.feed((site / "order/sorted-sets/index.html").read_text())
    return page


def test_a_block_is_marked_with_its_language(site: Path) -> None:
    html = (site / "order/sorted-sets/index.html").read_text()
    assert html.count('<div class="language-redis highlight">') == html.count("<pre>") > 10


@pytest.mark.parametrize(
    "token",
    [("gp", "> "), ("k", "ZADD"), ("m", "100"), ("s", r'"\xff"'), ("go", "(integer) 3"), ("go", '1) "alice"')],
)
def test_a_transcript_is_highlighted(sorted_sets: _Text, token: tuple[str, str]) -> None:
    assert token in sorted_sets.tokens


def test_an_error_reply_is_highlighted_as_one(tmp_path: Path) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("```redis\n> GET\n(error) ERR wrong number\n```\n")
    config = load_config(
        str(Path(__file__).parents[2] / "mkdocs.yml"),
        docs_dir=str(tmp_path / "docs"),
        site_dir=str(tmp_path / "site"),
        nav=None,
        theme="material",
    )
    build(config)
    page = _Text()
    page.feed((tmp_path / "site/index.html").read_text())
    assert ("gr", "(error) ERR wrong number") in page.tokens


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_no_other_host_but_in_links(site: Path, page: str) -> None:
    html = (site / page).read_text()
    loaded = re.findall(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]+)"', html)
    loaded += re.findall(r'<link\b(?=[^>]*rel="(?:stylesheet|preconnect|icon|preload)")[^>]*\bhref="([^"]+)"', html)
    assert loaded
    assert [address for address in loaded if re.match(r"(?:https?:)?//", address)] == []


def test_every_page_is_looked_at(site: Path) -> None:
    assert {page.relative_to(site).as_posix() for page in site.rglob("*.html")} == set(PAGES)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "404.html"])
def test_a_page_ends_with_a_way_to_another(site: Path, page: str) -> None:
    article = (site / page).read_text().partition("<article")[2].partition("</article>")[0]
    last_section = article.rpartition("<h2")[2]
    ways = re.findall(r'href="(\.\.?/[^"]*|[a-z][^":]*/[^":]*)"', last_section)
    assert [way for way in ways if (site / page).parent.joinpath(way.partition("#")[0].partition("?")[0]).is_dir()]
