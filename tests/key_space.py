"""Databases of one server, each read whole and all in one moment, and compared key by key.

What the entries of a stream are called depends on the clock, so only their order and fields count. What a key's expiry
leaves may differ by ``TOLERANCE`` milliseconds. All else has to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack

TOLERANCE = 50
"""By how many milliseconds two times may differ that were set one after the other."""

SERVER_SETTINGS = {"stream-node-max-bytes": "0", "stream-node-max-entries": "5"}
"""Directives for a server on which streams are cut at the same entry in each database.

``MAXLEN ~`` cuts whole nodes. How many entries fit into a node by bytes depends on their ids.
"""

READ = """
local function entries(key)
  local fields = {}
  for position, entry in ipairs(redis.call("XRANGE", key, "-", "+")) do
    fields[position] = entry[2]
  end
  return fields
end
local function members(key)
  local sorted = redis.call("SMEMBERS", key)
  table.sort(sorted)
  return sorted
end
local content = {
  string = function(key) return redis.call("GET", key) end,
  list = function(key) return redis.call("LRANGE", key, 0, -1) end,
  set = members,
  hash = function(key) return redis.call("HGETALL", key) end,
  zset = function(key) return redis.call("ZRANGE", key, 0, -1, "WITHSCORES") end,
  stream = entries,
}
local keys, expiries, readings = {}, {}, {}
for index, database in ipairs(ARGV) do
  redis.call("SELECT", database)
  keys[index] = redis.call("KEYS", "*")
  table.sort(keys[index])
end
for index, database in ipairs(ARGV) do
  redis.call("SELECT", database)
  expiries[index] = {}
  for position, key in ipairs(keys[index]) do
    expiries[index][position] = redis.call("PTTL", key)
  end
end
for index, database in ipairs(ARGV) do
  redis.call("SELECT", database)
  local values = {}
  for position, key in ipairs(keys[index]) do
    local kind = redis.call("TYPE", key).ok
    values[position] = { key, kind, content[kind](key) }
  end
  readings[index] = { cmsgpack.pack(values), cmsgpack.pack(expiries[index]) }
end
return readings
"""
"""A script without keys that reads the databases whose numbers are in ARGV.

On Redis 7.0 the clock goes on in a script, so what PTTL answers is read in a row.
"""


@dataclass(frozen=True, slots=True)
class Value:
    """What a key holds: its type as TYPE names it, its content, and what PTTL answers."""

    kind: str
    content: bytes | tuple[Any, ...]
    expiry: int


Snapshot = Mapping[str, Value]
"""A database: each key with its value. A key that is no UTF-8 is shown with escapes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A database as ``READ`` answers it. Equal readings are equal databases; few have to be unpacked."""

    values: bytes
    expiries: bytes

    def snapshot(self) -> Snapshot:
        values = msgpack.unpackb(self.values, raw=True, use_list=False)
        expiries = msgpack.unpackb(self.expiries, raw=True, use_list=False)
        return {
            _text(key): Value(_text(kind), content, expiry)
            for (key, kind, content), expiry in zip(values, expiries, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """What a comparer found, and its name."""

    comparer: str
    found: str

    def __str__(self) -> str:
        return f"{self.comparer}: {self.found}"


Comparer = Callable[[Snapshot, Snapshot], Iterator[str]]
"""Tells how the second database differs from the first in one respect."""


def readings(reply: Sequence[Sequence[bytes]]) -> list[Reading]:
    """Return what the reply to ``READ`` holds, in the order in which the databases were named."""
    return [Reading(values, expiries) for values, expiries in reply]


def differences(first: Reading, second: Reading, comparers: Mapping[str, Comparer]) -> list[Difference]:
    """Return what ``comparers`` find, by the name that each has."""
    if first == second:
        return []
    before, after = first.snapshot(), second.snapshot()
    return [Difference(name, found) for name, comparer in comparers.items() for found in comparer(before, after)]


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")


def _keys(first: Snapshot, second: Snapshot) -> Iterator[str]:
    for key in sorted(first.keys() ^ second.keys()):
        where, value = ("first", first[key]) if key in first else ("second", second[key])
        yield f"{key} is in the {where} only: {value.content!r}"


def _types(first: Snapshot, second: Snapshot) -> Iterator[str]:
    for key in sorted(first.keys() & second.keys()):
        if first[key].kind != second[key].kind:
            yield f"{key} is a {first[key].kind}, and a {second[key].kind}"


def _content(kind: str, part: Callable[[Any], object]) -> Comparer:
    """Compare a part of the content of each key that is of this kind in both."""

    def compare(first: Snapshot, second: Snapshot) -> Iterator[str]:
        for key in sorted(first.keys() & second.keys()):
            if first[key].kind == second[key].kind == kind:
                before, after = part(first[key].content), part(second[key].content)
                if before != after:
                    yield f"{key} holds {before!r}, and {after!r}"

    return compare


def _whole(content: object) -> object:
    return content


def _every_second_from(start: int) -> Callable[[Sequence[object]], Sequence[object]]:
    return lambda content: content[start::2]


def _pairs(content: Sequence[object]) -> dict[object, object]:
    return dict(zip(content[::2], content[1::2], strict=True))


def _expiry(first: Snapshot, second: Snapshot) -> Iterator[str]:
    for key in sorted(first.keys() & second.keys()):
        expires, also_expires = first[key].expiry >= 0, second[key].expiry >= 0
        if expires != also_expires:
            yield f"{key} {_lasts(first[key])}, and {_lasts(second[key])}"


def _time_left(first: Snapshot, second: Snapshot) -> Iterator[str]:
    for key in sorted(first.keys() & second.keys()):
        before, after = first[key].expiry, second[key].expiry
        if min(before, after) >= 0 and abs(before - after) > TOLERANCE:
            yield f"{key} {_lasts(first[key])}, and {_lasts(second[key])}"


def _lasts(value: Value) -> str:
    return f"expires in {value.expiry} ms" if value.expiry >= 0 else "does not expire"


COMPARERS: Mapping[str, Comparer] = {
    "keys": _keys,
    "types": _types,
    "strings": _content("string", _whole),
    "lists": _content("list", _whole),
    "sets": _content("set", _whole),
    "fields": _content("hash", _pairs),
    "order of fields": _content("hash", _every_second_from(0)),
    "members": _content("zset", _every_second_from(0)),
    "scores": _content("zset", _every_second_from(1)),
    "entries": _content("stream", _whole),
    "expiry": _expiry,
    "time left": _time_left,
}
"""What is compared, by name. Each finds what no other does."""
