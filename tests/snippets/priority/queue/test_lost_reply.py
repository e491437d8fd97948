"""A reply is lost after the server has run the script: no job is taken twice, and none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from lossy_proxy import LossyProxy
from queue_clients import NAME, Opened
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from snippets.priority.queue.priority_queue import REPLY_LOST, AsyncQueue, Plans, Queue, Send

TAKE = b"lockDuration"
"""Stands in a take and in nothing else."""

KINDS = ("redis", "redis.asyncio, RESP3", "valkey", "valkey.asyncio, RESP3, decoded", "cluster", "cluster, asyncio")


@pytest.fixture(params=KINDS)
def opened(open_kind: Callable[[str], Opened], request: pytest.FixtureRequest) -> Opened:
    """A queue with jobs 1 and 2, on a server that knows the scripts."""
    opened = open_kind(request.param)
    queue = opened.queue()
    for _ in range(2):
        queue.add("order", {}, priority=1)
    jobs = [queue.take("warm", keep_score=keep_score) for keep_score in (False, True)]
    for job in jobs:
        assert job is not None
        queue.release(job)
    return opened


@pytest.fixture
def proxy(opened: Opened) -> Iterator[LossyProxy]:
    with LossyProxy(opened.place.endpoint) as proxy:
        yield proxy


@pytest.fixture
def queue(opened: Opened, proxy: LossyProxy) -> Queue:
    """A queue whose client has the retries that it has by itself."""
    queue = opened.queue(through=proxy.address, socket_timeout=0.4)
    assert queue.counts([1]) == {1: 2}
    return queue


@pytest.mark.parametrize(
    ("hangs_up", "keep_score"), [(True, False), (True, True), (False, False)], ids=["cut", "cut, score kept", "silent"]
)
def test_a_take_returns_the_job_that_it_moved(
    hangs_up: bool, keep_score: bool, queue: Queue, opened: Opened, proxy: LossyProxy
) -> None:
    proxy.lose(TAKE, hangs_up=hangs_up)
    job = queue.take("worker", keep_score=keep_score)
    assert (proxy.lost, job and job.id, opened.active()) == (1, "1", ["1"])
    assert job is not None
    queue.complete(job)
    following = queue.take("worker")
    assert (following and following.id, opened.active()) == ("2", ["2"])


def test_a_take_that_moved_nothing_says_so(queue: Queue, opened: Opened, proxy: LossyProxy) -> None:
    opened.look.hset(opened.key("meta"), "paused", 1)
    proxy.lose(TAKE, hangs_up=True)
    with pytest.raises(REPLY_LOST):
        queue.take("worker")
    assert proxy.lost == 1
    opened.look.hdel(opened.key("meta"), "paused")
    job = queue.take("worker")
    assert job is not None
    assert opened.active() == ["1"]


def test_an_add_without_an_id_is_sent_once(queue: Queue, opened: Opened, proxy: LossyProxy) -> None:
    proxy.lose(b"once more", hangs_up=True)
    with pytest.raises(REPLY_LOST):
        queue.add("once more", {}, priority=1)
    assert (proxy.lost, opened.look.zcard(opened.key("prioritized"))) == (1, 3)


def test_a_release_is_sent_once(queue: Queue, opened: Opened, proxy: LossyProxy) -> None:
    job = queue.take("worker")
    assert job is not None
    proxy.lose(job.token.encode(), hangs_up=True)
    with pytest.raises(REPLY_LOST):
        queue.release(job)
    assert (proxy.lost, opened.active(), opened.prioritized()) == (1, [], ["1", "2"])


@pytest.mark.parametrize("opened", ["redis", "redis.asyncio, RESP3", "cluster"], indirect=True)
def test_what_may_be_sent_twice_is(queue: Queue, opened: Opened, proxy: LossyProxy) -> None:
    proxy.lose(b"once more", hangs_up=True)
    assert queue.add("once more", {}, priority=1, job_id="mine") == "mine"
    assert opened.look.zcard(opened.key("prioritized")) == 3

    for finish, done in ((queue.complete, "completed"), (lambda job: queue.fail(job, "why"), "failed")):
        job = queue.take("worker")
        assert job is not None
        proxy.lose(job.token.encode(), hangs_up=True)
        finish(job)
        assert opened.look.zrange(opened.key(done), 0, -1) == [job.id]
        assert opened.look.hget(opened.key(job.id), "atm") == "1"
    assert proxy.lost == 3


@pytest.mark.parametrize("opened", ["redis", "redis.asyncio, RESP3", "valkey"], indirect=True)
def test_a_job_that_could_not_be_looked_for_comes_with_the_next_take(opened: Opened, proxy: LossyProxy) -> None:
    # valkey does not retry by itself.
    impatient: dict[str, Any] = {
        "redis": {"retry": Retry(NoBackoff(), 0)},
        "redis.asyncio": {"retry": redis.asyncio.retry.Retry(NoBackoff(), 0)},
    }
    queue = opened.queue(through=proxy.address, **impatient.get(opened.kind.package.__name__, {}))
    assert queue.counts([1]) == {1: 2}
    proxy.lose(TAKE, hangs_up=True)
    proxy.refuse(True)
    for _ in range(2):
        with pytest.raises(REPLY_LOST):
            queue.take("worker")
    assert (proxy.lost, opened.active()) == (1, ["1"])

    proxy.refuse(False)
    opened.look.pexpire(opened.key("1:lock"), 5000)
    job = queue.take("worker", lock_duration=30)
    assert (job and job.id, opened.active()) == ("1", ["1"])
    assert 29_000 < opened.look.pttl(opened.key("1:lock")) <= 30_000
    following = queue.take("worker")
    assert following is not None
    assert following.id == "2"


@pytest.mark.parametrize("opened", ["redis.asyncio, RESP3"], indirect=True)
def test_a_take_that_was_cancelled_leaves_its_job_to_the_next(opened: Opened, proxy: LossyProxy, scripts: Path) -> None:
    async def cancel_and_take() -> list[str]:
        async with redis.asyncio.Redis(host=proxy.address[0], port=proxy.address[1]) as client:
            queue = AsyncQueue(client, NAME, scripts=scripts)
            proxy.lose(TAKE, hangs_up=False)
            cancelled = asyncio.create_task(queue.take("worker"))
            while not proxy.lost:
                await asyncio.sleep(0.01)
            cancelled.cancel()
            with suppress(asyncio.CancelledError):
                await cancelled
            assert cancelled.cancelled()
            return [job.id for job in (await queue.take("worker"), await queue.take("worker")) if job]

    assert asyncio.run(cancel_and_take()) == ["1", "2"]


@pytest.mark.parametrize("opened", ["redis"], indirect=True)
def test_the_client_alone_would_take_two(opened: Opened, proxy: LossyProxy) -> None:
    """Shows that the proxy does what the other tests need, and what they are for."""
    plans: Any = Plans(NAME, opened.scripts, "emq").take("worker")
    step = next(plans)
    assert isinstance(step, Send)
    proxy.lose(TAKE, hangs_up=True)
    with Redis(host=proxy.address[0], port=proxy.address[1]) as client:
        reply: Any = client.execute_command(*step.command)
    assert reply[1] == b"2"
    assert opened.active() == ["2", "1"]
