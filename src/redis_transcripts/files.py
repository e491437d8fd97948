"""Files of the project that an example finds in its folder: ``files="lua/add.lua data/jobs.json"`` in its header."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redis_transcripts import lua
from redis_transcripts.errors import PageError, Problem
from redis_transcripts.fence import Block


@dataclass(frozen=True, slots=True)
class ProvidedFile:
    """A file by its name alone, without a folder, and what it holds."""

    name: str
    content: bytes


def provided(block: Block, root: Path) -> tuple[ProvidedFile, ...]:
    """Return the files that the header of ``block`` names, by paths relative to ``root``. Lua has its includes.

    Raises:
        PageError: a file cannot be read, its includes cannot be resolved, or two have one name.
    """
    found: dict[str, ProvidedFile] = {}
    for named in (block.keys.get("files") or "").split():
        path = root / named
        if path.name in found:
            cure = "rename one: both would lie in one folder"
            raise PageError([Problem(block.origin, f"two files with the name {path.name}", cure)])
        try:
            content = lua.read(path, root).text.encode() if path.suffix == ".lua" else path.read_bytes()
        except OSError as error:
            cure = "correct the path, which is relative to the top folder"
            raise PageError([Problem(block.origin, f"{named} cannot be read: {error.strerror}", cure)]) from error
        found[path.name] = ProvidedFile(path.name, content)
    return tuple(found.values())


def write(files: tuple[ProvidedFile, ...], folder: Path) -> None:
    """Write ``files`` into ``folder``."""
    for file in files:
        (folder / file.name).write_bytes(file.content)
