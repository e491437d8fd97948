"""What ``docs/priority/pop.md`` promises of the code that takes jobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis, ResponseError
from snippets.priority.pop.take import finish, take

QUEUE = "emq:{orders}:"
PRIORITIZED, ACTIVE, COUNTER = QUEUE + "prioritized", QUEUE + "active", QUEUE + "pc"


def test_the_smallest_score_is_taken_and_noted(redis: Redis) -> None:
    redis.zadd(PRIORITIZED, {"7": 12884901889, "8": 4294967298, "10": 4294967300})
    assert [take(redis, QUEUE), take(redis, QUEUE)] == ["8", "10"]
    assert redis.lrange(ACTIVE, 0, -1) == ["10", "8"]
    assert redis.zrange(PRIORITIZED, 0, -1) == ["7"]


def test_the_counter_goes_when_a_look_finds_nothing_and_not_before(redis: Redis) -> None:
    redis.set(COUNTER, 4)
    redis.zadd(PRIORITIZED, {"8": 4294967298})
    assert take(redis, QUEUE) == "8"
    assert redis.get(COUNTER) == "4"
    assert take(redis, QUEUE) is None
    assert redis.exists(COUNTER) == 0


def test_finish_takes_a_job_off_active_once(redis: Redis) -> None:
    redis.zadd(PRIORITIZED, {"8": 1, "10": 2})
    take(redis, QUEUE)
    take(redis, QUEUE)
    assert finish(redis, QUEUE, "8")
    assert finish(redis, QUEUE, "8") is False
    assert redis.lrange(ACTIVE, 0, -1) == ["10"]


def test_of_a_job_that_stands_there_twice_the_oldest_entry_goes(redis: Redis) -> None:
    redis.rpush(ACTIVE, "8", "10", "8")
    assert finish(redis, QUEUE, "8")
    assert redis.lrange(ACTIVE, 0, -1) == ["8", "10"]


def test_no_job_is_taken_twice_by_workers_at_once(redis: Redis) -> None:
    jobs = {f"job {number}": float(number) for number in range(400)}
    redis.zadd(PRIORITIZED, jobs)

    def work(_: int) -> list[str]:
        taken = []
        while job := take(redis, QUEUE):
            taken.append(job)
        return taken

    with ThreadPoolExecutor(4) as workers:
        taken = [job for worker in workers.map(work, range(4)) for job in worker]
    assert sorted(taken) == sorted(jobs)
    assert sorted(redis.lrange(ACTIVE, 0, -1)) == sorted(jobs)


def test_an_error_is_raised_and_not_taken_for_an_empty_queue(redis: Redis) -> None:
    redis.set(PRIORITIZED, "not a set")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        take(redis, QUEUE)
