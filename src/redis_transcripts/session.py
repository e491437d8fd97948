"""One connection and one clean server state a page; runs the steps in order."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redis_transcripts import compare, reply, resp
from redis_transcripts.errors import ProtocolError, TranscriptsError
from redis_transcripts.prompt import without_prompt
from redis_transcripts.server import Server
from redis_transcripts.transcript import Step

REPLY_SECONDS = 10.0
"""How long a reply may take before the step counts as unanswered."""

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


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step really answered: the lines that redis-cli would print."""

    step: Step
    received: tuple[str, ...]

    @property
    def first_difference(self) -> int | None:
        """The index of the first shown line that is not true, or none; ``compare.first_difference`` says when."""
        return compare.first_difference(self.step.shown, self.received)


class SessionLostError(TranscriptsError):
    """A command got no reply, so that nothing after it on the page can be run."""


class Session:
    """A page's connection to ``server``.

    Raises:
        ServerError: the server cannot be started.
        SessionLostError: it runs and cannot be emptied.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._server_is_spent = False
        self._connection: socket.socket | None = None
        self.start_fresh()

    def start_fresh(self) -> None:
        """Begin again: a new connection to a server without keys, functions and scripts."""
        self.close()
        address = self._server.address()
        try:
            self._connection = connection = socket.create_connection(address, timeout=REPLY_SECONDS)
        except OSError as error:
            raise self._lost("connecting to the server", _no_reply(error)) from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = resp.Reader(lambda: connection.recv(65536))
        for command in ("FLUSHALL", "FUNCTION FLUSH", "SCRIPT FLUSH"):
            self._administer(command)

    @contextlib.contextmanager
    def speaking(self, protocol: int) -> Iterator[None]:
        """Speak RESP2 or RESP3 for a while."""
        if protocol == 2:
            yield
            return
        self._administer(f"HELLO {protocol}")
        yield
        self._administer("HELLO 2")

    def run(self, steps: Sequence[Step]) -> tuple[StepOutcome, ...]:
        """Run ``steps`` in order and return what each answered.

        Raises:
            SessionLostError: a step got no reply.
        """
        return tuple(StepOutcome(step, tuple(self._answer(step))) for step in steps)

    def close(self) -> None:
        """End the connection, and with it a server that the next page cannot use."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._server_is_spent:
            self._server.stop()
            self._server_is_spent = False

    def _answer(self, step: Step) -> list[str]:
        if step.refusal is not None:
            return [step.refusal]
        arguments = list(step.arguments)
        self._server_is_spent = self._server_is_spent or arguments[0].lower() in _LASTING_COMMANDS
        try:
            return [line for _ in range(step.repeat) for line in reply.lines(self._ask(arguments), arguments)]
        except (OSError, ProtocolError) as error:
            raise self._lost(f"{step.typed.origin}", f"{_no_reply(error)}\n> {without_prompt(step.typed)}") from error

    def _ask(self, arguments: list[bytes]) -> resp.Reply:
        assert self._connection is not None
        self._connection.sendall(resp.encode(arguments))
        return self._reader.read()

    def _administer(self, command: str) -> None:
        """Send a command that is not part of the page. Servers before 7.0 have no functions to flush."""
        try:
            answer = self._ask(command.encode().split())
        except (OSError, ProtocolError) as error:
            raise self._lost(command, _no_reply(error)) from error
        if answer.kind is resp.Kind.ERROR and not answer.text.startswith(b"ERR unknown command"):
            raise self._lost(command, answer.text.decode(errors="replace"))

    def _lost(self, where: str, why: str) -> SessionLostError:
        """End the server, which may be in any state, and return the error that tells so."""
        end = self._server.describe_end()
        self._server_is_spent = True
        self.close()
        return SessionLostError(f"{where}: {why}" + (f"\n{end}" if end else ""))


def _no_reply(error: OSError | ProtocolError) -> str:
    return f"no reply within {REPLY_SECONDS:g} s" if isinstance(error, TimeoutError) else f"no reply: {error}"
