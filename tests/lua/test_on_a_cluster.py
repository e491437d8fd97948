"""On three masters a queue with a hash tag works, and one without it gets the errors that are documented."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import queue_calls
from parity import Call
from redis import Redis
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException, ResponseError

from redis_transcripts import server
from redis_transcripts.cluster import Cluster

NOW = 1_764_547_200_000
SCRIPTS = queue_calls.own_scripts()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = Cluster(server.find(None))
    yield started
    started.stop()


@pytest.fixture
def client(cluster: Cluster) -> RedisCluster:
    nodes = [ClusterNode(*address) for address in cluster.addresses()]  # type: ignore[no-untyped-call]
    connected = RedisCluster(startup_nodes=nodes, decode_responses=True)
    connected.flushall(target_nodes=RedisCluster.PRIMARIES)
    return connected


def send(client: Redis | RedisCluster, call: Call, keys: tuple[str, ...] | None = None) -> object:
    keys = keys or call.keys
    return client.eval(SCRIPTS[call.script], len(keys), *keys, *call.arguments)


def without_tag(call: Call) -> tuple[str, ...]:
    return tuple(key.replace("{orders}", "orders") for key in call.keys)


def test_jobs_are_added_and_taken_through_the_cluster(client: RedisCluster) -> None:
    for job, priority in (("a", 2), ("b", 1), ("c", 1)):
        assert send(client, queue_calls.add(priority, timestamp=NOW, job=job)) == job
    taken = [send(client, queue_calls.take(NOW, token="worker")) for _ in range(4)]
    assert [reply[1] for reply in taken if isinstance(reply, list)] == ["b", "c", "a", 0]
    assert client.lrange(queue_calls.key("active"), 0, -1) == ["a", "c", "b"]


@pytest.mark.parametrize("call", [queue_calls.add(1, timestamp=NOW), queue_calls.take(NOW)], ids=["add", "take"])
def test_without_the_tag_a_cluster_client_sends_nothing(client: RedisCluster, call: Call) -> None:
    with pytest.raises(RedisClusterException, match="all keys must map to the same key slot"):
        send(client, call, without_tag(call))


@pytest.mark.parametrize("call", [queue_calls.add(1, timestamp=NOW), queue_calls.take(NOW)], ids=["add", "take"])
def test_without_the_tag_a_node_refuses(cluster: Cluster, call: Call) -> None:
    with (
        Redis(*cluster.addresses()[0]) as node,
        pytest.raises(ResponseError, match="Keys in request don't hash to the same slot"),
    ):
        send(node, call, without_tag(call))


def test_a_parent_on_another_node_is_out_of_reach(cluster: Cluster, client: RedisCluster) -> None:
    own = cluster.node_for(queue_calls.PREFIX.encode())
    tags = (f"family{number}" for number in range(100))
    elsewhere = next(tag for tag in tags if cluster.node_for(f"emq:{{{tag}}}:1".encode()) != own)
    parent = queue_calls.Parent("1", f"emq:{{{elsewhere}}}")
    with pytest.raises(ResponseError, match=r"(?i)non local key"):
        send(client, queue_calls.add(1, timestamp=NOW, job="child", parent=parent))
    assert client.exists(queue_calls.key("child")) == 0
