"""What the programs of ``docs/priority/queue.md`` promise, beside what they print there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis import Redis
from snippets.priority.queue.priority_queue import TakenJob
from snippets.priority.queue.stalled import main as stall
from snippets.priority.queue.work import main as work_six_jobs
from snippets.priority.queue.work import work
from snippets.priority.queue.work_async import main as work_in_asyncio

PREFIX = "emq:{orders-example}:"


@pytest.fixture
def redis(redis_url: str, scripts: Path, monkeypatch: pytest.MonkeyPatch) -> Redis:
    """A client on an empty server, in a folder that has every script."""
    monkeypatch.chdir(scripts)
    monkeypatch.setenv("REDIS_URL", redis_url)
    client = Redis.from_url(redis_url, decode_responses=True)
    client.flushall()
    return client


def test_six_jobs_are_worked_and_each_is_finished(redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    work_six_jobs(redis)
    assert redis.zrange(f"{PREFIX}completed", 0, -1) == ["8", "10", "11", "9", "7"]
    assert redis.zrange(f"{PREFIX}failed", 0, -1) == ["12"]
    assert redis.hget(f"{PREFIX}12", "failedReason") == "out of stock"
    assert len(capsys.readouterr().out.splitlines()) == 8


def test_job_12_fails_and_the_others_are_sent() -> None:
    job = TakenJob("8", {"data": '{"item": "lamp"}'}, "token", 30.0)
    assert work(job) == {"sent": "lamp"}
    with pytest.raises(RuntimeError, match="out of stock"):
        work(TakenJob("12", {}, "token", 30.0))


def test_a_stalled_job_is_finished_by_another_worker(redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    stall(redis)
    assert redis.zrange(f"{PREFIX}completed", 0, -1) == ["order-1"]
    assert redis.zrange(f"{PREFIX}prioritized", 0, -1) == ["order-2"]
    assert "is locked by another worker" in capsys.readouterr().out


def test_workers_of_asyncio_share_the_jobs(redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work_in_asyncio())
    assert capsys.readouterr().out == "each job was completed once: True\n"
    assert redis.keys() == []
