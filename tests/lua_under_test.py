"""Lua files as the tests give them to a server: as they are, or telling which of their lines are run.

With LUA_COVERAGE set to the path of a file, every script reports the lines it reaches to that file.
"""

from __future__ import annotations

import os
from pathlib import Path

from redis_transcripts import lua, lua_coverage

ROOT = Path(__file__).parents[1]


def text(path: Path) -> str:
    """Return the script in the file at ``path``, its includes resolved."""
    script = lua.read(path, ROOT)
    return lua_coverage.instrument(script) if _log() else script.text


def server_settings() -> dict[str, str]:
    """Return the configuration directives of a server that such scripts are run on."""
    log = _log()
    return {"logfile": log} if log else {}


def _log() -> str:
    return os.environ.get("LUA_COVERAGE", "")
