"""luacheck has no complaint about any file under ``lua`` and any lua fence of the pages.

Scripts are checked as a server gets them, with their includes. A complaint names the line of the page or file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from components import require

from redis_transcripts import lua, site_config
from redis_transcripts.lua import Script
from redis_transcripts.markdown import PageReader
from redis_transcripts.source import SourceLine

_ROOT = Path(__file__).parents[2]
_LUA_FENCE = re.compile(r"(?:`{3,}|~{3,})[ \t]*lua(?![\w#.+-])")
_COMPLAINT = re.compile(r"(?P<script>\d+)\.lua:(?P<line>\d+):\d+: (?P<text>.*)")

Write = Callable[[dict[str, str]], Path]

GOOD = {
    "mkdocs.yml": """\
site_name: Pages
markdown_extensions:
  - admonition
  - pymdownx.snippets:
      base_path: [!relative $config_dir]
  - pymdownx.superfences
""",
    "lua/add.lua": '--- @include "includes/score"\nreturn score(KEYS[1])\n',
    "lua/includes/score.lua": "local function score(key)\n  return redis.call('INCR', key)\nend\n",
    "docs/page.md": "```lua\nreturn cjson.encode({ ARGV[1], bit.tohex(1), struct.size('i'), cmsgpack.pack(1) })\n```\n",
    "docs/part.md": '```lua\n--8<-- "lua/add.lua:2:2"\n```\n',
    "README.md": '```lua { title="Score" }\n--- @include "includes/score"\nreturn score(KEYS[1])\n```\n',
}
"""The files of a project without a fault."""

BAD: dict[str, tuple[dict[str, str], str]] = {
    "a fence that is no Lua": (
        {"docs/page.md": "text\n\n```lua\nlocal a = 1\nreturn = a\n```\n"},
        "docs/page.md:5: (E011) expected expression near '='",
    ),
    "a fence in an admonition": (
        {"docs/dir/page.md": '!!! note\n\n    ```lua { title="x" }\n    local a = 1\n    return 2\n    ```\n'},
        "docs/dir/page.md:4: (W211) unused variable 'a'",
    ),
    "the README": (
        {"README.md": "~~~lua\n\nreturn unknown\n~~~\n"},
        "README.md:3: (W113) accessing undefined variable 'unknown'",
    ),
    "a fence with an include": (
        {"docs/page.md": '```lua\n--- @include "includes/score"\n\nreturn score(key)\n```\n'},
        "docs/page.md:4: (W113) accessing undefined variable 'key'",
    ),
    "an include that is not used": (
        {"docs/page.md": '```lua\n--- @include "includes/score"\nreturn 1\n```\n'},
        "lua/includes/score.lua:1: (W211) unused function 'score'",
    ),
    "a file": (
        {"lua/add.lua": '--- @include "includes/score"\nscored = score(KEYS[1])\n'},
        "lua/add.lua:2: (W111) setting non-standard global variable 'scored'",
    ),
    "an included file": (
        {"lua/includes/score.lua": "local function score(key)\n  print(key)\nend\n"},
        "lua/includes/score.lua:2: (W113) accessing undefined variable 'print'",
    ),
    "an included file's second function": (
        {"lua/includes/score.lua": "local function score() end\nlocal function other() end\n"},
        "lua/includes/score.lua:2: (W211) unused function 'other'",
    ),
    "an included file without the function of its name": (
        {"lua/includes/other.lua": "-- Nothing.\n"},
        "lua/includes/other.lua:1: (W113) accessing undefined variable 'other'",
    ),
    "a file that no script includes": (
        {"lua/deep/er.lua": "redis.call = 1\n"},
        "lua/deep/er.lua:1: (W122) setting read-only field 'call' of global 'redis'",
    ),
}
"""Files that replace some of those or are added, and the complaint."""


def scripts(root: Path) -> Iterator[Script]:
    """The scripts of the project at ``root``: its Lua files, and the lua fences of its pages."""
    folder = root / "lua"
    for path in sorted(folder.rglob("*.lua")):
        script = lua.read(path, root)
        yield _used(script, path.stem) if path.is_relative_to(folder / "includes") else script
    reader = PageReader(root, *site_config.markdown_extensions(root, root / "mkdocs.yml"))
    for page in [*sorted((root / "docs").rglob("*.md")), root / "README.md"]:
        for fence in reader.read(page).fences:
            is_part_of_file = all(line.origin.path.startswith("lua/") for line in fence.lines)
            if _LUA_FENCE.match(fence.header) and not is_part_of_file:
                yield lua.flatten(fence.lines, folder, root)


def _used(include: Script, function: str) -> Script:
    """The script of an included file, which defines the function of its name, with a use of that function."""
    return Script((*include.lines, SourceLine(f"return {function}", include.lines[-1].origin)))


def complaints(root: Path, folder: Path) -> list[str]:
    """What luacheck says of the scripts of the project at ``root``, written into ``folder`` for it."""
    require(shutil.which("luacheck") is not None, "luacheck is missing: install Debian's package lua-check")
    checked = list(scripts(root))
    for number, script in enumerate(checked):
        (folder / f"{number}.lua").write_text(script.text + "\n", encoding="utf-8")
    options = ["--config", str(_ROOT / ".luacheckrc"), "--formatter", "plain", "--codes", "--no-color"]
    files = [f"{number}.lua" for number in range(len(checked))]
    run = subprocess.run(
        ["luacheck", *options, "--", *files], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    found = []
    for told in run.stdout.splitlines():
        complaint = _COMPLAINT.fullmatch(told)
        assert complaint, told
        line = checked[int(complaint["script"])].lines[int(complaint["line"]) - 1]
        found.append(f"{line.origin}: {complaint['text']}")
    assert run.returncode == 0 or found, run.stderr
    # Several scripts may include the file that has the fault.
    return list(dict.fromkeys(found))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the project without a fault, some of its files replaced, and returns its folder."""

    def write_project(files: dict[str, str]) -> Path:
        root = tmp_path / "project"
        for name, text in {**GOOD, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return root

    return write_project


def test_luacheck_has_no_complaint(tmp_path: Path) -> None:
    assert complaints(_ROOT, tmp_path) == []


def test_what_has_no_fault(write: Write, tmp_path: Path) -> None:
    assert complaints(write({}), tmp_path) == []


@pytest.mark.parametrize(("files", "complaint"), BAD.values(), ids=BAD)
def test_a_fault_is_told_at_its_own_line(files: dict[str, str], complaint: str, write: Write, tmp_path: Path) -> None:
    assert complaints(write(files), tmp_path) == [complaint]
