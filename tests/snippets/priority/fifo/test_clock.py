"""What ``docs/priority/fifo.md`` promises of a clock for a score."""

from __future__ import annotations

from itertools import groupby
from typing import cast

from redis import Redis
from snippets.priority.fifo.clock import add_all


def test_the_score_is_the_millisecond_and_jobs_of_one_stand_by_their_ids(redis: Redis) -> None:
    seconds, _ = redis.time()
    jobs = [str(number) for number in range(1000, 2000)][::-1]
    add_all(redis, "by-clock", jobs)
    order = cast(list[tuple[str, float]], redis.zrange("by-clock", 0, -1, withscores=True))
    assert len(order) == len(jobs)
    milliseconds = {int(score) - seconds * 1000 for _, score in order}
    assert all(0 <= passed < 60_000 for passed in milliseconds)
    assert len({passed % 10 for passed in milliseconds}) > 1
    ties = [[job for job, _ in tied] for _, tied in groupby(order, key=lambda entry: entry[1])]
    assert len(ties) < len(jobs)
    assert all(tied == sorted(tied) for tied in ties)
