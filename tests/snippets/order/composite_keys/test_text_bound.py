"""What ``docs/order/composite-keys.md`` says of bounds that are text."""

from __future__ import annotations

import pytest
from redis import Redis
from snippets.order.composite_keys.text_bound import arriving


@pytest.mark.parametrize(
    ("bound", "sent"),
    [
        ("(user:100:\xff", b"(user:100:\xc3\xbf"),
        (b"(user:100:\xff", b"(user:100:\xff"),
        ("(user:100;", b"(user:100;"),
    ],
)
def test_text_arrives_as_utf_8_and_bytes_as_they_are(binary_redis: Redis, bound: str | bytes, sent: bytes) -> None:
    assert arriving(binary_redis, bound) == sent


def test_the_bound_as_text_cuts_members_off(binary_redis: Redis) -> None:
    binary_redis.zadd("names", {"user:100:zoe": 0, "user:100:ōe": 0})
    assert binary_redis.zlexcount("names", "[user:100:", "(user:100:\xff") == 1
    assert binary_redis.zlexcount("names", "[user:100:", b"(user:100:\xff") == 2
    assert binary_redis.zlexcount("names", "[user:100:", "(user:100;") == 2
