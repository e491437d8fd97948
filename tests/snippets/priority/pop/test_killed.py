"""What ``docs/priority/pop.md`` shows of a worker that ends once it knows its job."""

from __future__ import annotations

import pytest
from redis import Redis
from snippets.priority.pop.killed import ACTIVE, PRIORITIZED, by_one_script, by_two_commands


class Killed(Exception):  # noqa: N818
    """The worker ends."""


def known(job: str) -> None:
    assert job == "8"
    raise Killed


@pytest.fixture
def waiting(redis: Redis) -> Redis:
    redis.zadd(PRIORITIZED, {"8": 4294967298, "10": 4294967300})
    return redis


def test_by_two_commands_the_job_is_nowhere(waiting: Redis) -> None:
    with pytest.raises(Killed):
        by_two_commands(waiting, known)
    assert waiting.zrange(PRIORITIZED, 0, -1) == ["10"]
    assert waiting.lrange(ACTIVE, 0, -1) == []


def test_by_one_script_the_job_is_in_active(waiting: Redis) -> None:
    with pytest.raises(Killed):
        by_one_script(waiting, known)
    assert waiting.zrange(PRIORITIZED, 0, -1) == ["10"]
    assert waiting.lrange(ACTIVE, 0, -1) == ["8"]


def test_a_worker_that_lives_notes_its_job_either_way(waiting: Redis) -> None:
    known_jobs: list[str] = []
    by_two_commands(waiting, known_jobs.append)
    by_one_script(waiting, known_jobs.append)
    assert known_jobs == ["8", "10"]
    assert waiting.lrange(ACTIVE, 0, -1) == ["10", "8"]
