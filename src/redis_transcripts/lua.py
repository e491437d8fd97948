"""Lua scripts as a server gets them: one text, each line of which remembers the file and line it came from.

A script asks for a file with a line ``--- @include "includes/getPriorityScore"``, which gives way to that file's lines.
The path is relative to the file that asks, with or without ``.lua``. What is asked for again is not there twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts.errors import PageError, Problem
from redis_transcripts.source import Origin, SourceLine, display_path

_SUFFIX = ".lua"
_INCLUDE = re.compile(r'--- @include "(?P<name>[^"]+)"\s*')
_ALMOST_INCLUDE = re.compile(r"\s*--+\s*@include\b")

# Measured on Redis 6.2.14, 7.0.15, 8.2.3 and Valkey 8.1.8, 9.1.2. What a script says itself may look the same, so each
# pattern takes the place where the server writes the line.
_ERRORS = (
    # Each server, about a script that does not compile.
    re.compile(r"Error compiling script \(new function\): user_script:(?P<line>\d+): "),
    # Redis 7.0 and later, and Valkey, whose 9.1 leaves out the sha.
    re.compile(r" script: (?:[0-9a-f]{40}, )?on @user_script:(?P<line>\d+)\.\Z"),
    # Redis 6.2.
    re.compile(r"Error running script \(call to f_[0-9a-f]{40}\): @user_script:(?P<line>\d+): "),
    # Redis 6.2, where redis.pcall caught it and the script returns it; later servers then name no line.
    re.compile(r"\A(?:\(error\) )?@user_script: (?P<line>\d+): "),
)


@dataclass(frozen=True, slots=True)
class Script:
    """A script whose includes are resolved."""

    lines: tuple[SourceLine, ...]

    @property
    def text(self) -> str:
        """What the server is given."""
        return "\n".join(self.lines)


def flatten(lines: Sequence[SourceLine], lua_folder: Path, root: Path) -> Script:
    """Return the script that the ``lines`` of a page's fence make.

    A line that came from a Lua file asks relative to that file, any other relative to ``lua_folder``. Origins show
    paths relative to ``root``.

    Raises:
        PageError: an include is miswritten, or its file is missing, unreadable, or includes itself.
    """
    flattening = _Flattening(lua_folder, root)
    flattening.add(lines)
    return flattening.script()


def read(path: Path, root: Path) -> Script:
    """Return the script in the file at ``path``. Origins show paths relative to ``root``.

    Raises:
        PageError: the file cannot be read as text, or an include is miswritten, or its file is missing, unreadable, or
            includes itself.
    """
    flattening = _Flattening(path.parent, root)
    flattening.add_file(path, Origin(display_path(path, root), 1), "check the path and its permissions")
    return flattening.script()


def error_origin(script: Script, message: str) -> Origin | None:
    """Return where the line stands at which the server says that ``script`` failed, or none when it names no line.

    ``message`` is the text of an error reply, whole, as the server sent it or as redis-cli prints it. A script that
    returns an error instead of raising it has no line.
    """
    for pattern in _ERRORS:
        found = pattern.search(message)
        if found:
            number = int(found["line"])
            return script.lines[number - 1].origin if 1 <= number <= len(script.lines) else None
    return None


class _Flattening:
    """One script on its way: its lines so far, the files it has, and those whose lines are being added."""

    def __init__(self, lua_folder: Path, root: Path) -> None:
        self._lua_folder = lua_folder
        self._root = root
        self._lines: list[SourceLine] = []
        self._included: set[Path] = set()
        self._open: list[Path] = []
        self._problems: list[Problem] = []

    def script(self) -> Script:
        if self._problems:
            raise PageError(self._problems)
        return Script(tuple(self._lines))

    def add(self, lines: Sequence[SourceLine]) -> None:
        for line in lines:
            include = _INCLUDE.fullmatch(line)
            if include:
                folder = self._folder(line.origin)
                cure = f"correct the path, which is relative to {self._name(folder)}"
                self.add_file(folder / (include["name"].removesuffix(_SUFFIX) + _SUFFIX), line.origin, cure)
            elif _ALMOST_INCLUDE.match(line):
                cure = 'write --- @include "includes/name" alone on its line, from the first column on'
                self._problems.append(Problem(line.origin, f"`{line.strip()}` includes nothing", cure))
            else:
                self._lines.append(line)

    def add_file(self, path: Path, asked_at: Origin, cure: str) -> None:
        """Add the lines of the file at ``path``, unless the script has them; ``cure`` is for a path that is wrong."""
        # A file may be asked for by two spellings.
        path = Path(os.path.normpath(path.absolute()))
        if path in self._open:
            circle = ", ".join(self._name(file) for file in [*self._open[self._open.index(path) :], path])
            fault = f"files include each other in a circle: {circle}"
            way_out = "move what they share into a file that includes none of them"
            self._problems.append(Problem(asked_at, fault, way_out))
        elif path not in self._included:
            self._included.add(path)
            self._open.append(path)
            self.add(self._lines_of(path, asked_at, cure))
            self._open.pop()

    def _folder(self, asked_at: Origin) -> Path:
        """The folder that an include at that place starts from."""
        return (self._root / asked_at.path).parent if asked_at.path.endswith(_SUFFIX) else self._lua_folder

    def _lines_of(self, path: Path, asked_at: Origin, cure: str) -> list[SourceLine]:
        name = self._name(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            fault = f"not UTF-8: {error.reason} at byte {error.start}"
            self._problems.append(Problem(Origin(name, 1), fault, "save it as UTF-8"))
            return []
        except OSError as error:
            self._problems.append(Problem(asked_at, f"{name} cannot be read: {error.strerror}", cure))
            return []
        lines = text.removesuffix("\n").split("\n")
        return [SourceLine(line, Origin(name, number)) for number, line in enumerate(lines, 1)]

    def _name(self, path: Path) -> str:
        return display_path(path, self._root)
