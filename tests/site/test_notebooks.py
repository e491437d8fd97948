"""Notebooks: executed once for each state of what they rest on, and shown like every other page."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from components import require
from playwright.sync_api import Browser, Page

from priority_site.kernel import NotebookError
from priority_site.notebooks import Project, execute, executed
from redis_transcripts.server import EMBEDDED, Server, find

ROOT = Path(__file__).parents[2]
LIMITS = ROOT / "docs/priority/limits.ipynb"

COUNT_RUNS = """
import os
from redis import Redis
from snippets.words import WORD
redis = Redis.from_url(os.environ["REDIS_URL"])
print(WORD, redis.incr(os.getcwd()))
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets/words.py").write_text("WORD = 'run'\n")
    return Project(tmp_path, tmp_path / "docs")


def write(project: Project, *cells: str, name: str = "page.ipynb") -> Path:
    """A notebook whose first cell is text, and whose others are the code of ``cells``."""
    text = {"cell_type": "markdown", "id": "c1", "metadata": {}, "source": "# Title"}
    code: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {},
            "source": source.strip(),
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(cells, start=2)
    ]
    path = project.docs / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [text, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def printed(copy: Path) -> list[str]:
    """What the cells of an executed copy printed."""
    cells = json.loads(copy.read_text())["cells"]
    return ["".join(output["text"]).strip() for cell in cells for output in cell.get("outputs", [])]


# When a notebook is executed


def test_a_notebook_is_executed_once(project: Project, redis_url: str) -> None:
    notebook = write(project, COUNT_RUNS)
    assert [execute(project, notebook, redis_url) for _ in range(3)] == [True, False, False]
    assert printed(executed(project, notebook)) == ["run 1"]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "snippets/words.py").write_text("WORD = 'changed'\n"),
        lambda root: (root / "snippets/new.py").touch(),
        lambda root: (root / "lua").mkdir() or (root / "lua/new.lua").touch(),
        lambda root: write(Project(root, root / "docs"), COUNT_RUNS, "print('second')"),
    ],
    ids=["a snippet", "a new snippet", "a script", "the notebook"],
)
def test_a_change_of_what_a_notebook_rests_on_executes_it_again(
    project: Project, redis_url: str, change: Callable[[Path], object]
) -> None:
    notebook = write(project, COUNT_RUNS)
    execute(project, notebook, redis_url)
    change(project.root)
    with pytest.raises(NotebookError, match=r"^docs/page.ipynb: not executed since it changed; run `make site`$"):
        executed(project, notebook)
    assert execute(project, notebook, redis_url)
    assert printed(executed(project, notebook))[0].endswith(" 2")


@pytest.mark.long
def test_another_server_executes_a_notebook_again(project: Project, redis_url: str) -> None:
    require(
        find(None) != find(EMBEDDED), "only the embedded Valkey; install another (Debian: apt-get install redis-server)"
    )
    other = Server(find(EMBEDDED))
    notebook = write(project, COUNT_RUNS)
    try:
        addresses = [redis_url, other.url, other.url, redis_url]
        assert [execute(project, notebook, address) for address in addresses] == [True, True, False, True]
    finally:
        other.stop()


def test_copies_that_editors_keep_are_not_pages(project: Project) -> None:
    write(project, "1", name="part/.ipynb_checkpoints/page-checkpoint.ipynb")
    page = write(project, "1", name="part/page.ipynb")
    assert project.notebooks() == [page]


def test_what_a_user_configured_has_no_part_in_it(
    project: Project, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    startup = project.root / "home/.ipython/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "mine.py").write_text("MINE = 1\n")
    spec = project.root / "home/.local/share/jupyter/kernels/python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["/nowhere"], "display_name": "mine", "language": "python"}')
    monkeypatch.setenv("HOME", str(project.root / "home"))
    notebook = write(project, "import sys\nprint('MINE' in globals(), sys.prefix)")
    execute(project, notebook, redis_url)
    assert printed(executed(project, notebook)) == [f"False {sys.prefix}"]


# When that fails


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('first line\\nlast line')", "last line"),
        ("if:", r"invalid syntax \(.*\)"),
        ("assert 1 == 2", "AssertionError:?"),
        ("import os\nos._exit(1)", "the cell ended its kernel"),
        (
            "from IPython.display import Image\nImage(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(24), alt='a plot')",
            "pages do not show image/png; print text, or display HTML that holds SVG with a title",
        ),
    ],
)
def test_a_cell_that_fails_is_named_with_the_last_line_of_its_error(
    project: Project, redis_url: str, code: str, fault: str
) -> None:
    notebook = write(project, "print(1)", code)
    with pytest.raises(NotebookError, match=rf"^docs/page.ipynb, cell 3: (\w+: )?{fault}$"):
        execute(project, notebook, redis_url)
    with pytest.raises(NotebookError, match="not executed"):
        executed(project, notebook)


def test_a_file_that_is_no_notebook_is_named(project: Project, redis_url: str) -> None:
    notebook = write(project, "1")
    notebook.write_text("{")
    with pytest.raises(NotebookError, match=r"^docs/page.ipynb: cannot be read as a notebook: "):
        execute(project, notebook, redis_url)


def test_a_server_that_does_not_answer_is_named(project: Project) -> None:
    with pytest.raises(NotebookError, match=r"^no server for the notebooks at redis://127.0.0.1:1: "):
        execute(project, write(project, "1"), "redis://127.0.0.1:1")


def step(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "priority_site.notebooks"]
    inherited = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    return subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


def test_the_step_says_what_it_executed_and_then_nothing(project: Project, redis_url: str) -> None:
    write(project, "print(1)", name="part/page.ipynb")
    first, second = (step(project.root, REDIS_URL=redis_url) for _ in range(2))
    assert re.fullmatch(r"Executed docs/part/page.ipynb in \d+\.\d s\n", first.stdout)
    assert (first.returncode, first.stderr) == (0, "")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


def test_the_step_fails_with_one_line(project: Project, redis_url: str) -> None:
    write(project, "1 / 0")
    failed = step(project.root, REDIS_URL=redis_url)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "docs/page.ipynb, cell 2: ZeroDivisionError: division by zero\n"


def test_the_step_says_how_to_give_it_a_server(project: Project) -> None:
    assert (
        step(project.root).stderr == "REDIS_URL is not set; run `make site`, which starts a server for the notebooks\n"
    )


def test_a_build_without_the_executed_copy_fails_with_one_line(project: Project) -> None:
    write(project, "1")
    (project.root / "mkdocs.yml").write_text(f"site_name: x\nhooks: [{ROOT / 'src/priority_site/mkdocs_hooks.py'}]\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    run = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "ERROR   -  docs/page.ipynb: not executed since it changed; run `make site`" in run.stderr.splitlines()


# What is committed


@pytest.mark.parametrize("notebook", Project(ROOT, ROOT / "docs").notebooks(), ids=lambda path: path.name)
def test_a_notebook_is_kept_without_output(notebook: Path) -> None:
    content = json.loads(notebook.read_text())
    assert content["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []
    assert [cell for cell in content["cells"] if cell["metadata"].keys() - {"tags"}] == []


# What is shown


@pytest.fixture(scope="module")
def limits(site: Path) -> str:
    """The built page, as HTML of its article."""
    page = (site / "priority/limits/index.html").read_text()
    return page[page.index("<article") : page.index("</article>")]


def blocks(article: str) -> list[str]:
    found = re.findall(r"<pre>(.*?)</pre>", article, re.DOTALL)
    return [html.unescape(re.sub("<[^>]+>", "", block)).strip("\n") for block in found]


def test_the_page_shows_each_cell_and_what_it_printed_once_and_unchanged(limits: str) -> None:
    cells = [cell for cell in json.loads(LIMITS.read_text())["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells if "hide-input" not in cell["metadata"].get("tags", [])]
    assert len(sources) == 2
    *shown, output = blocks(limits)
    assert shown == sources
    rows = [line.split() for line in output.splitlines()]
    assert rows[0] == ["priority", "Python", "server"]
    known = {2097151: 1000, 2097152: 501, 4194304: 251, 10**9: 3, 2**31 - 1: 2, 2**31: 1}
    assert {int(row[0]): int(row[1]) for row in rows[1:] if int(row[0]) in known} == known
    assert all(row[1] == row[2] for row in rows[1:])


def test_its_code_is_highlighted_like_all_code(limits: str) -> None:
    assert limits.count('<div class="language-python highlight">') == 2
    assert limits.count('<div class="language-output highlight">') == 1
    assert '<span class="k">def</span>' in limits
    assert '<span class="go">   2097152     501     501</span>' in limits


def test_its_figure_says_what_it_shows(limits: str) -> None:
    svg = limits[limits.index("<svg") : limits.index("</svg>")]
    assert 'role="img" aria-labelledby="distinct-title distinct-description"' in svg
    assert '<title id="distinct-title">Distinct scores of 1000 jobs, by priority</title>' in svg
    description = "A line that stays at 1000 scores up to priority 2097151, falls to 501 at 2097152, "
    assert f'<desc id="distinct-description">{description}' in svg


def test_it_brings_no_style_no_script_and_no_other_host(site: Path, limits: str) -> None:
    assert re.findall(r"<(?:style|script)\b|\bstyle=", limits) == []
    page = (site / "priority/limits/index.html").read_text()
    assert re.findall(r'\b(?:src|srcset)="(?:https?:)?//', page) == []
    ordinary = (site / "priority/packing/index.html").read_text()
    assert re.findall(r"<script\b[^>]*>", page) == re.findall(r"<script\b[^>]*>", ordinary)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    yield opened
    opened.close()


def test_it_asks_no_other_host(page: Page, site_url: str) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(site_url + "priority/limits/", wait_until="networkidle")
    assert [url for url in requested if not url.startswith((site_url, "data:", "blob:"))] == []


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_it_has_not_to_be_scrolled_sideways(page: Page, site_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(site_url + "priority/limits/")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = "[...document.querySelectorAll('pre, pre code, svg')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.evaluate(wide) == 0


@pytest.mark.parametrize(("scheme", "hue"), [("light", "rgb(154, 74, 0)"), ("dark", "rgb(255, 179, 92)")])
def test_its_figure_has_the_colours_of_the_scheme(browser: Browser, site_url: str, scheme: str, hue: str) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    page.goto(site_url + "priority/limits/")
    assert page.evaluate("getComputedStyle(document.querySelector('figure path.counter')).stroke") == hue
    text, ground = page.evaluate(
        "[getComputedStyle(document.querySelector('figure text:not([class])')).fill,"
        " getComputedStyle(document.querySelector('article')).color]"
    )
    assert text == ground
    context.close()


@pytest.mark.long
def test_two_builds_are_the_same_byte_for_byte_from_the_run_of_the_notebooks_on(
    tmp_path: Path, copy_sources: Callable[[Path], None], redis_url: str
) -> None:
    built = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        copy_sources(folder)
        assert step(folder, REDIS_URL=redis_url).returncode == 0
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1760000000"}
        command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        files = [file for file in (folder / "site").rglob("*") if file.is_file()]
        built.append({file.relative_to(folder): file.read_bytes() for file in files})
    first, second = built
    assert Path("site/priority/limits/index.html") in first
    assert [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)] == []
