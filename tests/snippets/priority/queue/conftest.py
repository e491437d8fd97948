"""Servers for queues by every kind of client, and an empty one for each test."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import lua_under_test
import pytest
from queue_clients import KINDS, PREFIX, Opened, Place
from snippets.priority.queue.priority_queue import Queue

from redis_transcripts import server
from redis_transcripts.cluster import Cluster


@pytest.fixture(scope="package")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every script, its includes resolved."""
    folder = tmp_path_factory.mktemp("scripts")
    for path in (lua_under_test.ROOT / "lua").glob("*.lua"):
        (folder / path.name).write_text(lua_under_test.text(path), encoding="utf-8")
    return folder


@pytest.fixture(scope="package")
def places() -> Iterator[Callable[[str], Place]]:
    """Starts what is needed, when it is needed."""
    started: dict[str, Place] = {}
    with contextlib.ExitStack() as ends:

        def place(name: str) -> Place:
            if name not in started:
                if name == "cluster":
                    cluster = Cluster(server.find(None))
                    ends.callback(cluster.stop)
                    endpoint = cluster.node_for(PREFIX.encode())
                    entry = next(address for address in cluster.addresses() if address != endpoint)
                    started[name] = Place(endpoint, entry)
                else:
                    found = server.find(None if name == "default" else name)
                    running = server.Server(found, lua_under_test.server_settings())
                    ends.callback(running.stop)
                    started[name] = Place(running.address())
            return started[name]

        yield place


@pytest.fixture
def open_kind(places: Callable[[str], Place], scripts: Path) -> Iterator[Callable[[str], Opened]]:
    with contextlib.ExitStack() as ends:

        def open_it(name: str) -> Opened:
            kind = KINDS[name]
            place = places(kind.on)
            look = ends.enter_context(place.look())
            look.flushall()
            look.script_flush()
            return Opened(place, kind, look, scripts, ends)

        yield open_it


@pytest.fixture(params=KINDS)
def opened(open_kind: Callable[[str], Opened], request: pytest.FixtureRequest) -> Opened:
    return open_kind(request.param)


@pytest.fixture
def queue(opened: Opened) -> Queue:
    return opened.queue()
