"""What every page owes its reader: a length to read in one go, code that can be taken along, and a way on."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from components import require

from redis_transcripts import examples, files, server
from redis_transcripts.examples import Example, LuaExample, PythonExample
from redis_transcripts.markdown import PageReader
from redis_transcripts.site_config import markdown_extensions

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
SNIPPETS = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "snippets").rglob("*.py"))
# Its two lines of Python show the grammar, nothing to take along.
WITHOUT_SNIPPETS = ["reference/tested.md"]


def examples_of(page: str) -> tuple[Example, ...]:
    reader = PageReader(ROOT, *markdown_extensions(ROOT, ROOT / "mkdocs.yml"))
    return examples.read(reader, DOCS / page, ROOT / "lua")


def page_of(snippet: str) -> str:
    """The page that the path of a snippet mirrors."""
    folder = Path(snippet).parent.relative_to("snippets").as_posix()
    return f"{folder.replace('_', '-')}.md"


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    running = server.Server(server.find(None))
    yield running.url
    running.stop()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_at_most_2500_words_long(page: str) -> None:
    assert len((DOCS / page).read_text().split()) <= 2500


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WITHOUT_SNIPPETS])
def test_the_python_of_a_page_is_whole_files_whose_path_mirrors_it(page: str) -> None:
    for example in examples_of(page):
        if isinstance(example, PythonExample):
            (file,) = {line.origin.path for line in example.block.lines}
            assert file in SNIPPETS
            assert page_of(file) == page
            assert "\n".join(example.block.lines).strip() == (ROOT / file).read_text().strip()


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_runs_alone_in_an_empty_folder_as_its_page_shows(
    snippet: str, tmp_path: Path, redis_url: str
) -> None:
    (example,) = [
        example
        for example in examples_of(page_of(snippet))
        if isinstance(example, PythonExample) and example.block.lines[0].origin.path == snippet
    ]
    files.write(example.files, tmp_path)
    copy = shutil.copy(ROOT / snippet, tmp_path)
    run = subprocess.run(
        # Without the folders of this environment's settings, but with that of the program.
        [sys.executable, "-s", "-E", copy],
        cwd=tmp_path,
        env=os.environ | {"REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stderr, run.returncode) == ("", 0)
    assert run.stdout.splitlines() == list(map(str, example.shown))


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_has_a_test_of_what_its_page_promises(snippet: str) -> None:
    path = Path(snippet)
    module = ".".join(path.with_suffix("").parts)
    files_of_tests = (ROOT / "tests" / path.parent).glob("test_*.py")
    assert [name for file in files_of_tests for name in uses_in(module, ast.parse(file.read_text()))]


def uses_in(module: str, file: ast.Module) -> list[str]:
    """The tests in a file that assert something and use a name of that module."""
    names = {
        alias.asname or alias.name
        for node in ast.walk(file)
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    }
    return [
        test.name
        for test in file.body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        if any(isinstance(node, ast.Assert) for node in ast.walk(test))
        if any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(test))
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_last_example_of_a_page_runs_alone_in_an_empty_folder(page: str, tmp_path: Path) -> None:
    block = (example := examples_of(page)[-1]).block
    code = example.script.lines if isinstance(example, LuaExample) else block.lines
    fences = [[block.header, *code, "```"]]
    if block.answer:
        fences.append([block.answer.header, *block.answer.lines, "```"])
    (tmp_path / "alone.md").write_text("\n\n".join("\n".join(fence) for fence in fences) + "\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:valkey", "alone.md"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in run.stdout, run.stdout


def test_a_script_runs_by_the_command_that_the_page_gives(tmp_path: Path, redis_url: str) -> None:
    redis_cli = shutil.which("redis-cli")
    require(bool(redis_cli), "no redis-cli on PATH; install it (Debian: apt-get install redis-server)")
    page = (DOCS / "priority/packing.md").read_text()
    (command,) = re.findall(r"^\$ redis-cli (--eval .*)$", page, re.M)
    (example,) = [one for one in examples_of("priority/packing.md") if one.block.title == "The score of a job"]
    assert isinstance(example, LuaExample)
    (tmp_path / "score.lua").write_text(example.script.text)
    run = subprocess.run(
        [str(redis_cli), "--no-raw", "-u", redis_url, *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == list(map(str, example.shown))
