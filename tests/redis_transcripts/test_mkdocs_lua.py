"""The scripts that a site offers: in one piece, with the licence on top, or no site at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from redis_transcripts import mkdocs_lua

HOOK = mkdocs_lua.__file__
FILES = {
    "docs/index.md": "[take](lua/take.lua)\n",
    "lua/take.lua": '-- Take.\n--- @include "includes/pop"\nreturn pop(KEYS[1])\n',
    "lua/add.lua": '--- @include "includes/pop"\nreturn pop(KEYS[2])\n',
    "lua/includes/pop.lua": "local function pop(key)\n  return redis.call('ZPOPMIN', key)\nend\n",
}
POP = FILES["lua/includes/pop.lua"]

Build = Callable[..., Path]


@pytest.fixture
def build_site(tmp_path: Path) -> Build:
    """Writes the files, builds the site strictly, and returns its folder."""

    def write_and_build(copyright_line: str = "copyright: MIT, somebody\n", **replaced: str) -> Path:
        config = f"site_name: Site\n{copyright_line}hooks: ['{HOOK}']\nstrict: true\n"
        files = {**FILES, **{name.replace("__", "/") + ".lua": text for name, text in replaced.items()}}
        for name, text in {"mkdocs.yml": config, **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        build(load_config(str(tmp_path / "mkdocs.yml")))
        return tmp_path / "site"

    return write_and_build


def test_a_script_is_offered_in_one_piece_behind_the_licence(build_site: Build) -> None:
    site = build_site()
    assert (site / "lua/take.lua").read_text() == f"-- MIT, somebody\n-- Take.\n{POP}return pop(KEYS[1])\n"
    assert sorted(path.name for path in (site / "lua").iterdir()) == ["add.lua", "take.lua"]


def test_the_licence_is_one_comment_however_it_is_written(build_site: Build) -> None:
    site = build_site("copyright: |\n  MIT,\n  somebody\n")
    assert (site / "lua/add.lua").read_text().startswith("-- MIT, somebody\nlocal function pop")


def test_a_site_without_a_licence_offers_the_script_alone(build_site: Build) -> None:
    assert (build_site("") / "lua/add.lua").read_text() == f"{POP}return pop(KEYS[2])\n"


def test_an_include_that_cannot_be_resolved_stops_the_build_with_one_error(
    build_site: Build, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Abort):
        build_site(lua__take='-- Take.\n--- @include "includes/push"\n')
    [error] = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    fault = "lua/take.lua:2: lua/includes/push.lua cannot be read: No such file or directory"
    assert f"{fault}; correct the path, which is relative to lua" in error


def test_a_fault_of_an_included_file_is_told_once(build_site: Build, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Abort):
        build_site(lua__includes__pop='local a\n-- @include "push"\n')
    told = "\n".join(record.getMessage() for record in caplog.records)
    assert told.count('lua/includes/pop.lua:2: `-- @include "push"` includes nothing') == 1
