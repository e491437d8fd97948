"""How the two scripts of a priority queue are called: their keys and arguments, as BullMQ gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import lua_under_test
import msgpack
import packaged
from parity import Argument, Call, Pair
from redis import Redis

QUEUE = "emq:{orders}"
PREFIX = f"{QUEUE}:"

ADD = "addPrioritizedJob-9"
TAKE = "moveToActive-11"

ADD_KEYS = ("marker", "meta", "id", "prioritized", "delayed", "completed", "active", "events", "pc")
TAKE_KEYS = (
    *("wait", "active", "prioritized", "events", "stalled", "limiter", "delayed", "paused", "meta", "pc", "marker"),
)


@dataclass(frozen=True, slots=True)
class Parent:
    """A job that waits for others: its id, and the beginning of its queue's keys without the last colon."""

    id: str
    queue: str = QUEUE

    @property
    def key(self) -> str:
        return f"{self.queue}:{self.id}"


def key(suffix: str) -> str:
    """Return the queue's key of that name, or the key of the job with that id."""
    return PREFIX + suffix


def keys(suffixes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key(suffix) for suffix in suffixes)


def add(
    priority: object,
    *,
    timestamp: int,
    job: str | int = "",
    name: str | bytes = "job",
    data: str | bytes = "{}",
    parent: Parent | None = None,
    options: Mapping[str, object] | None = None,
    repeat_key: str | None = None,
    deduplication_key: str | None = None,
) -> Call:
    """Return a call that adds a job, which gets the next number for its id if ``job`` names none.

    A ``priority`` of None is left out.
    """
    arguments = msgpack.packb(
        [
            PREFIX,
            job,
            name,
            timestamp,
            parent and parent.key,
            parent and f"{parent.key}:dependencies",
            parent and {"id": parent.id, "queueKey": parent.queue},
            repeat_key,
            deduplication_key,
        ],
        # Bytes go as text, which a name is: a script refuses the type that MessagePack has for bytes.
        use_bin_type=False,
    )
    return Call(ADD, keys(ADD_KEYS), (arguments, data, msgpack.packb({"priority": priority, **(options or {})})))


def take(
    timestamp: int,
    *,
    token: str = "0",
    lock_duration: Argument = 30000,
    limiter: Mapping[str, object] | None = None,
    name: str | None = None,
) -> Call:
    """Return a call that takes a job, without a lock for the token ``0``."""
    options = {"token": token, "lockDuration": lock_duration, "limiter": limiter}
    if name is not None:
        options["name"] = name
    return Call(TAKE, keys(TAKE_KEYS), (PREFIX, timestamp, msgpack.packb(options)), time_left=2)


def pair(redis: Redis) -> Pair:
    """Return the packaged scripts and ours as they are, on two databases of one server."""
    return Pair(redis, packaged_scripts(), own_scripts())


def packaged_scripts() -> dict[str, str]:
    """Return the two scripts of the package, by name."""
    return {name: packaged.script(name) for name in (ADD, TAKE)}


def own_scripts() -> dict[str, str]:
    """Return our two scripts, by name."""
    return {name: lua_under_test.text(lua_under_test.ROOT / f"lua/{name}.lua") for name in (ADD, TAKE)}
