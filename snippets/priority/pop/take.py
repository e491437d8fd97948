"""Takes jobs from a priority queue, so that each is in the set or in the list ``active``, never in neither."""

import os

from redis import Redis

TAKE = """
local popped = redis.call("ZPOPMIN", KEYS[1])
if #popped == 0 then
  redis.call("DEL", KEYS[3])
  return false
end
redis.call("LPUSH", KEYS[2], popped[1])
return popped[1]
"""


def take(redis: Redis, queue: str) -> str | None:
    """Return the job whose turn it is and note it in ``active``; None: no job waits.

    ``queue`` is the beginning of the keys, ``emq:{orders}:``. Needs a client that decodes replies.
    """
    job: str | None = redis.eval(TAKE, 3, f"{queue}prioritized", f"{queue}active", f"{queue}pc")
    return job


def finish(redis: Redis, queue: str, job: str) -> bool:
    """Take a job off ``active``, where the oldest stands last; False: it is not there."""
    return bool(redis.lrem(f"{queue}active", -1, job))


if __name__ == "__main__":
    url = os.environ.get("REDIS_URL", "redis://localhost:6379")
    queue = "emq:{orders-example}:"
    packed = {"7": 12884901889, "8": 4294967298, "9": 8589934595, "10": 4294967300, "11": 12884901893, "12": 8589934598}
    with Redis.from_url(url, decode_responses=True) as redis:
        redis.delete(f"{queue}prioritized", f"{queue}active")
        redis.zadd(f"{queue}prioritized", packed)
        while job := take(redis, queue):
            print("took", job, "active:", redis.lrange(f"{queue}active", 0, -1))
            if job != "8":
                finish(redis, queue, job)
        print("nothing waits; not finished:", redis.lrange(f"{queue}active", 0, -1))
        redis.delete(f"{queue}active")
