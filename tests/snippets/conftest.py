"""A server for the code that pages show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis

from redis_transcripts import server


@pytest.fixture(scope="package")
def redis_url() -> Iterator[str]:
    running = server.Server(server.find(None))
    yield running.url
    running.stop()


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    """A client that speaks RESP2 and decodes, on an empty server."""
    with Redis.from_url(redis_url, protocol=2, decode_responses=True) as client:
        client.flushall()
        yield client
