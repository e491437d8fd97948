"""``make serve``: what a writer sees while editing."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from playwright.sync_api import TimeoutError as BrowserTimeoutError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, copy_sources: Callable[[Path], None], executed_notebooks: None) -> Path:
    """A copy of the site's sources, which a test may edit, with the notebooks already executed."""
    copy_sources(tmp_path)
    shutil.copytree(ROOT / ".cache/notebooks", tmp_path / ".cache/notebooks")
    return tmp_path


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def served(project: Path, redis_url: str) -> Iterator[str]:
    port = _free_port()
    serve = subprocess.Popen(
        [sys.executable, "-m", "priority_site.serve", "--port", str(port)],
        cwd=project,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "REDIS_URL": redis_url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and serve.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                break
        except OSError:
            time.sleep(0.1)
    yield url
    serve.send_signal(signal.SIGINT)
    assert serve.wait(timeout=10) == 0


def test_the_hub_answers(served: str) -> None:
    with urllib.request.urlopen(served, timeout=5) as answer:
        assert "What comes out next?" in answer.read().decode()


def test_an_edit_shows_in_the_browser_within_three_seconds(project: Path, served: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(served, wait_until="load")
    # The page asks for changes only a moment after it has loaded.
    page.wait_for_timeout(500)
    hub = project / "docs/index.md"
    written = hub.read_text()
    # Beside other tests a build may have to wait. It does not do so each time.
    shown: list[bool] = []
    while not any(shown) and len(shown) < 4:
        title = f"What comes out at edit {len(shown) + 1}?"
        hub.write_text(written.replace("# What comes out next?", f"# {title}"))
        shown.append(is_shown(page, title, milliseconds=3000))
    page.close()
    assert any(shown)


def is_shown(page: Page, title: str, milliseconds: int) -> bool:
    """Whether the heading comes in that time; else it has come when this returns, later than that."""
    heading = page.get_by_role("heading", name=title)
    try:
        heading.wait_for(timeout=milliseconds)
    except BrowserTimeoutError:
        heading.wait_for(timeout=60_000)
        return False
    return True


def test_an_edit_to_a_notebook_runs_it_again_and_shows_in_the_browser(
    project: Path, served: str, browser: Browser
) -> None:
    page = browser.new_page()
    page.goto(served + "priority/limits/", wait_until="load")
    page.wait_for_timeout(500)
    notebook = project / "docs/priority/limits.ipynb"
    notebook.write_text(notebook.read_text().replace("JOBS = 1000", "JOBS = 100"))
    page.get_by_text("2097152      51      51").wait_for(timeout=10_000)
    page.close()


def test_an_edit_to_an_included_function_shows_in_the_scripts_that_have_it(project: Path, served: str) -> None:
    edited = "local function wakeWorker() end -- edited\n"
    (project / "lua/includes/wakeWorker.lua").write_text(edited)
    deadline = time.monotonic() + 20
    text = ""
    while edited not in text and time.monotonic() < deadline:
        time.sleep(0.1)
        # It is not answered while the site is built.
        with urllib.request.urlopen(served + "lua/moveToActive-11.lua", timeout=20) as answer:
            text = answer.read().decode()
    assert edited in text


def test_a_taken_port_is_one_clear_line(project: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        serve = subprocess.run(
            [sys.executable, "-m", "priority_site.serve", "--port", str(port)],
            cwd=project,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert serve.returncode == 1
    assert serve.stderr == f"Port {port} is taken: end what listens there, or run make serve PORT={port + 1}.\n"
