"""What arrives at the server when a bound is text, and when it is bytes."""

import os

from redis import Redis


def arriving(redis: Redis, bound: str | bytes) -> object:
    """Return the bytes that ``redis`` sends for ``bound``; it may not decode."""
    return redis.echo(bound)


if __name__ == "__main__":
    url = os.environ.get("REDIS_URL", "redis://localhost:6379")
    with Redis.from_url(url, protocol=2) as redis:
        print("as text: ", arriving(redis, "(user:100:\xff"))
        print("as bytes:", arriving(redis, b"(user:100:\xff"))
