"""Producers and consumers of a queue, each a process of its own, and what the queue's events tell of them."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from redis import Redis
from snippets.priority.queue.priority_queue import LockLostError, Queue

NAME = "{orders}"
PREFIX = f"emq:{NAME}:"
TIERS = 3
PRODUCERS = 4
_PATIENCE = 0.2
_SECONDS = 120.0

_PROCESSES = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Added:
    """A job as its producer knows it: which of its jobs it is, and in which tier."""

    producer: int
    number: int
    tier: int


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the queue, and the job that had it."""

    event: str
    job: str


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a consumer works on a job, and how long its lock lasts, in seconds."""

    work: float
    lock_duration: float


@dataclass(frozen=True, slots=True)
class Site:
    """Where the queue is, and where its scripts are."""

    url: str
    scripts: Path

    def queue(self) -> Queue:
        return Queue(self.client(), NAME, scripts=self.scripts)

    def client(self) -> Redis:
        return Redis.from_url(self.url, decode_responses=True)


def produce(site: Site, producer: int, count: int) -> None:
    """Add jobs, one after the other."""
    queue = site.queue()
    for number in range(count):
        queue.add("order", [producer, number], priority=1 + number % TIERS)


def consume(site: Site, consumer: int, pace: Pace, produced: Event) -> None:
    """Take and complete jobs until there is none and there will be no more. Recover what other consumers left."""
    queue = site.queue()
    while True:
        was_last = produced.is_set()
        queue.recover_stalled(max_stalls=1000, interval=pace.lock_duration / 2)
        job = queue.take(f"consumer {consumer}", pace.lock_duration, timeout=_PATIENCE)
        if job is None:
            if was_last and not site.client().llen(f"{PREFIX}active"):
                return
            continue
        time.sleep(pace.work)
        try:
            queue.complete(job, [consumer])
        except LockLostError:
            continue


def start(target: Callable[..., None], *arguments: object) -> SpawnProcess:
    """Start a process that runs ``target``."""
    process = _PROCESSES.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def run(site: Site, jobs: int, pace: Pace, kills: int = 0) -> None:
    """Let four producers add ``jobs`` and four consumers work them.

    So many consumers are killed by SIGKILL, at moments of chance, and each is followed by another one.

    Raises:
        AssertionError: a process failed, or they did not end in time.
    """
    site.client().hset(f"{PREFIX}meta", "opts.maxLenEvents", 100 * jobs)
    produced = _PROCESSES.Event()
    chance = random.Random(20261201)
    working = [start(consume, site, number, pace, produced) for number in range(PRODUCERS)]
    adding = [start(produce, site, number, jobs // PRODUCERS) for number in range(PRODUCERS)]
    for kill in range(kills):
        _wait_until_completed(site, (kill + 1) * jobs // (kills + 1))
        time.sleep(chance.uniform(0, 0.02))
        # The one that has worked longest: the others may be starting still.
        victim = working.pop(0)
        assert victim.is_alive(), "all jobs are done: there is nothing to recover"
        victim.kill()
        working.append(start(consume, site, PRODUCERS + kill, pace, produced))
    _wait_for(adding)
    produced.set()
    _wait_for(working)


def _wait_until_completed(site: Site, jobs: int) -> None:
    deadline = time.monotonic() + _SECONDS
    with site.client() as client:
        while int(client.zcard(f"{PREFIX}completed")) < jobs:
            assert time.monotonic() < deadline, "the consumers stand still"
            time.sleep(0.01)


def _wait_for(processes: Sequence[SpawnProcess]) -> None:
    for process in processes:
        process.join(_SECONDS)
        assert process.exitcode == 0, f"{process.name} ended with {process.exitcode}"


def events(redis: Redis) -> list[Told]:
    """Return the queue's events in order."""
    entries: Any = redis.xrange(f"{PREFIX}events")
    return [Told(fields["event"], fields.get("jobId", "")) for _, fields in entries]


def added(redis: Redis, jobs: Sequence[str]) -> dict[str, Added]:
    """Return what each job is, by its id."""
    with redis.pipeline(transaction=False) as pipeline:
        for job in jobs:
            pipeline.hmget(PREFIX + job, "data", "priority")
        found = pipeline.execute()
    known = {}
    for job, (data, priority) in zip(jobs, found, strict=True):
        producer, number = json.loads(data)
        known[job] = Added(producer, number, int(priority))
    return known


def count(told: Sequence[Told], event: str) -> Counter[str]:
    """Return how often each job had this event."""
    return Counter(one.job for one in told if one.event == event)
