"""The built site, and a browser to look at it."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from components import require
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from priority_site.notebooks import Project, execute
from redis_transcripts.server import Server, find

ROOT = Path(__file__).parents[2]
PROJECT = Project(ROOT, ROOT / "docs")

# What keeps a headless Chromium from asking for anything but the page.
_CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: a test reads what the browser saw."""


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a server for notebooks."""
    running = Server(find(None))
    yield running.url
    running.stop()


@pytest.fixture(scope="session")
def executed_notebooks(redis_url: str) -> None:
    """The copies that a build needs are there."""
    for notebook in PROJECT.notebooks():
        execute(PROJECT, notebook, redis_url)


@pytest.fixture(scope="session")
def site(executed_notebooks: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a strict build."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture
def copy_sources() -> Callable[[Path], None]:
    """Copies what the site is built from into a new folder, where a test may edit it."""

    def copy(folder: Path) -> None:
        for part in ("docs", "lua", "snippets", "src/priority_site", "src/redis_transcripts"):
            shutil.copytree(ROOT / part, folder / part)
        shutil.copy(ROOT / "mkdocs.yml", folder)

    return copy


@pytest.fixture(scope="session")
def site_url(site: Path) -> Iterator[str]:
    """The address of a server that serves the built site."""
    handler = functools.partial(_QuietHandler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright. While it is there no test can run an event loop of its own."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or ""
    require(bool(chromium), "no chromium on PATH; install it (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=_CHROMIUM_FLAGS)
        yield running
        running.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A reader's browser, which may copy."""
    opened = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()
