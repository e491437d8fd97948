"""The bounds of a prefix, for reading a sorted set with BYLEX."""

import os
from uuid import uuid4

from redis import Redis


def prefix_bounds(prefix: bytes) -> tuple[bytes, bytes]:
    """Return the bounds of the members that begin with ``prefix``.

    Between them BYLEX finds all of these and no other, if all members of
    the set have one score. An empty prefix finds every member.
    """
    # No byte comes after ff, so the last one before it is incremented.
    stem = prefix.rstrip(b"\xff")
    end = b"(" + stem[:-1] + bytes([stem[-1] + 1]) if stem else b"+"
    return b"[" + prefix, end


if __name__ == "__main__":
    url = os.environ.get("REDIS_URL", "redis://localhost:6379")
    key = f"words:{uuid4()}"
    words = ["cafe", "cafeteria", "café", "cafés", "cage"]
    with Redis.from_url(url, protocol=2, decode_responses=True) as redis:
        redis.zadd(key, dict.fromkeys(words, 0))
        try:
            for typed in ("ca", "caf", "café"):
                start, end = prefix_bounds(typed.encode())
                found = redis.zrange(key, start, end, bylex=True, offset=0, num=3)
                print(typed, found)
        finally:
            redis.delete(key)
