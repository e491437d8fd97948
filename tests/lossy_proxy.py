"""A way to a server on which a reply gets lost after the server has done what it was told."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType

Endpoint = tuple[str, int]


class LossyProxy:
    """Passes on what a client and a server say, until told to lose a reply.

    ``lost`` is the number of replies that were.
    """

    def __init__(self, server: Endpoint) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self._mark = b""
        self._hangs_up = True
        self._refuses = False
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> Endpoint:
        host, port = self._listener.getsockname()
        return host, port

    def lose(self, mark: bytes, *, hangs_up: bool) -> None:
        """Lose the reply to the next command that has ``mark`` in it: hang up, or stay silent."""
        self._mark, self._hangs_up = mark, hangs_up

    def refuse(self, refuses: bool) -> None:
        """Hang up on every new client, or no longer."""
        self._refuses = refuses

    def __enter__(self) -> LossyProxy:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each in self._open:
            _end(each)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._refuses:
                    client.close()
                    continue
                server = socket.create_connection(self._server)
                self._open += [client, server]
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        loses = threading.Event()
        threading.Thread(target=self._pass_back, args=(client, server, loses), daemon=True).start()
        recent = b""
        with contextlib.suppress(OSError):
            while sent := client.recv(65536):
                recent = recent[-1000:] + sent
                if self._mark and self._mark in recent:
                    self._mark = b""
                    loses.set()
                server.sendall(sent)
        _end(server)

    def _pass_back(self, client: socket.socket, server: socket.socket, loses: threading.Event) -> None:
        """Pass on replies. A client waits for each before it sends more, so the one to lose comes next."""
        with contextlib.suppress(OSError):
            while reply := server.recv(65536):
                if not loses.is_set():
                    client.sendall(reply)
                    continue
                self.lost += 1
                if self._hangs_up:
                    break
        _end(client)


def _end(connection: socket.socket) -> None:
    """Close a connection, and wake whoever reads from it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
