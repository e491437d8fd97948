"""Adds jobs to a priority queue: first in, first out, among the jobs of one priority."""

import os

from redis import Redis

MAX_PRIORITY = 2**21 - 1
ADD = """
local counter = redis.call("INCR", KEYS[2])
return redis.call("ZADD", KEYS[1], "NX", ARGV[1] * 0x100000000 + counter % 0x100000000, ARGV[2])
"""


def add(redis: Redis, queue: str, job: str, priority: int) -> bool:
    """Add a job behind those of its priority; False: it waits already, and keeps its place.

    ``queue`` is the beginning of the keys, ``emq:{orders}:``. A priority from 1 to 2097151 is served in that order;
    any other raises ValueError, before anything is written.
    """
    if priority not in range(1, MAX_PRIORITY + 1):
        raise ValueError(f"priority {priority} of job {job}: take a whole number from 1 (first) to {MAX_PRIORITY}")
    return bool(redis.eval(ADD, 2, f"{queue}prioritized", f"{queue}pc", int(priority), job))


if __name__ == "__main__":
    url = os.environ.get("REDIS_URL", "redis://localhost:6379")
    queue = "emq:{orders-example}:"
    arrived = [("7", 3), ("8", 1), ("9", 2), ("10", 1), ("11", 3), ("12", 2)]
    with Redis.from_url(url, decode_responses=True) as redis:
        print("added:", [add(redis, queue, job, priority) for job, priority in arrived])
        print("again:", add(redis, queue, "8", 1))
        print("order:", *redis.zrange(f"{queue}prioritized", 0, -1))
        redis.delete(f"{queue}prioritized", f"{queue}pc")
