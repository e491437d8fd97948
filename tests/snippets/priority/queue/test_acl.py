"""The rights that ``docs/priority/queue.md`` prints are what all scripts need, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import queue_calls
from parity import Call
from redis import Redis
from redis.exceptions import NoPermissionError, ResponseError
from snippets.priority.queue.priority_queue import Queue, TakenJob

from redis_transcripts import server

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/priority/queue.md").read_text()
PREFIX = queue_calls.PREFIX
# Redis 7.0, and Valkey 9.1; in a script, and outside of one.
_REFUSAL = r"(?i)NOPERM|no permission|has no permissions|can't run this command"
NOW = 1_764_547_200_000


def rule() -> list[str]:
    (printed,) = re.findall(r"^> ACL SETUSER worker (.*)$", PAGE, re.M)
    return str(printed).split()


RIGHTS = [word for word in rule() if word.startswith("+")]


@pytest.fixture(scope="module")
def running() -> Iterator[server.Server]:
    started = server.Server(server.find(None))
    yield started
    started.stop()


@pytest.fixture
def admin(running: server.Server) -> Redis:
    client = Redis(*running.address(), decode_responses=True)
    client.flushall()
    return client


@pytest.fixture
def as_worker(running: server.Server, admin: Redis, scripts: Path) -> Callable[[Sequence[str]], Queue]:
    """Gives the queue of a user with this rule."""

    def give(words: Sequence[str]) -> Queue:
        admin.acl_deluser("worker")
        admin.execute_command("ACL", "SETUSER", "worker", *words)  # type: ignore[no-untyped-call]
        client = Redis(*running.address(), username="worker", password="secret", decode_responses=True)
        return Queue(client, "{orders}", scripts=scripts)

    return give


def use_everything(queue: Queue, admin: Redis, scripts: Path) -> None:
    """Run every script on every way through it that sends another command."""
    worker: Redis = queue._client

    def run(name: str, keys: Sequence[str], *arguments: object) -> object:
        return worker.eval((scripts / f"{name}.lua").read_text(), len(keys), *keys, *arguments)  # type: ignore[arg-type]

    def call(prepared: Call) -> None:
        run(prepared.script, prepared.keys, *prepared.arguments)

    _use_the_queue(queue, admin)
    _use_families_and_delays(call, admin)
    _diagnose(run, admin)


def _use_the_queue(queue: Queue, admin: Redis) -> None:
    admin.hset(f"{PREFIX}meta", "concurrency", 100)
    ids = [queue.add("order", {}, priority=1) for _ in range(6)]
    assert queue.peek() is not None
    assert queue.position(ids[1]) == 1
    assert queue.counts([0, 1]) == {0: 0, 1: 6}
    queue.change_priority(ids[5], 2)
    queue.change_priority(ids[5], 2, lifo=True)
    queue.change_priority(ids[5], 0)
    assert queue.position(ids[5]) == 0
    queue.change_priority(ids[5], 2)
    completed, failed, kept, stalled = (_taken(queue), _taken(queue), queue.take("w", keep_score=True), _taken(queue))
    queue.extend_lock(completed)
    queue.complete(completed)
    queue.fail(failed, "no")
    assert kept is not None
    queue.release(kept)
    queue.release(_taken(queue))
    queue.plans._in_doubt.append(stalled.token)
    assert queue.take("w") is not None
    admin.delete(f"{PREFIX}{stalled.id}:lock")
    for _ in range(2):
        admin.delete(f"{PREFIX}stalled-check")
        queue.recover_stalled()
    while queue.take("w"):
        pass
    queue.take("w", timeout=0.02)


def _taken(queue: Queue) -> TakenJob:
    job = queue.take("w")
    assert job is not None
    return job


def _use_families_and_delays(call: Callable[[Call], None], admin: Redis) -> None:
    parent = queue_calls.Parent("family")
    admin.hset(parent.key, "name", "parent")
    call(queue_calls.add(1, timestamp=NOW, job="child", parent=parent))
    call(queue_calls.add(1, timestamp=NOW, job="child", parent=parent))
    admin.zadd(f"{PREFIX}completed", {"child": 1})
    admin.hset(f"{PREFIX}child", "returnvalue", "1")
    for priority, delay in ((0, 0), (1, 0), (0, 1000)):
        admin.zadd(f"{PREFIX}waiting-children", {"family": 1})
        admin.delete(f"{parent.key}:dependencies")
        admin.hset(parent.key, mapping={"priority": priority, "delay": delay})
        call(queue_calls.add(1, timestamp=NOW, job="child", parent=parent))
    admin.rpush(f"{PREFIX}wait", "0:1")
    call(queue_calls.take(NOW + 2000, token="t", limiter={"max": 1, "duration": 1000}))
    call(queue_calls.take(NOW + 2000, token="t", limiter={"max": 1, "duration": 1000}))


def _diagnose(run: Callable[..., object], admin: Redis) -> None:
    (names,) = re.findall(r"^-- KEYS.*?(?=^--$)", (ROOT / "lua/diagnose.lua").read_text(), re.M | re.S)
    numbered = sorted(re.findall(r"KEYS\[(\d+)\] +([\w-]+)", names), key=lambda found: int(found[0]))
    keys = [PREFIX + name for _, name in numbered]
    admin.hset(f"{PREFIX}meta", mapping={"max": 1, "duration": 1000, "concurrency": 1})
    admin.set(f"{PREFIX}limiter", 1, px=60000)
    admin.zadd(f"{PREFIX}delayed", {"late": NOW * 4096})
    admin.lpush(f"{PREFIX}wait", "plain")
    for job in ("child", "plain", "late", "gone", ""):
        assert run("diagnose", keys, PREFIX, job, NOW)
    assert run("diagnose", keys, PREFIX)


def test_every_script_runs_with_the_rights_of_the_page(
    as_worker: Callable[[Sequence[str]], Queue], admin: Redis, scripts: Path
) -> None:
    use_everything(as_worker(rule()), admin, scripts)
    assert int(admin.zcard(f"{PREFIX}completed")) > 0


@pytest.mark.parametrize("right", RIGHTS)
def test_each_of_the_rights_is_needed(
    right: str, as_worker: Callable[[Sequence[str]], Queue], admin: Redis, scripts: Path
) -> None:
    with pytest.raises(ResponseError, match=_REFUSAL):
        use_everything(as_worker([word for word in rule() if word != right]), admin, scripts)


def test_another_queue_is_out_of_reach(as_worker: Callable[[Sequence[str]], Queue]) -> None:
    with pytest.raises(NoPermissionError):
        as_worker(rule())._client.eval("return 1", 1, "emq:{parcels}:wait")
