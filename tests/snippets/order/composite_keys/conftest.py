"""A client for members that are no text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis


@pytest.fixture
def binary_redis(redis_url: str) -> Iterator[Redis]:
    """A client that speaks RESP2 and does not decode, on an empty server."""
    with Redis.from_url(redis_url, protocol=2) as client:
        client.flushall()
        yield client
