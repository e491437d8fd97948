"""Our scripts beside the real Queue and the real Worker, on one queue: each takes what the other added, in order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pop_orders
import pytest
import queue_calls
from bullmq import Queue, Worker
from bullmq import redis_connection as real_connection
from pop_orders import DRIVERS, Case, Driver
from queue_calls import ADD, TAKE, add, key
from redis import Redis

NOW = pop_orders.NOW
NAME, PREFIX = "{orders}", "emq"
SECONDS = 5.0
"""How long a worker may take for anything here, which is far more than it needs."""

CASES = [case for case in pop_orders.cases() if not case.unsafe and all("add" in step for step in case.steps)]
"""Those that need no more than a client can ask of a queue: jobs that are added."""


def options(redis: Redis) -> dict[str, Any]:
    settings = redis.connection_pool.connection_kwargs
    return {"prefix": PREFIX, "connection": {"host": settings["host"], "port": settings["port"]}}


@asynccontextmanager
async def real_queue(redis: Redis) -> AsyncIterator[Queue]:
    queue = Queue(NAME, options(redis))
    try:
        yield queue
    finally:
        await queue.close()


@asynccontextmanager
async def real_worker(redis: Redis) -> AsyncIterator[asyncio.Queue[Any]]:
    """A worker that works, and the jobs that it has worked on."""
    worked: asyncio.Queue[Any] = asyncio.Queue()

    async def process(job: Any, _token: str) -> str:
        await worked.put(job)
        return f"done: {job.id}"

    worker = Worker(NAME, process, {**options(redis), "stalledInterval": 60000})
    try:
        yield worked
    finally:
        await worker.close()


async def next_jobs(worked: asyncio.Queue[Any], count: int) -> list[Any]:
    async with asyncio.timeout(SECONDS):
        return [await worked.get() for _ in range(count)]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds: a job is told of while it is worked on, and finished a moment later."""
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


def run(test: Awaitable[None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(2 * SECONDS):
            await test

    asyncio.run(bounded())


async def add_all(queue: Queue, case: Case) -> None:
    for step in case.steps:
        given = {"jobId": step["add"], "priority": step["priority"], "removeOnComplete": True}
        await queue.add("job", {"for": step["add"]}, given)


def test_jobs_of_the_real_queue_are_taken_by_ours(redis: Redis) -> None:
    driver = Driver(redis, DRIVERS["ours"]())

    async def test() -> None:
        async with real_queue(redis) as queue:
            for case in CASES:
                redis.flushall()
                await add_all(queue, case)
                assert driver.take(limit=len(case.order) + 1) == case.order, case.name

    run(test())
    assert len(CASES) >= 8


def test_ours_hands_out_what_the_real_queue_was_given(redis: Redis) -> None:
    driver = Driver(redis, DRIVERS["ours"]())

    async def test() -> None:
        async with real_queue(redis) as queue:
            await queue.add("parcel", {"to": "Zoë"}, {"priority": 4, "attempts": 3})

    run(test())
    flat, job, *_ = driver.call(queue_calls.take(NOW))
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    assert (job, fields[b"name"], fields[b"priority"], fields[b"ats"]) == (b"1", b"parcel", b"4", b"1")
    assert json.loads(fields[b"data"]) == {"to": "Zoë"}
    assert json.loads(fields[b"opts"])["attempts"] == 3


def test_jobs_of_ours_are_worked_on_by_the_real_worker(redis: Redis) -> None:
    driver = Driver(redis, DRIVERS["ours"]())

    async def test() -> None:
        async with real_queue(redis) as queue, real_worker(redis) as worked:
            for case in CASES:
                await queue.pause()
                for step in case.steps:
                    driver.do(step)
                await queue.resume()
                jobs = await next_jobs(worked, len(case.order))
                assert [job.id for job in jobs] == case.order, case.name
                await until(lambda: redis.llen(key("active")) == 0)
                redis.delete(*(key(job) for job in case.order))

    run(test())


def test_a_job_of_ours_wakes_the_real_worker_and_is_completed(redis: Redis) -> None:
    driver = Driver(redis, DRIVERS["ours"]())

    async def test() -> None:
        async with real_worker(redis) as worked:
            await until(lambda: any(client["cmd"] == "bzpopmin" for client in redis.client_list()))
            driver.call(add(3, timestamp=NOW, data='{"to":"Zoë"}', options={"attempts": 2}))
            [job] = await next_jobs(worked, 1)
            assert (job.id, job.name, job.data, job.priority) == ("1", "job", {"to": "Zoë"}, 3)
            await until(lambda: redis.zcard(key("completed")) == 1)

    run(test())
    assert redis.hget(key("1"), "returnvalue") == b'"done: 1"'
    assert redis.exists(key("active"), key("prioritized"), key("1:lock")) == 0


def test_ours_work_in_the_place_of_the_packaged_scripts(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    own = queue_calls.own_scripts()
    replaced: list[str] = []
    packaged_script = real_connection.loadScript

    def script(file: str) -> str:
        name = file.removesuffix(".lua")
        if name not in own:
            return str(packaged_script(file))
        replaced.append(name)
        return own[name]

    monkeypatch.setattr(real_connection, "loadScript", script)

    async def test() -> None:
        async with real_queue(redis) as queue:
            assert set(replaced) == {ADD, TAKE}
            await queue.pause()
            async with real_worker(redis) as worked:
                case = CASES[0]
                await add_all(queue, case)
                await queue.resume()
                assert [job.id for job in await next_jobs(worked, len(case.order))] == case.order

    run(test())
