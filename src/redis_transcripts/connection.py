"""One connection to a server, whose replies have to come in time."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Sequence

from redis_transcripts import resp
from redis_transcripts.resp import Kind, Reply

type Endpoint = tuple[str, int]
"""Host and port."""


class Connection:
    """A connection to the server at ``endpoint``, made before ``deadline`` on the monotonic clock.

    Raises:
        OSError: it cannot be made; a TimeoutError when it takes too long.
    """

    def __init__(self, endpoint: Endpoint, deadline: float) -> None:
        self._deadline = deadline
        self._socket = socket.create_connection(endpoint, timeout=self._seconds_left())
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = resp.Reader(self._receive)

    def ask(self, command: Sequence[bytes], deadline: float) -> Reply:
        """Send ``command`` and return its reply, which has to be complete before ``deadline``.

        Raises:
            OSError: there is none; a TimeoutError when it does not come in time.
            ProtocolError: what comes is not a reply.
        """
        self._deadline = deadline
        self._socket.settimeout(self._seconds_left())
        self._socket.sendall(resp.encode(list(command)))
        # In RESP3 a server may tell of other things, such as a key that changed, before it replies.
        while (answer := self._reader.read()).kind is Kind.PUSH:
            continue
        return answer

    def close(self) -> None:
        """End the connection; one that waits for a reply in another thread gets none."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _receive(self) -> bytes:
        self._socket.settimeout(self._seconds_left())
        received = self._socket.recv(65536)
        if not received:
            raise ConnectionResetError("it closed the connection")
        return received

    def _seconds_left(self) -> float:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("no reply in time")
        return seconds


def reach(host: str, port: int, deadline: float) -> Endpoint:
    """Return the first network address of ``host`` that takes a connection.

    Raises:
        OSError: none does.
    """
    endpoints = _resolve(host, port, deadline)
    failure: OSError = TimeoutError()
    for tried, endpoint in enumerate(endpoints):
        now = time.monotonic()
        try:
            Connection(endpoint, now + (deadline - now) / (len(endpoints) - tried)).close()
        except OSError as error:
            failure = error
        else:
            return endpoint
    raise failure


def _resolve(host: str, port: int, deadline: float) -> list[Endpoint]:
    """Return the network addresses of ``host``, in a thread of its own, since this cannot be told to be quick."""
    answer = queue.SimpleQueue[list[Endpoint] | OSError]()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.put([_numeric(entry[4]) for entry in found])
        except OSError as error:
            answer.put(error)
        except UnicodeError as error:
            # The host is not a name that can be asked for.
            answer.put(OSError(str(error)))

    threading.Thread(target=look_up, daemon=True).start()
    try:
        found = answer.get(timeout=max(deadline - time.monotonic(), 0))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, OSError):
        raise found
    return found


def _numeric(place: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]) -> Endpoint:
    host, port = socket.getnameinfo(place, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)
    return host, int(port)
