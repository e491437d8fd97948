"""Scores jobs by the clock of the server: jobs of one millisecond tie, and their ids decide."""

import os
from uuid import uuid4

from redis import Redis

ADD = """
local seconds, microseconds = unpack(redis.call("TIME"))
redis.call("ZADD", KEYS[1], seconds * 1000 + math.floor(microseconds / 1000), ARGV[1])
"""


def add_all(redis: Redis, key: str, jobs: list[str]) -> None:
    """Add each job by a call of its own, one behind the other."""
    with redis.pipeline(transaction=False) as pipeline:
        for job in jobs:
            pipeline.eval(ADD, 1, key, job)
        pipeline.execute()


if __name__ == "__main__":
    url = os.environ.get("REDIS_URL", "redis://localhost:6379")
    key = "emq:{orders-example}:by-clock"
    arrived = [str(uuid4()) for _ in range(1000)]
    with Redis.from_url(url, decode_responses=True) as redis:
        add_all(redis, key, arrived)
        scores = {score for _, score in redis.zrange(key, 0, -1, withscores=True)}
        print("a score of its own for each job:", len(scores) == len(arrived))
        print("in order of arrival:", redis.zrange(key, 0, -1) == arrived)
        redis.delete(key)
