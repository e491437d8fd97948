"""A server for our scripts and the packaged ones."""

from __future__ import annotations

from collections.abc import Iterator

import key_space
import lua_under_test
import pytest
import queue_calls
from parity import Pair
from redis import Redis

from redis_transcripts import server


@pytest.fixture(scope="package")
def redis_url() -> Iterator[str]:
    settings = {**key_space.SERVER_SETTINGS, **lua_under_test.server_settings()}
    running = server.Server(server.find(None), settings)
    yield running.url
    running.stop()


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    """A client that speaks RESP2 and answers with bytes, on an empty server."""
    with Redis.from_url(redis_url, protocol=2) as client:
        client.flushall()
        yield client


@pytest.fixture
def pair(redis: Redis) -> Pair:
    """The packaged scripts on database 0, and ours on database 1."""
    return queue_calls.pair(redis)
