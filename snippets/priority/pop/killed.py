"""Kills a worker right after its pop, and shows where its job is then."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection

from redis import Redis

URL = os.environ.get("REDIS_URL", "redis://localhost:6379")
PRIORITIZED = "emq:{orders-example}:prioritized"
ACTIVE = "emq:{orders-example}:active"

POP_AND_PUSH = """
local job = redis.call("ZPOPMIN", KEYS[1])[1]
redis.call("LPUSH", KEYS[2], job)
return job
"""


def by_two_commands(redis: Redis, known: Callable[[str], None]) -> None:
    """Pop a job, know it, and note it in ``active``."""
    job = str(redis.zpopmin(PRIORITIZED, 1)[0][0])
    known(job)
    redis.lpush(ACTIVE, job)


def by_one_script(redis: Redis, known: Callable[[str], None]) -> None:
    """Pop a job and note it in ``active``, then know it."""
    known(redis.eval(POP_AND_PUSH, 2, PRIORITIZED, ACTIVE))


def worker(take: Callable[[Redis, Callable[[str], None]], None], parent: Connection) -> None:
    """Take a job in a process of its own, and stop for good as soon as the job is known."""

    def known(job: str) -> None:
        parent.send(job)
        signal.pause()

    take(Redis.from_url(URL, decode_responses=True), known)


if __name__ == "__main__":
    processes = multiprocessing.get_context("fork")
    with Redis.from_url(URL, decode_responses=True) as redis:
        for take in (by_two_commands, by_one_script):
            redis.delete(PRIORITIZED, ACTIVE)
            redis.zadd(PRIORITIZED, {"8": 4294967298, "10": 4294967300})
            here, there = processes.Pipe()
            process = processes.Process(target=worker, args=(take, there))
            process.start()
            print(f"{take.__name__}: killed with job {here.recv()}")
            process.kill()
            process.join()
            print("  waiting:", redis.zrange(PRIORITIZED, 0, -1), " active:", redis.lrange(ACTIVE, 0, -1))
        redis.delete(PRIORITIZED, ACTIVE)
