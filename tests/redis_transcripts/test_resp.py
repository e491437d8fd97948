"""The wire, where redis-cli 7.0.15 cannot be the oracle: what it does not read, and what no server sends."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from redis_transcripts.errors import ProtocolError
from redis_transcripts.resp import Kind, Reader, Reply, encode

_REPLIES = {
    b"+OK\r\n": Reply(Kind.STATUS, b"OK"),
    b"+\r\n": Reply(Kind.STATUS, b""),
    b"-ERR it failed\r\n": Reply(Kind.ERROR, b"ERR it failed"),
    b":-42\r\n": Reply(Kind.INTEGER, b"-42"),
    b"$5\r\na\r\nb\n\r\n": Reply(Kind.BULK, b"a\r\nb\n"),
    b"$0\r\n\r\n": Reply(Kind.BULK, b""),
    b"$-1\r\n": Reply(Kind.NIL),
    b"*-1\r\n": Reply(Kind.NIL),
    b"_\r\n": Reply(Kind.NIL),
    b"*0\r\n": Reply(Kind.ARRAY),
    b"*2\r\n:1\r\n*1\r\n$1\r\na\r\n": Reply(
        Kind.ARRAY, items=(Reply(Kind.INTEGER, b"1"), Reply(Kind.ARRAY, items=(Reply(Kind.BULK, b"a"),)))
    ),
    b",-inf\r\n": Reply(Kind.DOUBLE, b"-inf"),
    b",nan\r\n": Reply(Kind.DOUBLE, b"nan"),
    b",1.50\r\n": Reply(Kind.DOUBLE, b"1.50"),
    b"#t\r\n": Reply(Kind.BOOLEAN, b"t"),
    b"!8\r\nERR a\r\nb\r\n": Reply(Kind.BLOB_ERROR, b"ERR a\r\nb"),
    b"=7\r\ntxt:a\nb\r\n": Reply(Kind.VERBATIM, b"a\nb"),
    b"=4\r\nmkd:\r\n": Reply(Kind.VERBATIM, b""),
    b"(-3492890328409238509324850943850943825024385\r\n": Reply(
        Kind.BIG_NUMBER, b"-3492890328409238509324850943850943825024385"
    ),
    b"%1\r\n+key\r\n~1\r\n#f\r\n": Reply(
        Kind.MAP, items=(Reply(Kind.STATUS, b"key"), Reply(Kind.SET, items=(Reply(Kind.BOOLEAN, b"f"),)))
    ),
    b">2\r\n+invalidate\r\n*0\r\n": Reply(Kind.PUSH, items=(Reply(Kind.STATUS, b"invalidate"), Reply(Kind.ARRAY))),
}


def _in_chunks(stream: bytes, size: int) -> Callable[[], bytes]:
    """As a socket does: the next bytes, and at the end none."""
    chunks = (stream[start : start + size] for start in range(0, len(stream), size))
    return lambda: next(chunks, b"")


def _read(stream: bytes) -> Reply:
    return Reader(_in_chunks(stream, 65536)).read()


def test_a_command_is_sent_as_an_array_of_byte_strings() -> None:
    assert encode([b"SET", b"k\xff", b"a\r\nb", b""]) == b"*4\r\n$3\r\nSET\r\n$2\r\nk\xff\r\n$4\r\na\r\nb\r\n$0\r\n\r\n"


@pytest.mark.parametrize(("stream", "reply"), _REPLIES.items(), ids=map(repr, _REPLIES))
def test_every_kind_of_reply_is_read_with_the_bytes_the_server_sent(stream: bytes, reply: Reply) -> None:
    assert _read(stream) == reply


@pytest.mark.parametrize("size", [1, 2, 3, 7, 65536])
def test_replies_do_not_depend_on_how_the_network_cuts_them(size: int) -> None:
    reader = Reader(_in_chunks(b"".join(_REPLIES), size))
    assert [reader.read() for _ in _REPLIES] == list(_REPLIES.values())


@pytest.mark.parametrize(
    "stream",
    [
        b"|1\r\n+ttl\r\n:3600\r\n+OK\r\n",
        b"|0\r\n+OK\r\n",
        b"|1\r\n+popularity\r\n%1\r\n+a\r\n,0.1\r\n+OK\r\n",
        b"|1\r\n+first\r\n:1\r\n|1\r\n+second\r\n:2\r\n+OK\r\n",
    ],
    ids=repr,
)
def test_an_attribute_is_skipped_and_the_reply_behind_it_read(stream: bytes) -> None:
    assert _read(stream) == Reply(Kind.STATUS, b"OK")


def test_an_attribute_inside_an_array_is_no_element() -> None:
    integers = (Reply(Kind.INTEGER, b"1"), Reply(Kind.INTEGER, b"2"))
    assert _read(b"*2\r\n:1\r\n|1\r\n+ttl\r\n:3600\r\n:2\r\n") == Reply(Kind.ARRAY, items=integers)


@pytest.mark.parametrize(
    ("stream", "complaint"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "not a RESP reply: it begins with b'HTTP/1.1 400 Bad Req'"),
        (b"\r\n", "not a RESP reply: it begins with b''"),
        (b"*1\r\n?\r\n", "not a RESP reply"),
        (b"$x\r\n", "not a RESP length: b'\\$x'"),
        (b"$\r\n\r\n", "not a RESP length"),
        (b"*1.5\r\n", "not a RESP length"),
        (b"%?\r\n", "not a RESP length"),
        (b"$3\r\nabcd\r\n", "a string of 3 bytes does not end where its length says"),
        (b"$3\r\nab\r\n+OK\r\n", "a string of 3 bytes does not end where its length says"),
        (b"*1\r\n" * 200 + b":1\r\n", "nested deeper than 128 levels"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bytes_that_are_no_reply_are_refused_with_the_reason(stream: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        _read(stream)


def test_a_reply_may_be_nested_as_deep_as_a_script_can_nest_it() -> None:
    reply = _read(b"*1\r\n" * 128 + b":1\r\n")
    for _ in range(128):
        (reply,) = reply.items
    assert reply == Reply(Kind.INTEGER, b"1")


@pytest.mark.parametrize("whole", [b"+OK\r\n", b"$3\r\nabc\r\n", b"*2\r\n:1\r\n:2\r\n"], ids=repr)
def test_a_stream_that_ends_inside_a_reply_is_an_error_wherever_it_ends(whole: bytes) -> None:
    for length in range(1, len(whole)):
        with pytest.raises(ProtocolError, match="closed the connection inside a reply"):
            _read(whole[:length])


def test_a_stream_that_ends_between_replies_is_told_apart() -> None:
    reader = Reader(_in_chunks(b"+OK\r\n", 65536))
    reader.read()
    with pytest.raises(ProtocolError, match=r"^closed$"):
        reader.read()


_MEGABYTE = 1 << 20


def _within(seconds: float, receive: Callable[[], bytes]) -> Callable[[], bytes]:
    """Fails while the stream is read: a reader that begins again at every chunk would take minutes to end."""
    deadline = time.monotonic() + seconds

    def receive_in_time() -> bytes:
        assert time.monotonic() < deadline, f"not read within {seconds} s"
        return receive()

    return receive_in_time


@pytest.mark.parametrize("size", [1, 1024, 65536])
@pytest.mark.parametrize(
    ("head", "kind"), [(b"$%d\r\n" % _MEGABYTE, Kind.BULK), (b"+", Kind.STATUS)], ids=["bulk string", "status"]
)
def test_a_megabyte_is_read_in_time_that_grows_with_its_length_alone(head: bytes, kind: Kind, size: int) -> None:
    text = b"x" * _MEGABYTE
    reader = Reader(_within(10.0, _in_chunks(head + text + b"\r\n", size)))
    assert reader.read() == Reply(kind, text)


def test_many_replies_in_one_chunk_are_read_in_time_that_grows_with_their_number_alone() -> None:
    count = 100_000
    reader = Reader(_in_chunks(b"+OK\r\n" * count, 5 * count))
    start = time.monotonic()
    assert {reader.read() for _ in range(count)} == {Reply(Kind.STATUS, b"OK")}
    assert time.monotonic() - start < 10.0
