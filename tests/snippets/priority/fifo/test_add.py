"""What ``docs/priority/fifo.md`` promises of the code that adds jobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from redis import Redis
from snippets.priority.fifo.add import MAX_PRIORITY, add

QUEUE = "emq:{orders}:"
PRIORITIZED = QUEUE + "prioritized"
COUNTER = QUEUE + "pc"


def waiting(redis: Redis) -> list[str]:
    return [str(job) for job in redis.zrange(PRIORITIZED, 0, -1)]


def test_jobs_of_one_priority_wait_in_order_of_arrival_whatever_their_ids(redis: Redis) -> None:
    arrived = ["10", "9", "8", "b", "B", "", "ü", "11"]
    for job in arrived:
        assert add(redis, QUEUE, job, 1)
    assert waiting(redis) == arrived


def test_a_lower_number_goes_first(redis: Redis) -> None:
    for job, priority in [("last", MAX_PRIORITY), ("second", 2), ("first", 1)]:
        add(redis, QUEUE, job, priority)
    assert waiting(redis) == ["first", "second", "last"]


def test_a_job_that_waits_keeps_its_place_and_its_priority(redis: Redis) -> None:
    assert add(redis, QUEUE, "8", 2)
    assert add(redis, QUEUE, "9", 2)
    assert add(redis, QUEUE, "8", 1) is False
    assert waiting(redis) == ["8", "9"]
    assert redis.zscore(PRIORITIZED, "8") == 2 * 2**32 + 1


def test_the_counter_begins_again_at_2_to_the_32_and_the_tier_stays(redis: Redis) -> None:
    redis.set(COUNTER, 2**32 - 1)
    add(redis, QUEUE, "last", 5)
    assert redis.zscore(PRIORITIZED, "last") == 5 * 2**32


@pytest.mark.parametrize("priority", [0, -1, MAX_PRIORITY + 1, 1.5, float("nan"), float("inf"), "1", None])
def test_a_priority_that_does_not_fit_is_refused_before_anything_is_written(redis: Redis, priority: int) -> None:
    message = rf"^priority {priority} of job 8: take a whole number from 1 \(first\) to 2097151$"
    with pytest.raises(ValueError, match=message):
        add(redis, QUEUE, "8", priority)
    assert redis.keys() == []


def test_producers_at_once_get_counters_of_their_own(redis: Redis) -> None:
    def produce(name: str) -> list[str]:
        jobs = [f"{name}{number}" for number in range(200)]
        for job in jobs:
            add(redis, QUEUE, job, 1)
        return jobs

    with ThreadPoolExecutor(4) as producers:
        produced = list(producers.map(produce, "abcd"))
    order = cast(list[tuple[str, float]], redis.zrange(PRIORITIZED, 0, -1, withscores=True))
    assert [score for _, score in order] == [2**32 + counter for counter in range(1, 801)]
    for jobs in produced:
        assert [job for job, _ in order if job[0] == jobs[0][0]] == jobs
    assert redis.get(COUNTER) == "800"
