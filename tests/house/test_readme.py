"""The README keeps its word about examples and their failures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from redis_transcripts import server
from redis_transcripts.markdown import PageReader
from redis_transcripts.site_config import markdown_extensions

ROOT = Path(__file__).parents[2]


def test_the_failure_it_shows_is_the_one_a_maintainer_gets(tmp_path: Path) -> None:
    reader = PageReader(ROOT, *markdown_extensions(ROOT, ROOT / "mkdocs.yml"))
    fences = reader.read(ROOT / "README.md").fences
    example = next(fence for fence in fences if fence.header.startswith("```redis"))
    shown = next(fence for fence in fences if "the output of a failing test" in fence.header)

    lines = (ROOT / "README.md").read_text().splitlines()
    lines[example.lines[1].origin.line - 1] = "(integer) 2"
    (tmp_path / "README.md").write_text("\n".join(lines))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:valkey\nredis_mkdocs = mkdocs.yml\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "README.md"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    expected = "\n".join(shown.lines).replace("Redis 7.0.15", str(server.find(None)))
    assert run.returncode == 1
    assert expected in run.stdout
