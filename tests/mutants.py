"""Deliberate faults of our scripts, each with a name that says what it does."""

from __future__ import annotations

from dataclasses import dataclass

import lua_under_test
from queue_calls import ADD, TAKE

from redis_transcripts import lua

ROOT = lua_under_test.ROOT


@dataclass(frozen=True, slots=True)
class Mutant:
    """A script in which each of some texts gives way to another."""

    name: str
    script: str
    replacements: tuple[tuple[str, str], ...]


def with_fault(mutant: Mutant) -> dict[str, str]:
    """Return our scripts by name, that of ``mutant`` with its fault.

    Raises:
        ValueError: a text to replace does not stand in the script exactly once.
    """
    scripts = {name: lua.read(ROOT / f"lua/{name}.lua", ROOT).text for name in (ADD, TAKE)}
    text = scripts[mutant.script]
    for old, new in mutant.replacements:
        if text.count(old) != 1:
            raise ValueError(f"{mutant.name}: {old!r} stands {text.count(old)} times in {mutant.script}")
        text = text.replace(old, new)
    return {**scripts, mutant.script: text}


def _mutant(name: str, script: str, old: str, new: str) -> Mutant:
    return Mutant(name, script, ((old, new),))


_WAKE_IF_FREE = "if not heldBack then\n  wakeWorker(markerKey)\nend\n"
_ADDED = 'redis.call("XADD", eventsKey, "*", "event", "added", "jobId", id, "name", name)\n'
_WAITING = 'redis.call("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "waiting", "jobId", id)\n'
_COUNT_ID = 'local counter = redis.call("INCR", idKey)\n'
_ACTIVE = '"event", "active", "jobId", id, "prev", "waiting"'
_NO_CHILD_LEFT = 'redis.call("SCARD", parent.dependenciesKey) > 0 or '
_SCORED = "getPriorityScore(priority, counterKey)"
_BY_LIMIT = 'redis.call("INCR", limiterKey) == 1'

MUTANTS = (
    # What is taken.
    _mutant("the largest score is taken", TAKE, '"ZPOPMIN"', '"ZPOPMAX"'),
    _mutant(
        "the plain job that came last is taken",
        TAKE,
        'local id = redis.call("RPOPLPUSH", waitKey, activeKey)',
        'local id = redis.call("LMOVE", waitKey, activeKey, "LEFT", "LEFT")',
    ),
    _mutant(
        "a plain job waits for those with a priority",
        TAKE,
        'local id = redis.call("RPOPLPUSH", waitKey, activeKey)',
        'local id = redis.call("EXISTS", prioritizedKey) == 0 and redis.call("RPOPLPUSH", waitKey, activeKey)',
    ),
    _mutant("an entry of an old release is a job", TAKE, '== "0:"', '== "1:"'),
    Mutant(
        "a second entry of an old release is dropped too",
        TAKE,
        (('if id and string.sub(id, 1, 2) == "0:" then', 'while id and string.sub(id, 1, 2) == "0:" do'),),
    ),
    _mutant("a job is the oldest active one", TAKE, '"LPUSH", activeKey', '"RPUSH", activeKey'),
    _mutant("pc is kept when nothing waits", TAKE, 'redis.call("DEL", counterKey)', ""),
    _mutant("the next due time is a score", TAKE, "first[2] / 0x1000", "first[2] + 0"),
    # What is left for others.
    _mutant(
        "a take leaves no marker",
        TAKE,
        'wakeWorker(markerKey)\nreturn { redis.call("HGETALL"',
        "return { redis.call('HGETALL'",
    ),
    _mutant("a lock lasts seconds", TAKE, '"PX"', '"EX"'),
    _mutant("the token 0 locks", TAKE, 'options.token ~= "0" then', "options.token then"),
    _mutant("attempts are not counted", TAKE, 'redis.call("HINCRBY", jobKey, "ats", "1")', ""),
    _mutant(
        "the name comes before the time",
        TAKE,
        '"processedOn", timestamp, "pb", options.name',
        '"pb", options.name, "processedOn", timestamp',
    ),
    # What holds a worker back.
    _mutant("concurrency allows one more", TAKE, ">= tonumber(concurrency)", "> tonumber(concurrency)"),
    _mutant("the limit allows one more", TAKE, '"GET", limiterKey) or 0) < max', '"GET", limiterKey) or 0) <= max'),
    _mutant("a job that is only to fail counts", TAKE, 'redis.call("HEXISTS", jobKey, "defa") == 0 and ', ""),
    _mutant("each job renews the limit", TAKE, _BY_LIMIT, 'redis.call("INCR", limiterKey) >= 1'),
    _mutant("the limit's duration is rounded up", TAKE, "math.floor", "math.ceil"),
    _mutant("a negative duration stays negative", TAKE, "math.abs(duration)", "tonumber(duration)"),
    _mutant(
        "duration of meta goes first",
        TAKE,
        "limiter and limiter.duration or meta[4]",
        "meta[4] or limiter and limiter.duration",
    ),
    _mutant(
        "max of the option goes first", TAKE, "meta[3] or limiter and limiter.max", "limiter and limiter.max or meta[3]"
    ),
    _mutant(
        "a pause hides the limit",
        TAKE,
        "local milliseconds =",
        "if heldBack then return { 0, 0, 0, 0 } end\nlocal milliseconds =",
    ),
    # What a take promotes.
    _mutant("999 jobs are promoted at once", TAKE, '"1000"', '"999"'),
    _mutant("a job is promoted a millisecond late", TAKE, "(timestamp + 1) * 0x1000 - 1", "timestamp * 0x1000 - 1"),
    _mutant("the low bits of a due time count", TAKE, "(timestamp + 1) * 0x1000 - 1", "timestamp * 0x1000"),
    _mutant("nothing is promoted while held back", TAKE, "if #due > 0 then", "if #due > 0 and not heldBack then"),
    _mutant("a promotion wakes a worker that is held back", TAKE, "if not heldBack then", "do"),
    _mutant("a promoted plain job is taken first", TAKE, '"LPUSH", keys.wait', '"RPUSH", keys.wait'),
    _mutant("a promoted job keeps its delay", TAKE, 'redis.call("HSET", jobKey, "delay", "0")', ""),
    _mutant("a promoted job stays delayed", TAKE, 'redis.call("ZREM", keys.delayed, unpack(due))', ""),
    # How a job is scored.
    _mutant("the counter is masked with bit.band", ADD, "counter % 0x100000000", "bit.band(counter, 0xffffffff)"),
    _mutant("the counter is not masked", ADD, "counter % 0x100000000", "counter"),
    _mutant("the score has 14 digits", ADD, f"prioritizedKey, {_SCORED}", f"prioritizedKey, tostring({_SCORED})"),
    _mutant("a promoted job's counter is masked with bit.band", TAKE, "counter % 0x100000000", "bit.band(counter, -1)"),
    # How a job is added.
    _mutant(
        "a given id does not count",
        ADD,
        _COUNT_ID,
        'local counter = customId == "" and redis.call("INCR", idKey)\n',
    ),
    Mutant(
        "an id is counted before a parent is missed",
        ADD,
        ((_COUNT_ID, ""), ("local parent\n", f"{_COUNT_ID}local parent\n")),
    ),
    _mutant("the length of events is not kept", ADD, 'redis.call("HSET", metaKey, "opts.maxLenEvents", maxEvents)', ""),
    Mutant("a job waits before it is added", ADD, ((_ADDED, ""), (_WAITING, _WAITING + _ADDED))),
    _mutant("the event added cuts the stream", ADD, _ADDED, _ADDED.replace('"*"', '"MAXLEN", "~", maxEvents, "*"')),
    _mutant(
        "the event waiting does not cut the stream", ADD, _WAITING, _WAITING.replace('"MAXLEN", "~", maxEvents, ', "")
    ),
    _mutant("an added job wakes a worker that is held back", ADD, _WAKE_IF_FREE, "wakeWorker(markerKey)\n"),
    _mutant("an added job wakes no worker", ADD, _WAKE_IF_FREE, ""),
    _mutant("the parent waits for an id", ADD, '"SADD", dependenciesKey, jobKey', '"SADD", dependenciesKey, id'),
    _mutant("a duplicate's id is no text", ADD, 'return id .. ""', "return id"),
    # What a duplicate does to parents.
    _mutant("a duplicate leaves a living parent", ADD, 'return redis.call("EXISTS", formerKey) == 0', "return true"),
    _mutant("a completed duplicate keeps its parent waiting", ADD, "    releaseParent(parent, timestamp)\n", ""),
    _mutant("a parent is released before its last child", ADD, _NO_CHILD_LEFT, ""),
    _mutant("a released parent is taken last", ADD, '"RPUSH", key("wait")', '"LPUSH", key("wait")'),
    _mutant("a released parent does not wait for its delay", ADD, "if delay > 0 then", "if delay > 1e9 then"),
    _mutant(
        "a released parent wakes a worker that is held back",
        ADD,
        'if not heldBack then\n    wakeWorker(key("marker"))\n  end',
        'wakeWorker(key("marker"))',
    ),
    _mutant("the marker tells the time of a parent", ADD, 'nextDelayed(key("delayed")), "1"', 'due, "1"'),
)

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}

BY_COMPARER = {
    "replies": _mutant("an id is answered with a space", ADD, "\nreturn id", '\nreturn id .. " "'),
    "time in a reply": _mutant(
        "a limited worker is told to come late",
        TAKE,
        "math.max(remaining, 0)",
        "remaining > 0 and remaining + 5000 or 0",
    ),
    "keys": _mutant(
        "a key is left over", TAKE, "return { redis.call", 'redis.call("SADD", KEYS[5], id)\nreturn { redis.call'
    ),
    "types": _mutant("the children are a list", ADD, '"SADD", dependenciesKey', '"LPUSH", dependenciesKey'),
    "strings": BY_NAME["a given id does not count"],
    "lists": BY_NAME["a job is the oldest active one"],
    "sets": BY_NAME["the parent waits for an id"],
    "fields": _mutant("the delay is forgotten", ADD, 'options.delay or "0"', '"0"'),
    "order of fields": Mutant(
        "the delay comes before the time",
        ADD,
        (
            ('"timestamp", timestamp,', '"delay", options.delay or "0",'),
            ('"delay", options.delay or "0", "priority"', '"timestamp", timestamp, "priority"'),
        ),
    ),
    "members": _mutant("the wrong job waits", ADD, f"{_SCORED}, id)", f'{_SCORED}, id .. "+")'),
    "scores": _mutant("the marker has another score", ADD, '"ZADD", markerKey, "0"', '"ZADD", markerKey, "1"'),
    "entries": _mutant("the event does not tell the state before", TAKE, _ACTIVE, '"event", "active", "jobId", id'),
    "expiry": _mutant("a lock lasts for ever", TAKE, ', "PX", options.lockDuration', ""),
    "time left": _mutant("a lock lasts twice as long", TAKE, "options.lockDuration)", "options.lockDuration * 2)"),
}
"""For each comparer a fault that no other finds."""
