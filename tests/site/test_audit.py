"""Nothing that looks like code stands on the built site without having been run, or saying why not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import audit
import pytest
from components import require

from priority_site.notebooks import Project, executed
from redis_transcripts import fence, server, site_config
from redis_transcripts.markdown import PageReader
from redis_transcripts.servers import Servers, uses_redis_cli

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


@pytest.fixture(scope="module")
def reader() -> PageReader:
    return PageReader(ROOT, *site_config.markdown_extensions(ROOT, ROOT / "mkdocs.yml"))


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    running = Servers(server.find(None))
    yield running
    running.stop()


def built(site: Path, page: str) -> Path:
    """The file that MkDocs makes of a page."""
    path = Path(page)
    return site / path.parent / ("" if path.stem == "index" else path.stem) / "index.html"


def test_every_built_page_has_a_source_that_is_audited(site: Path) -> None:
    notebooks = {built(site, notebook.relative_to(DOCS).as_posix()) for notebook in DOCS.rglob("*.ipynb")}
    pages = {built(site, page) for page in PAGES}
    assert set(site.rglob("*.html")) == pages | notebooks | {site / "404.html"}
    assert audit.shown_code((site / "404.html").read_text()) == []


@pytest.mark.parametrize("page", PAGES)
def test_all_code_of_a_page_was_run_or_says_why_not(
    site: Path, page: str, reader: PageReader, servers: Servers
) -> None:
    html = built(site, page).read_text()
    assert "<pre" in html
    blocks = fence.blocks(reader.read(DOCS / page).fences)
    lacks_redis_cli = any(map(uses_redis_cli, blocks)) and not shutil.which("redis-cli")
    require(not lacks_redis_cli, "no redis-cli on PATH; install it (Debian: apt-get install redis-server)")
    assert audit.unaccounted(html, DOCS / page, reader, ROOT / "lua", servers) == []


def test_all_code_of_a_notebook_was_executed(site: Path) -> None:
    project = Project(ROOT, DOCS)
    for notebook in project.notebooks():
        html = built(site, notebook.relative_to(DOCS).as_posix()).read_text()
        assert len(audit.shown_code(html)) > 1
        assert audit.unexecuted(html, executed(project, notebook)) == []
        assert audit.unexecuted(html + "<pre>x = 1</pre>", executed(project, notebook)) == ["x = 1"]


@pytest.mark.long
def test_every_shown_line_of_a_lua_file_is_reached_by_its_tests(reader: PageReader, tmp_path: Path) -> None:
    parts = [line for page in PAGES for line in audit.shown_parts(DOCS / page, reader)]
    reached = audit.reached_by_tests(ROOT, tmp_path / "lua.log")
    assert reached, "the tests of the Lua files report no line"
    assert audit.unreached(parts, ROOT, reached) == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "lua").mkdir()
    (tmp_path / "lua/take.lua").write_text("local a = 1\nif a == 2 then\n  a = 3\nend\nreturn a\n")
    (tmp_path / "page.md").write_text(
        "```redis\n> PING\nPONG\n```\n\n"
        '```lua { title="All" }\n--8<-- "lua/take.lua"\n```\n\n'
        '```text { static="a drawing" }\n-->\n```\n'
    )
    return tmp_path


@pytest.fixture
def project_reader(project: Path) -> PageReader:
    return PageReader(project, *site_config.markdown_extensions(project, None))


CODE = [
    "<pre>&gt; PING\nPONG\n</pre>",
    "<pre>local a = 1\nif a == 2 then\n  a = 3\nend\nreturn a\n</pre>",
    "<pre>--&gt;</pre>",
]


def test_code_that_is_run_included_or_explained_is_accounted_for(
    project: Path, project_reader: PageReader, servers: Servers
) -> None:
    html = "".join(CODE)
    assert audit.unaccounted(html, project / "page.md", project_reader, project / "lua", servers) == []


@pytest.mark.parametrize(
    "stray",
    ["<pre>> DEL jobs</pre>", "<pre>&gt; PING\nPONG\n</pre>", "<pre><code>x = 1</code></pre>"],
    ids=["another block", "a block twice", "code of a plugin"],
)
def test_code_of_which_nothing_is_known_is_found(
    project: Path, project_reader: PageReader, servers: Servers, stray: str
) -> None:
    html = "".join(CODE) + stray
    found = audit.unaccounted(html, project / "page.md", project_reader, project / "lua", servers)
    assert found == audit.shown_code(stray)


def test_an_example_that_is_not_true_is_not_accounted_for(
    project: Path, project_reader: PageReader, servers: Servers
) -> None:
    (project / "page.md").write_text("```redis\n> PING\nPANG\n```\n")
    html = "<pre>> PING\nPANG</pre>"
    found = audit.unaccounted(html, project / "page.md", project_reader, project / "lua", servers)
    assert found == ["> PING\nPANG"]


def test_an_example_that_comes_to_no_end_is_not_accounted_for(
    project: Path, project_reader: PageReader, servers: Servers
) -> None:
    (project / "page.md").write_text('```python\nraise SystemError("no")\n```\n')
    html = '<pre>raise SystemError("no")</pre>'
    found = audit.unaccounted(html, project / "page.md", project_reader, project / "lua", servers)
    assert found == ['raise SystemError("no")']


def test_a_shown_line_that_no_test_reaches_is_found(project: Path, project_reader: PageReader) -> None:
    parts = audit.shown_parts(project / "page.md", project_reader)
    statements = {line.origin for line in parts if line.strip() != "end"}
    assert audit.unreached(parts, project, statements) == []
    missed = next(line.origin for line in parts if line == "  a = 3")
    assert audit.unreached(parts, project, statements - {missed}) == [missed]
