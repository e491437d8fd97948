"""Many producers and consumers at once: no job is lost, none is finished twice, and tiers stay in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import queue_load
from queue_load import PREFIX, Pace, Site
from redis import Redis

from redis_transcripts import server


@pytest.fixture
def site(scripts: Path) -> Iterator[Site]:
    running = server.Server(server.find(None))
    yield Site(running.url, scripts)
    running.stop()


@pytest.fixture
def redis(site: Site) -> Iterator[Redis]:
    with site.client() as client:
        yield client


@pytest.mark.parametrize("jobs", [1200, pytest.param(20_000, marks=pytest.mark.long)])
def test_each_job_is_finished_once_and_in_the_order_of_its_producer_and_tier(
    jobs: int, site: Site, redis: Redis
) -> None:
    queue_load.run(site, jobs, Pace(work=0, lock_duration=60))
    told = queue_load.events(redis)
    completed = queue_load.count(told, "completed")
    assert len(completed) == jobs == redis.zcard(f"{PREFIX}completed")
    assert set(completed.values()) == {1}
    assert set(queue_load.count(told, "active").values()) == {1}

    known = queue_load.added(redis, list(completed))
    taken = defaultdict(list)
    for one in told:
        if one.event == "active":
            job = known[one.job]
            taken[job.producer, job.tier].append(job.number)
    assert len(taken) == queue_load.PRODUCERS * queue_load.TIERS
    for numbers in taken.values():
        assert numbers == sorted(numbers)


@pytest.mark.parametrize(("jobs", "kills"), [(800, 6), pytest.param(8000, 60, marks=pytest.mark.long)])
def test_what_killed_consumers_held_is_finished_once_all_the_same(
    jobs: int, kills: int, site: Site, redis: Redis
) -> None:
    queue_load.run(site, jobs, Pace(work=0.005, lock_duration=0.5), kills)
    told = queue_load.events(redis)
    completed = queue_load.count(told, "completed")
    assert len(completed) == jobs == redis.zcard(f"{PREFIX}completed")
    assert set(completed.values()) == {1}

    recovered = queue_load.count(told, "stalled")
    started = queue_load.count(told, "active")
    assert recovered
    assert all(started[job] == 1 + recovered[job] for job in completed)
    assert redis.llen(f"{PREFIX}active") == 0


def test_a_recovered_job_goes_before_every_priority(site: Site, redis: Redis) -> None:
    queue = site.queue()
    jobs = [queue.add("order", number, priority=number) for number in (2, 1, 3)]
    taken = queue.take("killed", lock_duration=0.05)
    assert taken is not None
    assert taken.id == jobs[1]
    queue.add("order", 4, priority=1)
    assert queue.recover_stalled(interval=0.001) == []
    while redis.exists(f"{PREFIX}{taken.id}:lock"):
        pass
    assert _recovered(site) == [taken.id]
    assert queue.position(taken.id) == 0
    assert redis.lrange(f"{PREFIX}wait", 0, -1) == [taken.id]
    again = queue.take("another")
    assert again is not None
    assert again.id == taken.id


def _recovered(site: Site) -> list[str]:
    # The first call looks which jobs are active, the second finds those whose lock ran out.
    queue = site.queue()
    for _ in range(100):
        if found := queue.recover_stalled(interval=0.001):
            return found
    return []
