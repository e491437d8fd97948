"""The wire: commands out, replies in, for RESP2 and RESP3.

Own reader, because a transcript shows what client libraries hide: whether a reply is a status or a bulk string, the
text of a double as the server sent it, a map apart from a flat array. Source: the Redis serialization protocol
specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from redis_transcripts.errors import ProtocolError


class Kind(Enum):
    """The type byte of a reply."""

    STATUS = b"+"
    ERROR = b"-"
    INTEGER = b":"
    BULK = b"$"
    ARRAY = b"*"
    NIL = b"_"
    DOUBLE = b","
    BOOLEAN = b"#"
    BLOB_ERROR = b"!"
    VERBATIM = b"="
    BIG_NUMBER = b"("
    MAP = b"%"
    SET = b"~"
    ATTRIBUTE = b"|"
    PUSH = b">"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply.

    ``text`` holds the bytes of a scalar as the server sent them (a verbatim string without its format prefix).
    ``items`` holds the elements of an aggregate; those of a map are key, value, key, value.
    """

    kind: Kind
    text: bytes = b""
    items: tuple[Reply, ...] = ()


_KINDS = {kind.value: kind for kind in Kind}
_LINES = {Kind.STATUS, Kind.ERROR, Kind.INTEGER, Kind.DOUBLE, Kind.BOOLEAN, Kind.BIG_NUMBER}
_BLOBS = {Kind.BULK, Kind.BLOB_ERROR, Kind.VERBATIM}
_PAIRED = {Kind.MAP, Kind.ATTRIBUTE}
_NIL = Reply(Kind.NIL)
_MAX_DEPTH = 128


def encode(arguments: list[bytes]) -> bytes:
    """Return ``arguments`` as one command on the wire."""
    parts = [b"*%d\r\n" % len(arguments)]
    parts += [b"$%d\r\n%b\r\n" % (len(argument), argument) for argument in arguments]
    return b"".join(parts)


class Reader:
    """Reads replies from a byte stream.

    ``receive`` returns the next bytes, or none at the end of the stream.
    """

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        self._buffer = bytearray()
        self._position = 0

    def read(self) -> Reply:
        """Return the next reply; attributes (RESP3's out-of-band remarks on a reply) are read and dropped.

        Raises:
            ProtocolError: the bytes are not RESP, or the stream ends inside a reply.
        """
        reply = self._reply(depth=0)
        del self._buffer[: self._position]
        self._position = 0
        return reply

    def _reply(self, depth: int) -> Reply:
        if depth > _MAX_DEPTH:
            raise ProtocolError(f"a reply is nested deeper than {_MAX_DEPTH} levels")
        header = self._line()
        kind = _KINDS.get(header[:1])
        if kind is None:
            raise ProtocolError(f"not a RESP reply: it begins with {header[:20]!r}")
        body = header[1:]
        if kind in _LINES:
            return Reply(kind, body)
        if kind is Kind.NIL:
            return _NIL
        length = self._length(header)
        if length < 0:
            return _NIL
        if kind in _BLOBS:
            text = self._blob(length)
            return Reply(kind, text[4:] if kind is Kind.VERBATIM else text)
        items = tuple(self._items(2 * length if kind in _PAIRED else length, depth))
        if kind is Kind.ATTRIBUTE:
            return self._reply(depth)
        return Reply(kind, items=items)

    def _items(self, count: int, depth: int) -> Iterator[Reply]:
        for _ in range(count):
            yield self._reply(depth + 1)

    @staticmethod
    def _length(header: bytes) -> int:
        try:
            return int(header[1:])
        except ValueError:
            raise ProtocolError(f"not a RESP length: {header[:20]!r}") from None

    def _line(self) -> bytes:
        start = self._position
        searched = start
        while (end := self._buffer.find(b"\r\n", searched)) < 0:
            searched = max(start, len(self._buffer) - 1)
            self._fill()
        self._position = end + 2
        return bytes(self._buffer[start:end])

    def _blob(self, length: int) -> bytes:
        start, end = self._position, self._position + length
        while len(self._buffer) < end + 2:
            self._fill()
        if self._buffer[end : end + 2] != b"\r\n":
            raise ProtocolError(f"a string of {length} bytes does not end where its length says")
        self._position = end + 2
        return bytes(self._buffer[start:end])

    def _fill(self) -> None:
        received = self._receive()
        if not received:
            raise ProtocolError("the server closed the connection inside a reply" if self._buffer else "closed")
        self._buffer += received
