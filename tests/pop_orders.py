"""In which order jobs come out: cases with the order that each has to give, and how a queue is driven through them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import packaged
import queue_calls
from parity import Call
from queue_calls import add, key, keys, take
from redis import Redis

NOW = 1_700_000_000_000
Step = Mapping[str, Any]

_FILE = Path(__file__).parent / "data/pop_orders.json"


@dataclass(frozen=True, slots=True)
class Case:
    """Steps, the order in which their jobs are taken, and why.

    A step adds a job (without a ``priority``, or with 0, to the wait list), delays one until the next take, changes
    the priority of one, takes some, or sets the arrival counter. ``unsafe``: the priority is one that ours refuses.
    """

    name: str
    reason: str
    steps: Sequence[Step]
    order: Sequence[str]
    unsafe: bool = False


def cases() -> list[Case]:
    return [Case(**case) for case in json.loads(_FILE.read_text(encoding="utf-8"))]


@dataclass(frozen=True, slots=True)
class Driver:
    """A queue that is worked with some scripts, by name. What these are not for is done by the package's."""

    redis: Redis
    scripts: Mapping[str, str]

    def run(self, case: Case) -> list[str]:
        """Do the steps on an empty server, take what is left, and return all ids in the order in which they came."""
        self.redis.flushall()
        taken: list[str] = []
        for step in case.steps:
            taken += self.do(step)
        return taken + self.take(limit=len(case.order) + 1)

    def do(self, step: Step) -> list[str]:
        """Do one step, and return the ids that it took."""
        match step:
            case {"add": job, "priority": 0}:
                self.call(_add_plain(job))
            case {"add": job, "priority": priority}:
                self.call(add(priority, timestamp=NOW, job=job))
            case {"delay": job, "priority": priority}:
                self.redis.hset(key(job), "priority", priority)
                self.redis.zadd(key("delayed"), {job: NOW * 0x1000})
            case {"change": job, "priority": priority}:
                self.call(_change(job, priority, front=step.get("front", False)))
            case {"counter": counter}:
                self.redis.set(key("pc"), counter)
            case {"take": limit}:
                return self.take(limit=limit)
            case _:
                raise ValueError(f"no step: {step}")
        return []

    def take(self, limit: int) -> list[str]:
        """Take until nothing waits, at most ``limit`` times."""
        taken = []
        for _ in range(limit):
            fields, job, *_ = self.call(take(NOW))
            if not fields:
                break
            taken.append(job.decode())
        return taken

    def call(self, call: Call) -> Any:
        text = self.scripts.get(call.script) or packaged.script(call.script)
        return self.redis.eval(text, len(call.keys), *call.keys, *call.arguments)


DRIVERS: Mapping[str, Callable[[], dict[str, str]]] = {
    "ours": queue_calls.own_scripts,
    "packaged": queue_calls.packaged_scripts,
}
"""Whose scripts add and take, by name."""


def _add_plain(job: str) -> Call:
    suffixes = ("wait", "paused", "meta", "id", "completed", "delayed", "active", "events", "marker")
    arguments = [queue_calls.PREFIX, job, "job", NOW, None, None, None, None, None]
    return Call("addStandardJob-9", keys(suffixes), (msgpack.packb(arguments), "{}", msgpack.packb({})))


def _change(job: str, priority: int, *, front: bool) -> Call:
    suffixes = ("wait", "paused", "meta", "prioritized", "active", "pc", "marker")
    return Call("changePriority-7", keys(suffixes), (priority, queue_calls.PREFIX, job, int(front)))
