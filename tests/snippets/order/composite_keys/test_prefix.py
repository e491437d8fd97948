"""What ``docs/order/composite-keys.md`` promises of the code that it shows."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis
from snippets.order.composite_keys.prefix import prefix_bounds

FILE = Path(__file__).parents[4] / "snippets/order/composite_keys/prefix.py"

# Few bytes, so that many members share a prefix; the outermost ones, the signs of a bound, and those of the page.
ALPHABET = b"\x00\x01[(+-09:;\\az\x7f\x80\xc3\xfe\xff"
SEED = 20240130


def beginning_with(redis: Redis, prefix: bytes) -> list[object]:
    """Read the members that the server finds between the bounds of ``prefix``."""
    start, end = prefix_bounds(prefix)
    return list(redis.zrange("members", start, end, bylex=True))


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        (b"red", b"(ree"),
        (b"user:100:", b"(user:100;"),
        (b"\x00", b"(\x01"),
        (b"\xfe", b"(\xff"),
        (b"a\xff", b"(b"),
        (b"a\xff\xff", b"(b"),
        (b"\xffa\xff", b"(\xffb"),
        ("café".encode(), b"(caf\xc3\xaa"),
        (b"\xff", b"+"),
        (b"\xff\xff", b"+"),
        (b"", b"+"),
    ],
)
def test_the_end_is_the_prefix_with_its_last_byte_incremented(prefix: bytes, end: bytes) -> None:
    assert prefix_bounds(prefix) == (b"[" + prefix, end)


def test_bounds_select_exactly_the_members_with_the_prefix(binary_redis: Redis) -> None:
    draw = random.Random(SEED)
    members = {bytes(draw.choices(ALPHABET, k=draw.randrange(7))) for _ in range(3000)}
    binary_redis.zadd("members", dict.fromkeys(members, 0))
    prefixes = {member[:length] for member in members for length in range(4)}
    prefixes |= {bytes(draw.choices(ALPHABET, k=4)) for _ in range(200)}
    for prefix in prefixes:
        assert beginning_with(binary_redis, prefix) == sorted(member for member in members if member.startswith(prefix))
    assert {b"", b"\xff", b"\xff\xff", b"\xfe\xff", b"\x00"} <= prefixes


def test_every_byte_can_end_a_prefix(binary_redis: Redis) -> None:
    every_byte = [bytes([byte]) for byte in range(256)]
    binary_redis.zadd("members", {byte + rest: 0 for byte in every_byte for rest in (b"", b"\x00", b"\xff")})
    for prefix in every_byte:
        assert beginning_with(binary_redis, prefix) == [prefix, prefix + b"\x00", prefix + b"\xff"]


def test_a_member_with_ff_behind_the_prefix_is_found(binary_redis: Redis) -> None:
    members = [b"user:100:1", b"user:100:draft", b"user:100:\xff", b"user:100:\xff\xff"]
    binary_redis.zadd("members", dict.fromkeys([*members, b"user:100", b"user:1000:1", b"user:100;"], 0))
    assert beginning_with(binary_redis, b"user:100:") == members
    assert binary_redis.zlexcount("members", b"[user:100:", b"(user:100:\xff") == len(members) - 2


def test_the_file_leaves_no_key(redis_url: str, redis: Redis) -> None:
    environment = os.environ | {"REDIS_URL": redis_url}
    run = subprocess.run([sys.executable, FILE], env=environment, capture_output=True, check=True)
    assert run.stdout.count(b"\n") == 3
    assert redis.keys() == []
