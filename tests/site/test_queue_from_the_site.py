"""A reader of the built site can work a queue with what its page names, copied into an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import audit
import pytest


@pytest.fixture
def page(site: Path) -> str:
    return (site / "priority/queue/index.html").read_text()


def copied(page: str, beginning: str) -> str:
    """The text of the code block that begins so."""
    (text,) = [code for code in audit.shown_code(page) if code.startswith(beginning)]
    return f"{text}\n"


def named_scripts(page: str) -> list[str]:
    """The scripts that the page says the program needs."""
    (said,) = re.findall(r"For the program\s+above: (.*?)\.\s", unescape(page), re.S)
    return re.split(r",\s+|\s+and\s+", said)


def run(page: str, folder: Path, redis_url: str) -> subprocess.CompletedProcess[str]:
    """Copy the two programs of the page into ``folder`` and run the one that works the six jobs."""
    (folder / "priority_queue.py").write_text(copied(page, '"""A priority queue in Redis or Valkey'))
    (folder / "work.py").write_text(copied(page, '"""Adds the six jobs to a queue'))
    return subprocess.run(
        [sys.executable, "-s", "-E", "work.py"],
        cwd=folder,
        env=os.environ | {"REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        check=False,
    )


def test_add_take_and_complete_with_what_the_page_names(page: str, site: Path, tmp_path: Path, redis_url: str) -> None:
    scripts = named_scripts(page)
    assert len(scripts) == 8
    for script in scripts:
        shutil.copy(site / f"lua/{script}.lua", tmp_path)
    worked = run(page, tmp_path, redis_url)
    assert (worked.stderr, worked.returncode) == ("", 0)
    assert worked.stdout == copied(page, "waiting in tiers 1, 2, 3")


def test_a_script_that_was_forgotten_is_named(page: str, tmp_path: Path, redis_url: str) -> None:
    failed = run(page, tmp_path, redis_url)
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].endswith(
        "ScriptMissingError: addPrioritizedJob-9.lua: No such file or directory; copy it there, or correct scripts="
    )
