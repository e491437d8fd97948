"""Random operations on a priority queue: jobs that are added and taken, and what changes the queue in between.

A list of them says all there is to say: no operation depends on what an earlier one was answered, so that any part of
a list is a list. Every call is one that both sides accept, or that both refuse; ``test_refusals`` has the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import msgpack
import queue_calls
from parity import Argument, Call, Command, Operation, on_both
from queue_calls import Parent, key

START = 1_700_000_000_000
"""When the first operation is done, in milliseconds."""

PROMOTED_AT_ONCE = 1000
"""How many delayed jobs one take lets wait."""

IDS: Sequence[str | int] = ("c1", "c2", "c3", "0:4", "naïve 🗝", 77)
PARENTS = (
    *(Parent("plain"), Parent("urgent"), Parent("later"), Parent("elsewhere", "emq:{orders}-parts")),
    Parent("gone"),
)
PRIORITIES = (1, 1, 2, 3, 2.0, 23283, 2097151)
Options = Mapping[str, object]
Fields = tuple[Argument, ...]

LIMITS: Sequence[Options | None] = (
    *(None, None, None, {}, {"max": 2, "duration": 60000}, {"max": 1000, "duration": 60000.9}),
    *({"duration": 90000}, {"max": 1, "duration": "75000.5"}, {"max": 1, "duration": -80000}),
    {"max": 2, "duration": 0.4},
)

NAMES: Sequence[str | bytes] = ("job", "job", "job", "Bäckerei", b"raw \xff\x00 name", "n" * 70)
DATA: Sequence[str | bytes] = ("{}", '{"to":"Zoë"}', b'{"raw":"\xff\x00"}', '{"big":"' + "x" * 90 + '"}')
OPTIONS: Sequence[Options] = (
    *({}, {}, {"attempts": 3, "backoff": {"type": "exponential", "delay": 500}}, {"delay": 5}),
    *({"delay": 1.5, "lifo": True}, {"removeOnComplete": {"count": 7}, "ключ": [1, 2, {"a": None}]}),
)
LIMITS_OF_BOTH: Sequence[tuple[Fields, Options | None]] = (
    (("max", 1), {"duration": 61000}),
    (("duration", "62000.7"), {"max": 1}),
    (("max", 2, "duration", 63000), {"max": 1}),
    (("max", 1, "duration", 64000), {"max": 3, "duration": 65000}),
    (("max", "many", "duration", 66000), {"max": 1}),
    (("max", 0, "duration", 67000), None),
)

_FINISH = """
local id = redis.call("RPOP", KEYS[1])
if id then
  redis.call("ZADD", KEYS[2], ARGV[2], id)
  redis.call("HSET", ARGV[1] .. id, "returnvalue", '{"done":true}')
end
return id"""
_DELAY_MANY = """
for number = 1, ARGV[1] do
  redis.call("ZADD", KEYS[1], ARGV[2] + number % 7, "many" .. number)
end
return redis.call("ZCARD", KEYS[1])"""

Make = Callable[["_Run"], Operation]


def sequence(seed: int | str, length: int) -> list[Operation]:
    """Return the operations of a seed. The same seed gives the same ones, and a longer list begins with the shorter."""
    run = _Run(seed)
    return [run.next() for _ in range(length)]


def many_delayed(seed: int | str) -> list[Operation]:
    """Return operations around a take with more delayed jobs due than one take lets wait."""
    run = _Run(seed)
    due = (START - 1) * 0x1000
    command = ("EVAL", _DELAY_MANY, 1, key("delayed"), PROMOTED_AT_ONCE + 5, due)
    jobs = [("HSET", key(f"many{number}"), "priority", number % 3) for number in range(1, 20)]
    # No lock and no limit: their times would tell how long a side took.
    takes = [on_both("take", queue_calls.take(run.now)) for _ in range(3)]
    return [on_both(f"{PROMOTED_AT_ONCE + 5} delayed jobs are due", command, *jobs), *takes]


class _Run:
    """One seed's random choices, and the time that has passed."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)
        self._now = START
        self.number = 0

    @property
    def now(self) -> int:
        return self._now

    def next(self) -> Operation:
        self.number += 1
        self._now += self.one_of((0, 1, 7, 1000))
        [make] = self._random.choices([made for made, _ in _WEIGHTS], [weight for _, weight in _WEIGHTS])
        return make(self)

    def one_of[T](self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)

    def happens(self, chance: float) -> bool:
        return self._random.random() < chance


def _add(run: _Run) -> Operation:
    priority = run.one_of(PRIORITIES)
    job = run.one_of(IDS) if run.happens(0.45) else ""
    parent = run.one_of(PARENTS) if run.happens(0.4) else None
    name, data, options = run.one_of(NAMES), run.one_of(DATA), run.one_of(OPTIONS)
    call = queue_calls.add(priority, timestamp=run.now, job=job, name=name, data=data, parent=parent, options=options)
    family = f" for parent {parent.key}" if parent else ""
    return on_both(f"add {job!r} with priority {priority}{family}, {name!r:.20}, {data!r:.20}, {options}", call)


def _take(run: _Run) -> Operation:
    token = run.one_of(("0", "0", "token-1", "token ü"))
    name = run.one_of((None, None, "worker", ""))
    limiter = run.one_of(LIMITS)
    call = queue_calls.take(run.now, token=token, limiter=limiter, name=name)
    return on_both(f"take at {run.now}: token {token!r}, limiter {limiter}, name {name!r}", call)


def _take_by_mixed_limits(run: _Run) -> Operation:
    """Each half of the limit may come from either side, and meta holds none afterwards."""
    meta, option = run.one_of(LIMITS_OF_BOTH)
    call = queue_calls.take(run.now, token="t", limiter=option)
    return on_both(
        f"take at {run.now} with {meta} in meta and the limiter {option}, and clear the limits in meta",
        ("HDEL", key("meta"), "max", "duration"),
        ("HSET", key("meta"), *meta),
        call,
        ("HDEL", key("meta"), "max", "duration"),
    )


def _limit(run: _Run) -> Operation:
    limits: Sequence[Fields] = (
        *(("max", 2, "duration", 50000), ("max", 1, "duration", "70000.25"), ("max", 3, "duration", 0)),
    )
    fields = run.one_of(limits)
    return _outside("a limit in meta", ("HSET", key("meta"), *fields))


def _limiter_key(run: _Run) -> Operation:
    limiter = key("limiter")
    commands: Sequence[Command] = (
        *(("DEL", limiter), ("DEL", limiter), ("SET", limiter, 2)),
        *(("SET", limiter, 1, "PX", 40000), ("SET", limiter, 5, "PX", 40000)),
    )
    return _outside("the limiter key", run.one_of(commands))


def _delayed(run: _Run) -> Operation:
    job, due = f"d{run.number}", run.now + run.one_of((-5, 0, 1, 2, 3000))
    score = due * 0x1000 + run.one_of((0, 1, 4095))
    priority = run.one_of((None, 0, 1, 2, 2097151, "high"))
    commands: list[Command] = [("ZADD", key("delayed"), score, job)]
    if priority is not None:
        commands.append(("HSET", key(job), "name", "job", "priority", priority, "delay", 3000))
    return _outside(f"a delayed job, due at {due}", *commands)


def _plain(run: _Run) -> Operation:
    job = f"w{run.number}"
    hash_key = ("HSET", key(job), "name", "plain", "opts", "o" * run.one_of((1, 80)))
    return _outside("a plain job", ("LPUSH", key("wait"), job), hash_key)


def _legacy(run: _Run) -> Operation:
    entries = run.one_of((("0:1",), ("0:1", "0:1700000000000"), ("0:2", "0:1")))
    return _outside("what an old release left in wait", ("RPUSH", key("wait"), *entries))


def _without_hash(run: _Run) -> Operation:
    commands: Sequence[Command] = (
        *(("ZADD", key("prioritized"), 2**32 + 5, "ghost"), ("DEL", key("1"), key("2"), key("c1"))),
    )
    return _outside("a job without a hash", run.one_of(commands))


def _deferred_failure(run: _Run) -> Operation:
    return on_both(
        f"take at {run.now} a job that is only to fail, with a limit",
        ("DEL", key("wait")),
        ("HSET", key("failing"), "defa", "why"),
        ("ZADD", key("prioritized"), 1, "failing"),
        queue_calls.take(run.now, limiter={"max": 3, "duration": 60000}),
    )


def _due_while_paused(run: _Run) -> Operation:
    return on_both(
        f"take at {run.now} while paused, with no marker and a job that is due",
        ("HSET", key("meta"), "paused", 1),
        ("DEL", key("marker")),
        ("ZADD", key("delayed"), run.now * 0x1000, "due"),
        queue_calls.take(run.now),
    )


def _wake(run: _Run) -> Operation:
    return on_both("a worker wakes up", ("ZPOPMIN", key("marker")))


def _nothing_waits(run: _Run) -> Operation:
    later = run.one_of((1, 5000, 30_000_000))
    return on_both(
        f"take at {run.now} where nothing waits and a job is due in {later} ms",
        ("DEL", key("wait"), key("prioritized"), key("delayed")),
        ("ZADD", key("delayed"), (run.now + later) * 0x1000, "later"),
        queue_calls.take(run.now),
    )


def _parent(run: _Run) -> Operation:
    parent = run.one_of(PARENTS[:-1])
    commands: list[Command] = [("HSET", parent.key, "name", "parent", *_fields_of(parent, run))]
    if run.happens(0.8):
        commands.append(("ZADD", f"{parent.queue}:waiting-children", run.now, parent.id))
    if run.happens(0.5):
        commands.append(("DEL", f"{parent.key}:dependencies"))
    return _outside(f"the parent {parent.key}", *commands)


def _fields_of(parent: Parent, run: _Run) -> Fields:
    """How the parent waits once it is released: by a priority, until a time, or plainly."""
    fields: dict[str, Fields] = {
        "plain": ("priority", run.one_of(("0", "none"))),
        "urgent": ("priority", 2, "delay", 0),
        "later": ("delay", run.one_of((400.5, 90000, 90000))),
        "elsewhere": ("priority", run.one_of((0, 1))),
    }
    return fields[parent.id]


def _parent_gone(run: _Run) -> Operation:
    return _outside("a parent is removed", ("DEL", run.one_of(PARENTS).key))


def _parents_queue(run: _Run) -> Operation:
    prefix = PARENTS[3].queue
    commands: Sequence[Command] = run.one_of(
        (
            (("HSET", f"{prefix}:meta", "paused", 1),),
            (("HSET", f"{prefix}:meta", "concurrency", 1), ("LPUSH", f"{prefix}:active", "busy")),
            (("DEL", f"{prefix}:meta", f"{prefix}:active"),),
        )
    )
    return _outside("the queue of another parent", *commands)


def _duplicate_of_completed(run: _Run) -> Operation:
    """A job that is completed is added again for a parent that waits for it alone, or for one more."""
    parent = run.one_of(PARENTS[:-1])
    job = str(run.one_of(IDS))
    dependencies = f"{parent.key}:dependencies"
    others: Sequence[Command] = [("SADD", dependencies, "another")] if run.happens(0.2) else []
    return on_both(
        f"complete {job}, let {parent.key} wait for it{' and another' if others else ''}, and add {job} for it",
        ("HSET", parent.key, "name", "parent", *_fields_of(parent, run)),
        ("ZADD", f"{parent.queue}:waiting-children", run.now, parent.id),
        ("DEL", dependencies),
        *others,
        ("HSET", key(job), "returnvalue", "7"),
        ("ZADD", key("completed"), run.now, job),
        queue_calls.add(1, timestamp=run.now, job=job, parent=parent),
    )


def _duplicate_with_a_parent(run: _Run) -> Operation:
    """A job that has a parent is added again for one that exists. The former may exist too."""
    former, parent = run.one_of(PARENTS), run.one_of(PARENTS[:-1])
    job = str(run.one_of(IDS))
    return on_both(
        f"add {job}, which has the parent {former.key}, for {parent.key}",
        ("HSET", parent.key, "name", "parent", *_fields_of(parent, run)),
        ("HSET", key(job), "name", "job", "parentKey", former.key),
        queue_calls.add(1, timestamp=run.now, job=job, parent=parent),
    )


def _pause(run: _Run) -> Operation:
    return _outside("pause", ("HSET", key("meta"), "paused", 1))


def _resume(run: _Run) -> Operation:
    return _outside("resume", ("HDEL", key("meta"), "paused", "concurrency", "max", "duration"))


def _concurrency(run: _Run) -> Operation:
    return _outside("concurrency", ("HSET", key("meta"), "concurrency", run.one_of((1, 2, 3, 5))))


def _event_limit(run: _Run) -> Operation:
    return _outside("the length of events", ("HSET", key("meta"), "opts.maxLenEvents", run.one_of((0, 2, 9, 10000))))


def _counter(run: _Run) -> Operation:
    counters = (2**31 - 2, 2**32 - 3, 2**40, 276447231)
    commands: Sequence[Command] = (("DEL", key("pc")), *(("SET", key("pc"), counter) for counter in counters))
    return _outside("the arrival counter", run.one_of(commands))


def _finish(run: _Run) -> Operation:
    keys = (key("active"), key("completed"))
    return on_both("complete the oldest active job", ("EVAL", _FINISH, 2, *keys, queue_calls.PREFIX, run.now))


def _drop(run: _Run) -> Operation:
    return _outside("drop active jobs", ("LTRIM", key("active"), 0, 0), ("LREM", key("active"), 1, "c1"))


def _refused_by_both(run: _Run) -> Operation:
    """A call that fails for a reason that lies outside the scripts, in the queue or in the arguments."""
    parent = Parent("plain")
    text, commands = run.one_of(_FAULTS)
    return on_both(f"{text}, at {run.now}", *commands(run.now, parent))


def _broken(call: Call, index: int, argument: Argument) -> Call:
    arguments = (*call.arguments[:index], argument, *call.arguments[index + 1 :])
    return Call(call.script, call.keys, arguments, call.time_left)


_FAULTS: Sequence[tuple[str, Callable[[int, Parent], Sequence[Command]]]] = (
    ("take with options that are no MessagePack", lambda now, _: [_broken(queue_calls.take(now), 2, b"\xc1")]),
    ("add with arguments that are no MessagePack", lambda now, _: [_broken(queue_calls.add(1, timestamp=now), 0, b"")]),
    ("add with a delay that is a map", lambda now, _: [queue_calls.add(1, timestamp=now, options={"delay": {}})]),
    (
        "take with a list in place of prioritized",
        lambda now, _: [
            ("RENAME", key("prioritized"), key("aside")),
            ("LPUSH", key("prioritized"), "x"),
            queue_calls.take(now),
            queue_calls.add(1, timestamp=now),
            ("DEL", key("prioritized")),
            ("RENAME", key("aside"), key("prioritized")),
        ],
    ),
    (
        "take and add with a string in place of active",
        lambda now, _: [
            ("HSET", key("meta"), "concurrency", 4),
            ("RENAME", key("active"), key("aside")),
            ("SET", key("active"), "x"),
            queue_calls.add(1, timestamp=now),
            ("HDEL", key("meta"), "concurrency"),
            queue_calls.take(now),
            ("DEL", key("active")),
            ("RENAME", key("aside"), key("active")),
        ],
    ),
    (
        "take with a limiter key that is no number",
        lambda now, _: [
            ("SET", key("limiter"), "x"),
            queue_calls.take(now, limiter={"max": 1, "duration": 50000}),
            ("DEL", key("limiter")),
        ],
    ),
    (
        "take with a concurrency that is no number",
        lambda now, _: [
            ("HSET", key("meta"), "concurrency", "some"),
            queue_calls.take(now),
            queue_calls.add(1, timestamp=now),
            ("HDEL", key("meta"), "concurrency"),
        ],
    ),
    (
        "add a completed job without a result for a parent",
        lambda now, parent: [
            ("HSET", parent.key, "name", "parent"),
            ("ZADD", key("completed"), now, "c3"),
            ("HSET", key("c3"), "name", "job"),
            ("HDEL", key("c3"), "returnvalue"),
            queue_calls.add(1, timestamp=now, job="c3", parent=parent),
        ],
    ),
    (
        "add for a parent of which nothing but the key is told",
        lambda now, parent: [
            ("HSET", parent.key, "name", "parent"),
            _broken(
                queue_calls.add(1, timestamp=now),
                0,
                msgpack.packb([queue_calls.PREFIX, "", "job", now, parent.key, None, None, None, None]),
            ),
        ],
    ),
    (
        "add without an id",
        lambda now, parent: [
            _broken(queue_calls.add(1, timestamp=now), 0, msgpack.packb([queue_calls.PREFIX, None, "job", now])),
        ],
    ),
)


def _outside(text: str, *commands: Command) -> Operation:
    """What is not done by the two scripts, told with its commands."""
    typed = "; ".join(
        " ".join(str(argument) for argument in command) for command in commands if isinstance(command, tuple)
    )
    return on_both(f"{text}: {typed}", *commands)


_WEIGHTS: Sequence[tuple[Make, int]] = (
    (_add, 300),
    (_take, 230),
    (_take_by_mixed_limits, 40),
    (_duplicate_of_completed, 30),
    (_duplicate_with_a_parent, 25),
    (_delayed, 45),
    (_plain, 25),
    (_legacy, 18),
    (_without_hash, 12),
    (_deferred_failure, 12),
    (_due_while_paused, 8),
    (_wake, 50),
    (_nothing_waits, 30),
    (_parent, 45),
    (_parent_gone, 8),
    (_parents_queue, 12),
    (_pause, 12),
    (_resume, 30),
    (_concurrency, 12),
    (_limit, 15),
    (_limiter_key, 25),
    (_event_limit, 14),
    (_counter, 20),
    (_finish, 45),
    (_drop, 15),
    (_refused_by_both, 30),
)
