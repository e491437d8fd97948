"""The connections of a page, and the clean server state it starts from."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from redis_transcripts.connection import Connection, Endpoint
from redis_transcripts.errors import ProtocolError
from redis_transcripts.outcome import SessionLostError
from redis_transcripts.resp import Kind, Reply

REPLY_SECONDS = 10.0
"""How long a reply may take before it counts as missing."""

# What they do may outlive FLUSHALL (CLIENT PAUSE, say), so the page after them gets a new server.
_LASTING_COMMANDS = {
    b"acl",
    b"client",
    b"cluster",
    b"config",
    b"debug",
    b"failover",
    b"module",
    b"replicaof",
    b"shutdown",
    b"slaveof",
}


def is_lasting(arguments: Sequence[bytes]) -> bool:
    """Whether what a command does may outlive the emptying of its server."""
    return arguments[0].lower() in _LASTING_COMMANDS


class RunningServer(Protocol):
    """What a session needs of a server, whoever started it."""

    @property
    def login(self) -> tuple[tuple[bytes, ...], ...]:
        """The commands that each new connection sends first."""

    @property
    def url(self) -> str:
        """The address as clients take it, with what they need to log in."""

    def address(self) -> Endpoint:
        """Host and port; a server that does not run is started, where the run may do so."""

    def describe_end(self) -> str:
        """How it ended, or the empty string while it runs or when that is not known."""

    def stop(self) -> None:
        """End it, where the run may do so."""


class Client:
    """One connection to a server."""

    def __init__(self, session: Session, server: RunningServer) -> None:
        self._session = session
        try:
            self._connection = Connection(server.address(), _reply_deadline())
        except OSError as error:
            raise SessionLostError(f"connecting to the server: {describe_silence(error)}") from error
        for command in server.login:
            self.administer(*command)
        self.number = self.administer(b"CLIENT", b"ID").text

    def ask(self, arguments: list[bytes]) -> Reply:
        """Send a command of the page and return its reply.

        Raises:
            OSError, ProtocolError: there is none.
        """
        self._session.note(arguments)
        return self._ask(arguments)

    def administer(self, *command: bytes) -> Reply:
        """Send a command that is not part of the page.

        Raises:
            SessionLostError: there is no reply, or it is an error other than that of a command the server is too old
                for: those before 7.0 have no functions to flush.
        """
        # Behind AUTH stands a password.
        name = b" ".join(command[: 1 if command[0] == b"AUTH" else 2]).decode()
        try:
            answer = self._ask(list(command))
        except (OSError, ProtocolError) as error:
            raise SessionLostError(f"{name}: {describe_silence(error)}") from error
        if answer.kind is Kind.ERROR and not answer.text.startswith(b"ERR unknown command"):
            raise SessionLostError(f"{name}: {answer.text.decode(errors='replace')}")
        return answer

    @contextlib.contextmanager
    def speaking(self, protocol: int) -> Iterator[None]:
        """Speak RESP2 or RESP3 for a while."""
        if protocol == 2:
            yield
            return
        self.administer(b"HELLO", b"%d" % protocol)
        yield
        self.administer(b"HELLO", b"2")

    def close(self) -> None:
        """End the connection; a reply that another thread waits for does not come any more."""
        self._connection.close()

    def _ask(self, arguments: list[bytes]) -> Reply:
        return self._connection.ask(arguments, _reply_deadline())


class Session:
    """The connections of one page to ``server``, which it finds empty.

    Raises:
        ServerError: the server cannot be started.
        SessionLostError: it runs and cannot be emptied.
    """

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._server_is_spent = False
        self._is_lent = False
        self._clients: dict[str | None, Client] = {}
        try:
            self.start_fresh()
        except SessionLostError as lost:
            raise self.give_up(lost) from lost

    def start_fresh(self) -> None:
        """Begin again: new connections to a server without keys, functions and scripts."""
        self._end_connections()
        client = self.client(None)
        client.administer(b"FLUSHALL")
        client.administer(b"FUNCTION", b"FLUSH")
        client.administer(b"SCRIPT", b"FLUSH")

    def client(self, name: str | None) -> Client:
        """Return the page's connection called ``name``, or its first one."""
        if name not in self._clients:
            self._clients[name] = Client(self, self._server)
        return self._clients[name]

    def wait_until_blocked(self, name: str, is_done: Callable[[], bool]) -> None:
        """Return when the server holds back a reply to the connection called ``name``, or when ``is_done`` says so."""
        deadline = time.monotonic() + REPLY_SECONDS
        with contextlib.closing(Client(self, self._server)) as observer:
            while not is_done() and time.monotonic() < deadline:
                described = observer.administer(b"CLIENT", b"LIST", b"ID", self._clients[name].number).text
                if b"b" in described.partition(b" flags=")[2].partition(b" ")[0]:
                    return
                time.sleep(0.002)

    def lend(self) -> str:
        """Return the server's address for a page's own code, whose commands are not seen here."""
        self._is_lent = True
        return self._server.url

    def note(self, arguments: list[bytes]) -> None:
        """Take note of a command that changes more than keys."""
        self._server_is_spent = self._server_is_spent or is_lasting(arguments)

    def give_up(self, lost: SessionLostError) -> SessionLostError:
        """End the server, which may be in any state, and return ``lost`` with what is known of how it ended."""
        end = self._server.describe_end()
        self._server_is_spent = True
        self.close()
        return SessionLostError(f"{lost}\n{end}" if end else str(lost))

    def close(self) -> None:
        """End the connections, and with them a server that the next page cannot use."""
        self._server_is_spent = self._server_is_spent or self._is_lent
        self._end_connections()

    def _end_connections(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        if self._server_is_spent:
            self._server.stop()
            self._server_is_spent = False


def _reply_deadline() -> float:
    return time.monotonic() + REPLY_SECONDS


def describe_silence(error: OSError | ProtocolError) -> str:
    """Return what a report says of a reply that did not come."""
    return f"no reply within {REPLY_SECONDS:g} s" if isinstance(error, TimeoutError) else f"no reply: {error}"
