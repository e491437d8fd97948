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

# Their effect outlives FLUSHALL, so the page after them gets a new server.
_LASTING_COMMANDS = {
    b"acl",
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
    """A step got no reply, so that nothing after it on the page can be run."""


class Session:
    """A page's connection to ``server``.

    Raises:
        ServerError: the server cannot be started.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lasting = False
        self._lost: SessionLostError | None = None
        self._connection: socket.socket | None = None
        self.start_fresh()

    def start_fresh(self) -> None:
        """Begin again: a new connection to a server without keys, functions and scripts."""
        self._disconnect()
        if self._lasting:
            self._server.stop()
            self._lasting = False
        self._connection = socket.create_connection(self._server.address(), timeout=REPLY_SECONDS)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = self._connection
        self._reader = resp.Reader(lambda: connection.recv(65536))
        for command in ([b"FLUSHALL"], [b"FUNCTION", b"FLUSH"], [b"SCRIPT", b"FLUSH"]):
            self._administer(command)

    @contextlib.contextmanager
    def speaking(self, protocol: int) -> Iterator[None]:
        """Speak RESP2 or RESP3 for a while."""
        if protocol == 2:
            yield
            return
        self._administer([b"HELLO", b"%d" % protocol])
        yield
        self._administer([b"HELLO", b"2"])

    def run(self, steps: Sequence[Step]) -> tuple[StepOutcome, ...]:
        """Run ``steps`` in order and return what each answered.

        Raises:
            SessionLostError: a step got no reply, now or earlier on the page.
        """
        return tuple(StepOutcome(step, tuple(self._answer(step))) for step in steps)

    def close(self) -> None:
        """End the connection; a server whose configuration the page may have changed is ended too."""
        self._disconnect()
        if self._lasting or self._lost:
            self._server.stop()

    def _answer(self, step: Step) -> list[str]:
        if self._lost:
            raise SessionLostError(
                f"{step.typed.origin}: not run, since the session is lost\n{self._lost}"
            ) from self._lost
        if step.refusal is not None:
            return [step.refusal]
        arguments = list(step.arguments)
        self._lasting = self._lasting or arguments[0].lower() in _LASTING_COMMANDS
        try:
            return [line for _ in range(step.repeat) for line in reply.lines(self._ask(arguments), arguments)]
        except (OSError, ProtocolError) as error:
            what = f"no reply within {REPLY_SECONDS:.0f} s" if isinstance(error, TimeoutError) else f"no reply: {error}"
            end = self._server.describe_end()
            message = f"{step.typed.origin}: {what}\n> {without_prompt(step.typed)}" + (f"\n{end}" if end else "")
            self._lost = SessionLostError(message)
            raise self._lost from error

    def _ask(self, arguments: list[bytes]) -> resp.Reply:
        assert self._connection is not None
        self._connection.sendall(resp.encode(arguments))
        return self._reader.read()

    def _administer(self, command: list[bytes]) -> None:
        """Send a command that is not part of the page. Servers before 7.0 have no functions to flush."""
        answer = self._ask(command)
        if answer.kind is resp.Kind.ERROR and not answer.text.startswith(b"ERR unknown command"):
            raise SessionLostError(f"{b' '.join(command).decode()} failed: {answer.text.decode(errors='replace')}")

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
