"""Keeps an executed copy of each notebook, which MkDocs renders, and executes a notebook when what it rests on changes.

``REDIS_URL=... python -m priority_site.notebooks`` brings all copies of the site in the current folder up to date.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from priority_site import kernel
from priority_site.kernel import NotebookError

SOURCES = ("snippets", "lua")
"""The folders beside ``docs`` whose files a page may show, and a notebook may use."""

_COPIES = Path(".cache/notebooks")
_METADATA = "priority_site"
_SERVER_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Project:
    """The site in the folder ``root``, with its pages in ``docs``."""

    root: Path
    docs: Path

    def notebooks(self) -> list[Path]:
        """Return the notebooks among the pages; editors keep copies in folders that begin with a dot."""
        found = self.docs.rglob("*.ipynb")
        return sorted(path for path in found if not _is_hidden(path.relative_to(self.docs)))


@dataclass(frozen=True, slots=True)
class _Key:
    """What the output of a notebook rests on: the digest of the files, and product and version of the server."""

    sources: str
    server: str


def executed(project: Project, notebook: Path) -> Path:
    """Return the executed copy of ``notebook``, on whatever server it was executed.

    Raises:
        NotebookError: there is none of the notebook as it is now.
    """
    copy = _copy(project, notebook)
    key = _key_of(copy)
    if key is None or key.sources != _digest(project, notebook):
        raise NotebookError(f"{notebook.relative_to(project.root)}: not executed since it changed; run `make site`")
    return copy


def execute(project: Project, notebook: Path, address: str) -> bool:
    """Bring the executed copy of ``notebook`` up to date with the server at ``address``; tell whether that took a run.

    Raises:
        NotebookError: the server does not answer, or the notebook cannot be executed.
    """
    key = _Key(_digest(project, notebook), _name_of_server(address))
    copy = _copy(project, notebook)
    if _key_of(copy) == key:
        return False
    content = kernel.run(notebook, project.root, address)
    content.metadata[_METADATA] = asdict(key)
    copy.parent.mkdir(parents=True, exist_ok=True)
    # A build in another process sees the old copy or the new one, never a part.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=copy.parent, delete=False) as new:
        new.write(nbformat.writes(content))  # type: ignore[no-untyped-call]
    Path(new.name).replace(copy)
    return True


def main() -> None:
    """Execute what has changed, and say what that was; a notebook that fails ends it with one line."""
    address = os.environ.get("REDIS_URL")
    if not address:
        sys.exit("REDIS_URL is not set; run `make site`, which starts a server for the notebooks")
    root = Path.cwd()
    project = Project(root, root / "docs")
    for notebook in project.notebooks():
        began = time.monotonic()
        try:
            has_run = execute(project, notebook, address)
        except NotebookError as error:
            sys.exit(str(error))
        if has_run:
            print(f"Executed {notebook.relative_to(root)} in {time.monotonic() - began:.1f} s")


def _copy(project: Project, notebook: Path) -> Path:
    return project.root / _COPIES / notebook.relative_to(project.docs)


def _key_of(copy: Path) -> _Key | None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return _Key(**json.loads(copy.read_bytes())["metadata"][_METADATA])
    return None


def _digest(project: Project, notebook: Path) -> str:
    digest = hashlib.sha256()
    for name, file in _files(project, notebook):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(project: Project, notebook: Path) -> Iterator[tuple[str, Path]]:
    """Return the files that a notebook's output rests on, each with a name that is the same in every checkout."""
    yield "notebook", notebook
    # The figures are drawn here.
    package = Path(__file__).parent
    folders = [(project.root / name, name) for name in SOURCES] + [(package, package.name)]
    for folder, name in folders:
        for file in sorted(folder.rglob("*")):
            inner = file.relative_to(folder)
            if file.is_file() and not _is_hidden(inner) and "__pycache__" not in inner.parts:
                yield f"{name}/{inner.as_posix()}", file


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _name_of_server(address: str) -> str:
    try:
        with Redis.from_url(address, socket_timeout=_SERVER_SECONDS, retry=Retry(NoBackoff(), 0)) as client:
            told = client.info("server")
    except (RedisError, ValueError) as error:
        raise NotebookError(f"no server for the notebooks at {address}: {error}") from error
    return f"{told.get('server_name', 'redis')} {told.get('valkey_version', told['redis_version'])}"


if __name__ == "__main__":
    main()
