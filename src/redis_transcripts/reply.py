r"""A reply to the text that redis-cli prints for it.

Source: the behaviour of redis-cli 7.0.15 with ``--no-raw``; ``tests/redis_transcripts/test_oracle.py`` compares the two
reply by reply.
"""

from __future__ import annotations

from redis_transcripts.resp import Kind, Reply
from redis_transcripts.source import without_blank_end

_EMPTY = {Kind.ARRAY: "(empty array)", Kind.MAP: "(empty hash)", Kind.SET: "(empty set)", Kind.PUSH: "(empty push)"}
_SEPARATORS = {Kind.ARRAY: ")", Kind.MAP: "#", Kind.SET: "~", Kind.PUSH: ")"}
_NAMED_ESCAPES = {0x5C: r"\\", 0x22: r"\"", 0x0A: r"\n", 0x0D: r"\r", 0x09: r"\t", 0x07: r"\a", 0x08: r"\b"}
_QUOTED = tuple(_NAMED_ESCAPES.get(byte, chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}") for byte in range(256))

# Commands whose reply redis-cli prints unquoted although it is a bulk string: they answer with a report to be read.
_RAW = {
    (b"info",),
    (b"lolwut",),
    (b"client", b"list"),
    (b"client", b"info"),
    (b"debug", b"client-eviction"),
    (b"debug", b"htstats"),
    (b"debug", b"htstats-key"),
    (b"memory", b"doctor"),
    (b"memory", b"malloc-stats"),
    (b"proxy", b"info"),
}
# Those that it prints so only when they are typed with this many words.
_RAW_LENGTHS: dict[tuple[bytes, ...], int] = {
    (b"cluster", b"info"): 2,
    (b"cluster", b"nodes"): 2,
    (b"latency", b"doctor"): 2,
    (b"latency", b"graph"): 3,
}


def lines(reply: Reply, arguments: list[bytes]) -> list[str]:
    """Return the lines that redis-cli prints for ``reply`` to the command ``arguments``.

    Line ends inside a report (``INFO``, say) separate lines as they do on a terminal. Blank lines at the end are left
    out: on a page they separate steps.
    """
    text = _text(reply) if _is_report(arguments) else format_reply(reply)
    printed = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return list(without_blank_end(printed))


def format_reply(reply: Reply, indent: str = "") -> str:
    """Return ``reply`` as redis-cli prints it, without the line end.

    ``indent`` stands before the second and later elements of an aggregate: the first follows what is printed already.
    """
    if reply.kind in _SEPARATORS:
        return _aggregate(reply, indent)
    if reply.kind is Kind.BULK:
        return quote(reply.text)
    text = _text(reply)
    match reply.kind:
        case Kind.NIL:
            return "(nil)"
        case Kind.INTEGER:
            return f"(integer) {text}"
        case Kind.DOUBLE:
            return f"(double) {text}"
        case Kind.BOOLEAN:
            return "(true)" if text == "t" else "(false)"
        case Kind.BIG_NUMBER:
            # redis-cli 7.0.15 ends with "Unknown reply type" here, so this form is this package's own.
            return f"(big number) {text}"
        case Kind.ERROR | Kind.BLOB_ERROR:
            return f"(error) {text}"
    return text


def quote(text: bytes) -> str:
    """Return ``text`` between double quotes, every byte that is not printable ASCII escaped."""
    return '"' + "".join([_QUOTED[byte] for byte in text]) + '"'


def _text(reply: Reply) -> str:
    return reply.text.decode("utf-8", "backslashreplace")


def _aggregate(reply: Reply, indent: str) -> str:
    if not reply.items:
        return _EMPTY[reply.kind]
    per_entry = _items_per_entry(reply)
    width = len(str(len(reply.items) // per_entry))
    nested_indent = indent + " " * (width + 2)
    printed = []
    for index in range(0, len(reply.items), per_entry):
        number = f"{index // per_entry + 1:>{width}}{_SEPARATORS[reply.kind]} "
        entry = format_reply(reply.items[index], nested_indent)
        if reply.kind is Kind.MAP:
            entry += " => " + _map_value(reply.items[index + 1], nested_indent)
        printed.append(number + entry)
    return ("\n" + indent).join(printed)


def _map_value(value: Reply, indent: str) -> str:
    """A value with several entries begins on a line of its own, below its key."""
    text = format_reply(value, indent)
    return "\n" + indent + text if _has_several_entries(value) else text


def _has_several_entries(reply: Reply) -> bool:
    """Whether it or, where it has but one entry, what that holds; the key of a map does not count."""
    if not reply.items:
        return False
    return len(reply.items) > _items_per_entry(reply) or _has_several_entries(reply.items[-1])


def _items_per_entry(reply: Reply) -> int:
    return 2 if reply.kind is Kind.MAP else 1


def _is_report(arguments: list[bytes]) -> bool:
    words = tuple(argument.lower() for argument in arguments[:2])
    return words[:1] in _RAW or words in _RAW or _RAW_LENGTHS.get(words) == len(arguments)
