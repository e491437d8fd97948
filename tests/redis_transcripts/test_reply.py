"""What is printed where redis-cli 7.0.15 cannot be the oracle: it ends at these replies, or no server sends them."""

from __future__ import annotations

import pytest

from redis_transcripts import arguments
from redis_transcripts.reply import lines, quote
from redis_transcripts.resp import Kind, Reply

_ONE = Reply(Kind.INTEGER, b"1")


@pytest.mark.parametrize(
    ("reply", "printed"),
    [
        (Reply(Kind.BIG_NUMBER, b"-12345678901234567890"), ["(big number) -12345678901234567890"]),
        (Reply(Kind.DOUBLE, b"nan"), ["(double) nan"]),
        (Reply(Kind.BLOB_ERROR, b"ERR one\r\ntwo"), ["(error) ERR one", "two"]),
        (Reply(Kind.PUSH), ["(empty push)"]),
        (Reply(Kind.PUSH, items=(Reply(Kind.BULK, b"message"), _ONE)), ['1) "message"', "2) (integer) 1"]),
        (Reply(Kind.ARRAY, items=(Reply(Kind.BIG_NUMBER, b"1"), _ONE)), ["1) (big number) 1", "2) (integer) 1"]),
    ],
    ids=lambda value: value.kind.name if isinstance(value, Reply) else "",
)
def test_a_reply_that_redis_cli_cannot_print_has_a_form_of_its_own(reply: Reply, printed: list[str]) -> None:
    assert lines(reply, [b"GET", b"key"]) == printed


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=repr)
def test_a_report_is_printed_line_by_line_whatever_its_line_ends(line_end: bytes) -> None:
    report = Reply(Kind.VERBATIM, line_end.join([b"# Server", b"", b'name:"x"', b"", b""]))
    assert lines(report, [b"INFO"]) == ["# Server", "", 'name:"x"']


@pytest.mark.parametrize("text", [b"", b"\n", b"\r\n \r\n\n"], ids=repr)
def test_a_reply_of_blank_lines_prints_nothing(text: bytes) -> None:
    assert lines(Reply(Kind.VERBATIM, text), [b"INFO", b"nosuch"]) == []


def test_blank_lines_at_the_end_are_left_out_and_others_kept() -> None:
    assert lines(Reply(Kind.VERBATIM, b"\none\n\n  two \n \n\n"), [b"GET", b"key"]) == ["", "one", "", "  two "]


def test_a_quoted_line_end_at_the_end_of_a_string_is_no_blank_line() -> None:
    assert lines(Reply(Kind.BULK, b"one\n\n"), [b"GET", b"key"]) == [r'"one\n\n"']


# Its numbers and their number differ from run to run, so it is not in the oracle's lists.
@pytest.mark.parametrize("typed", [[b"MEMORY", b"MALLOC-STATS"], [b"memory", b"malloc-stats"]], ids=repr)
def test_the_allocators_report_is_printed_unquoted(typed: list[bytes]) -> None:
    assert lines(Reply(Kind.BULK, b'one "1"\n\ttwo\n'), typed) == ['one "1"', "\ttwo"]


def test_the_same_text_is_quoted_when_another_command_answers_it() -> None:
    assert lines(Reply(Kind.BULK, b'one "1"\n\ttwo\n'), [b"MEMORY", b"USAGE"]) == [r'"one \"1\"\n\ttwo\n"']


def test_text_that_is_no_utf_8_is_printed_with_its_bytes() -> None:
    assert lines(Reply(Kind.STATUS, b"gr\xc3\xbcn \xff"), [b"PING"]) == ["grün \\xff"]


def test_a_quoted_string_can_be_typed_back() -> None:
    every_byte = bytes(range(256))
    assert arguments.split(quote(every_byte).encode()) == [every_byte]
