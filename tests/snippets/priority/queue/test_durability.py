"""What is left of a queue when its server dies.

SIGKILL does not lose what the kernel has, so a power loss cannot be made here. It is modelled: the append-only file is
cut to the length that it had at the last fsync, and the server is started again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import BusyLoadingError, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from snippets.priority.queue.priority_queue import Queue

from redis_transcripts import server
from redis_transcripts.server import Server

type Start = Callable[..., Server]

NAME = "{orders}"
JOBS = 50


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server whose data are in a folder of the test, and stay there."""
    started = []

    def start_it(**settings: str) -> Server:
        folder = tmp_path.resolve() / "data"
        folder.mkdir(exist_ok=True)
        started.append(Server(server.find(None), {"dir": str(folder), "save": "", **settings}))
        return started[-1]

    yield start_it
    for running in started:
        running.stop()


def client(running: Server) -> Redis:
    host, port = running.address()
    redis = Redis(host=host, port=port, decode_responses=True, retry=Retry(NoBackoff(), 0))
    while True:
        try:
            redis.ping()
        except BusyLoadingError:
            continue
        return redis


def add(running: Server, scripts: Path, jobs: int) -> list[str]:
    """Add jobs and take one of them; return the ids of those that the server acknowledged, the taken one first."""
    with client(running) as redis:
        queue = Queue(redis, NAME, scripts=scripts)
        added = [queue.add("order", number, priority=1) for number in range(jobs)]
        taken = queue.take("worker")
        assert taken is not None
        assert taken.id in added
        return added


def kill(running: Server) -> None:
    with client(running) as redis:
        process = int(redis.info("server")["process_id"])
    os.kill(process, signal.SIGKILL)
    while not running.describe_end():
        pass


def known(running: Server) -> list[str]:
    """The jobs that are active or wait, in the order in which they were taken or will be."""
    with client(running) as redis:
        jobs = redis.lrange(f"emq:{NAME}:active", 0, -1) + redis.zrange(f"emq:{NAME}:prioritized", 0, -1)
        assert all(redis.exists(f"emq:{NAME}:{job}") for job in jobs)
        return [str(job) for job in jobs]


def test_without_an_append_only_file_all_is_lost(start: Start, scripts: Path) -> None:
    running = start(appendonly="no")
    assert len(add(running, scripts, JOBS)) == JOBS
    kill(running)
    assert known(running) == []


@pytest.mark.parametrize("fsync", ["always", "everysec", "no"])
def test_with_one_a_killed_server_loses_nothing_that_was_acknowledged(fsync: str, start: Start, scripts: Path) -> None:
    running = start(appendonly="yes", appendfsync=fsync)
    added = add(running, scripts, JOBS)
    kill(running)
    assert known(running) == added


def test_a_modelled_power_loss_loses_what_came_after_the_last_fsync(
    start: Start, scripts: Path, tmp_path: Path
) -> None:
    running = start(appendonly="yes", appendfsync="no")
    safe = add(running, scripts, JOBS)
    (log,) = (tmp_path / "data").rglob("*.incr.aof")
    with log.open("rb") as opened:
        os.fsync(opened.fileno())
        at_last_fsync = os.fstat(opened.fileno()).st_size
    with client(running) as redis:
        late = Queue(redis, NAME, scripts=scripts).add("order", "late", priority=1)
    assert log.stat().st_size > at_last_fsync
    assert known(running) == [*safe, late]

    kill(running)
    os.truncate(log, at_last_fsync)
    assert known(running) == safe
