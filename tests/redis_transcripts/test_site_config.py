"""Pages are read with the Markdown extensions that the project's mkdocs.yml names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import site_config
from redis_transcripts.errors import TranscriptsError
from redis_transcripts.markdown import PageReader

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

INCLUDING_PAGE = '```redis\n--8<-- "ping.txt"\n```\n'


def test_without_mkdocs_yml_includes_are_below_the_root_of_the_project(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("ping.txt", "> PING\nPONG")
    page = write("docs/page.md", INCLUDING_PAGE)
    monkeypatch.chdir(page.parent)
    (fence,) = PageReader(tmp_path, *site_config.markdown_extensions(tmp_path, None)).read(page).fences
    assert fence.lines == ("> PING", "PONG")


def test_mkdocs_yml_says_how_pages_are_read(project: pytest.Pytester, write: Write, results_of: ResultsOf) -> None:
    write("pytest.ini", "[pytest]\nredis_pages = pages\nredis_mkdocs = site/mkdocs.yml\n")
    write(
        "site/mkdocs.yml",
        """\
        site_name: !ENV [NAME, Examples]
        plugins: [one-that-is-not-installed]
        markdown_extensions:
          - pymdownx.superfences
          - pymdownx.snippets:
              base_path: [!relative $config_dir]
        """,
    )
    write("site/ping.txt", "> PING\nPONG")
    write("pages/page.md", INCLUDING_PAGE)
    assert results_of() == {"pages/page.md::redis[PING]": "passed"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (None, "mkdocs.yml: .*No such file"),
        ("markdown_extensions: [pymdownx.nothing]\n", "mkdocs.yml: .*pymdownx.nothing"),
        ("markdown_extensions: [\n", "mkdocs.yml: .*(parsing|YAML)"),
        ("markdown_extensions: [tables]\n", "pymdownx.superfences is not among the .* add it to mkdocs.yml"),
    ],
    ids=["missing", "unknown extension", "no YAML", "no fences"],
)
def test_what_is_wrong_with_mkdocs_yml_is_said(config: str | None, message: str, tmp_path: Path, write: Write) -> None:
    if config is not None:
        write("mkdocs.yml", config)
    with pytest.raises(TranscriptsError, match=message):
        PageReader(tmp_path, *site_config.markdown_extensions(tmp_path, tmp_path / "mkdocs.yml"))


def test_a_page_tells_it_in_one_line(project: pytest.Pytester, write: Write, results_of: ResultsOf) -> None:
    write("pytest.ini", "[pytest]\nredis_pages = docs\nredis_mkdocs = mkdocs.yml\n")
    write("docs/page.md", "```redis\n> PING\nPONG\n```\n")
    (told,) = results_of().values()
    assert "mkdocs.yml" in told
    assert len(told.splitlines()) == 1
