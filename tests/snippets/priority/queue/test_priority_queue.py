"""What a reader of ``priority_queue.py`` relies on, with every kind of client."""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lua_under_test
import pytest
import redis.asyncio
import valkey
from queue_clients import KINDS, NAME, Opened
from redis import ResponseError
from snippets.priority.queue.priority_queue import (
    BLOCK_SECONDS,
    AsyncQueue,
    JobError,
    JobMissingError,
    LockLostError,
    Parent,
    ParentMissingError,
    Plans,
    Queue,
    ScriptMissingError,
    TakenJob,
)

SIX_JOBS = [(7, 3), (8, 1), (9, 2), (10, 1), (11, 3), (12, 2)]
ONE_KIND = pytest.mark.parametrize("opened", ["redis"], indirect=True)
"""For what does not depend on the client."""

IN_ORDER = ["8", "10", "9", "12", "7", "11"]


def add_six(opened: Opened, queue: Queue) -> list[str]:
    opened.look.set(opened.key("id"), 6)
    return [queue.add("order", {"number": number}, priority=priority) for number, priority in SIX_JOBS]


def taken(queue: Queue, worker: str = "worker", lock_duration: float = 30.0, **settings: Any) -> TakenJob:
    job = queue.take(worker, lock_duration, **settings)
    assert job is not None
    return job


def test_the_six_jobs_are_taken_in_order_and_finished(opened: Opened, queue: Queue) -> None:
    assert add_six(opened, queue) == ["7", "8", "9", "10", "11", "12"]
    for job_id, priority in zip(IN_ORDER, (1, 1, 2, 2, 3, 3), strict=True):
        job = taken(queue)
        assert (job.id, job.name, job.data, job.priority) == (job_id, "order", {"number": int(job_id)}, priority)
        assert opened.active() == [job_id]
        assert opened.look.get(opened.key(f"{job_id}:lock")) == job.token
        queue.complete(job, {"sent": True})
    assert queue.take("worker") is None
    assert opened.look.zcard(opened.key("completed")) == 6
    assert opened.look.hget(opened.key("8"), "returnvalue") == '{"sent":true}'
    assert opened.look.exists(opened.key("8:lock")) == 0


@ONE_KIND
def test_a_failed_job_keeps_the_reason_and_where_it_came_from(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    try:
        raise RuntimeError("out of stock")
    except RuntimeError as error:
        queue.fail(taken(queue), error)
    fields = opened.look.hgetall(opened.key("1"))
    assert fields["failedReason"] == "out of stock"
    [trace] = json.loads(fields["stacktrace"])
    assert "test_a_failed_job_keeps" in trace
    assert opened.look.zrange(opened.key("failed"), 0, -1) == ["1"]
    assert opened.active() == []


def test_what_waits_can_be_looked_at(opened: Opened, queue: Queue) -> None:
    assert queue.peek() is None
    add_six(opened, queue)
    before = opened.keys()
    job = queue.peek()
    assert job is not None
    assert (job.id, job.data) == ("8", {"number": 8})
    assert [queue.position(job_id) for job_id in IN_ORDER] == [0, 1, 2, 3, 4, 5]
    assert queue.position("13") is None
    assert queue.counts([1, 2, 3, 4, 0]) == {1: 2, 2: 2, 3: 2, 4: 0, 0: 0}
    assert opened.keys() == before


@ONE_KIND
def test_jobs_without_a_priority_stand_before_all(opened: Opened, queue: Queue) -> None:
    add_six(opened, queue)
    queue.change_priority("11", 0)
    queue.change_priority("12", 0)
    assert [queue.position(job_id) for job_id in ("11", "12", "8")] == [0, 1, 2]
    assert queue.counts([0, 2, 3]) == {0: 2, 2: 1, 3: 1}
    first = queue.peek()
    assert first is not None
    assert (first.id, first.priority) == ("11", 0)


@ONE_KIND
def test_a_tier_is_counted_to_its_ends(opened: Opened, queue: Queue) -> None:
    ends = {f"{tier} {end}": tier * 2**32 + counter for tier in (1, 2) for end, counter in (("a", 0), ("z", 2**32 - 1))}
    opened.look.zadd(opened.key("prioritized"), ends)
    assert queue.counts([1, 2, 3]) == {1: 2, 2: 2, 3: 0}


def test_a_take_does_not_wait_unless_it_is_told_to(queue: Queue) -> None:
    start = time.monotonic()
    assert queue.take("worker") is None
    assert time.monotonic() - start < 1
    start = time.monotonic()
    assert queue.take("worker", timeout=0.3) is None
    assert 0.3 <= time.monotonic() - start < 1.5


def test_a_take_that_waits_is_woken(opened: Opened, queue: Queue) -> None:
    producer = opened.queue()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(taken, queue, timeout=math.inf)
        time.sleep(0.15)
        start = time.monotonic()
        producer.add("order", {}, priority=5)
        assert waiting.result(timeout=5).id == "1"
        assert time.monotonic() - start < BLOCK_SECONDS - 0.15  # A worker that looks by itself comes later.


@ONE_KIND
def test_a_delayed_job_is_taken_when_it_is_due(opened: Opened, queue: Queue) -> None:
    due = time.time() + 0.3
    opened.look.zadd(opened.key("delayed"), {"later": int(due * 1000) * 0x1000})
    opened.look.hset(opened.key("later"), mapping={"name": "order", "data": "{}", "priority": 1})
    assert taken(queue, timeout=5).id == "later"
    assert due - 0.01 <= time.time() < due + 1.5


def test_a_take_waits_for_the_rate_limit(opened: Opened, queue: Queue) -> None:
    add_six(opened, queue)
    opened.look.hset(opened.key("meta"), mapping={"max": 1, "duration": 300})
    start = time.monotonic()
    assert [taken(queue, timeout=5).id, taken(queue, timeout=5).id] == ["8", "10"]
    assert 0.25 < time.monotonic() - start < 2
    assert queue.take("worker") is None


def test_a_server_without_the_scripts_gets_them(opened: Opened, queue: Queue) -> None:
    add_six(opened, queue)
    assert taken(queue).id == "8"
    opened.look.script_flush()
    assert taken(queue).id == "10"
    opened.look.script_flush()
    assert queue.counts([2]) == {2: 2}
    assert opened.active() == ["10", "8"]


def test_two_workers_share_the_jobs(opened: Opened) -> None:
    producer = opened.queue()
    added = [producer.add("order", {}, priority=1 + number % 3) for number in range(30)]

    def work(queue: Queue) -> list[str]:
        found = []
        while job := queue.take("worker"):
            queue.complete(job)
            found.append(job.id)
        return found

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(work, [opened.queue(), opened.queue()])
    assert sorted(first + second, key=int) == added
    assert opened.look.zcard(opened.key("completed")) == 30


def test_threads_may_share_a_queue(open_kind: Callable[[str], Opened]) -> None:
    queue = open_kind("redis").queue()
    added = [queue.add("order", {}, priority=1) for _ in range(40)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: taken(queue).id, added))
    assert sorted(found, key=int) == added


def test_a_lock_that_ran_out_or_is_anothers_is_lost(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue)
    opened.look.set(opened.key("1:lock"), "another")
    before = opened.keys()
    for attempt in (queue.complete, lambda job: queue.fail(job, "why"), queue.release):
        with pytest.raises(LockLostError, match=r"job 1 is locked by another worker: .* extend_lock"):
            attempt(job)
    with pytest.raises(LockLostError):
        queue.extend_lock(job)
    assert opened.keys() == before

    opened.look.delete(opened.key("1:lock"))
    before = opened.keys()
    for attempt in (queue.complete, lambda job: queue.fail(job, "why"), queue.release, queue.extend_lock):
        with pytest.raises(LockLostError, match=r"job 1 is no longer locked: .* lock_duration") as caught:
            attempt(job)
        assert caught.value.job_id == "1"
    assert opened.keys() == before


def test_an_extended_lock_lasts_longer(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue, lock_duration=5)
    assert 4000 < opened.look.pttl(opened.key("1:lock")) <= 5000
    queue.extend_lock(job, 60)
    assert 59000 < opened.look.pttl(opened.key("1:lock")) <= 60000
    queue.extend_lock(job)
    assert 4000 < opened.look.pttl(opened.key("1:lock")) <= 5000


def test_a_stalled_job_is_recovered_and_finished_by_another(opened: Opened) -> None:
    dead, alive = opened.queue(), opened.queue()
    add_six(opened, alive)
    left = taken(dead, "dead", lock_duration=0.05)
    kept = taken(alive, "alive")
    time.sleep(0.06)

    def recover() -> list[str]:
        opened.look.delete(opened.key("stalled-check"))
        return alive.recover_stalled()

    assert recover() == []
    assert alive.recover_stalled() == []  # Another worker's turn comes after the interval.
    assert recover() == ["8"]
    assert alive.position("8") == 0
    again = taken(alive, "alive")
    assert (left.id, again.id, kept.id) == ("8", "8", "10")
    with pytest.raises(LockLostError):
        dead.complete(left, "late")
    alive.complete(again, "in time")
    assert opened.look.hget(opened.key("8"), "returnvalue") == '"in time"'


@ONE_KIND
def test_a_job_that_stalls_again_is_to_be_failed(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    for deferred in (None, None):
        assert taken(queue, lock_duration=0.01).deferred_failure is deferred
        time.sleep(0.02)
        for _ in range(2):
            queue.recover_stalled(interval=0.001)
            time.sleep(0.01)
    job = taken(queue)
    assert job.deferred_failure == "job stalled more than allowable limit"
    queue.fail(job, job.deferred_failure)
    assert opened.look.hexists(opened.key("1"), "defa") is False


def test_the_priority_of_a_waiting_job_changes(opened: Opened, queue: Queue) -> None:
    add_six(opened, queue)
    queue.change_priority("7", 1)
    assert opened.prioritized() == ["8", "10", "7", "9", "12", "11"]
    queue.change_priority("11", 1, lifo=True)
    assert opened.prioritized() == ["11", "8", "10", "7", "9", "12"]
    assert opened.look.hget(opened.key("11"), "priority") == "1"
    with pytest.raises(JobMissingError, match="job 13 does not exist"):
        queue.change_priority("13", 1)


@pytest.mark.parametrize("priority", ["0.5", "-1", "2097152", "high", "nan", "inf", ""])
def test_the_script_refuses_a_priority_that_has_no_tier(priority: str, open_kind: Callable[[str], Opened]) -> None:
    opened = open_kind("redis")
    opened.queue().add("order", {}, priority=1)
    before = opened.keys()
    names = ("1", "wait", "prioritized", "active", "meta", "pc", "marker")
    script = (opened.scripts / "changePriority.lua").read_text(encoding="utf-8")
    with pytest.raises(ResponseError, match="of job 1 is not a whole number from 0 to 2097151"):
        opened.look.eval(script, len(names), *map(opened.key, names), "1", priority, "0")
    assert opened.keys() == before


def test_a_kept_score_is_the_way_back_to_the_place(opened: Opened, queue: Queue) -> None:
    add_six(opened, queue)
    before = opened.look.zrange(opened.key("prioritized"), 0, -1, withscores=True)
    jobs = [taken(queue, keep_score=True) for _ in range(2)]
    assert [(job.id, job.score) for job in jobs] == [("8", 4294967298), ("10", 4294967300)]
    for job in reversed(jobs):
        assert queue.release(job) == 0
    assert opened.look.zrange(opened.key("prioritized"), 0, -1, withscores=True) == before
    assert opened.active() == []


@ONE_KIND
def test_a_kept_score_is_exact_in_the_last_tier(opened: Opened, queue: Queue) -> None:
    opened.look.set(opened.key("pc"), 2**32 - 2)
    queue.add("order", {}, priority=2**21 - 1)
    job = taken(queue, keep_score=True)
    assert job.score == 2**53 - 1
    queue.release(job)
    assert opened.look.zscore(opened.key("prioritized"), "1") == 2**53 - 1


def test_a_released_job_goes_to_the_front_of_its_tier(opened: Opened, queue: Queue) -> None:
    add_six(opened, queue)
    first, second = taken(queue), taken(queue)
    assert (first.score, second.score) == (None, None)
    queue.release(second)
    assert opened.look.zscore(opened.key("prioritized"), "10") == 2**32
    queue.release(first)
    # Both have the score of the front, and the text 10 sorts before 8.
    assert opened.prioritized() == ["10", "8", "9", "12", "7", "11"]


@ONE_KIND
def test_a_release_tells_how_long_the_rate_limit_runs(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue)
    opened.look.set(opened.key("limiter"), 1, px=5000)
    assert 4 < queue.release(job) <= 5


def test_an_id_of_ones_own_is_added_once(opened: Opened, queue: Queue) -> None:
    assert [queue.add("order", {}, priority=priority, job_id="mine") for priority in (2, 1)] == ["mine", "mine"]
    assert opened.look.zrange(opened.key("prioritized"), 0, -1, withscores=True) == [("mine", 2 * 2**32 + 1)]


def test_a_parent_must_exist_and_stay_the_same(opened: Opened, queue: Queue) -> None:
    with pytest.raises(ParentMissingError, match=r"job order was not added.* add the parent first"):
        queue.add("order", {}, priority=1, parent=Parent(f"emq:{NAME}", "big"))
    assert opened.look.exists(opened.key("id")) == 0

    for parent in ("big", "bigger"):
        opened.look.hset(opened.key(parent), "name", parent)
    queue.add("order", {}, priority=1, job_id="part", parent=Parent(f"emq:{NAME}", "big"))
    assert opened.look.smembers(opened.key("big:dependencies")) == {opened.key("part")}
    with pytest.raises(JobError, match="job part exists already and has another parent"):
        queue.add("order", {}, priority=1, job_id="part", parent=Parent(f"emq:{NAME}", "bigger"))


@ONE_KIND
@pytest.mark.parametrize("priority", [0, -1, 2097152])
def test_a_priority_without_a_tier_is_not_sent(priority: int, opened: Opened, queue: Queue) -> None:
    with pytest.raises(ValueError, match=f"priority {priority} of job order has no tier: take one from 1 to 2097151"):
        queue.add("order", {}, priority=priority)
    assert opened.keys() == {}


@ONE_KIND
@pytest.mark.parametrize("priority", [1.0, "1", None, True])
def test_a_priority_that_is_no_integer_is_not_sent(priority: Any, opened: Opened, queue: Queue) -> None:
    with pytest.raises(TypeError, match="is not an integer"):
        queue.add("order", {}, priority=priority)
    with pytest.raises(TypeError, match="of job 1 is not an integer"):
        queue.change_priority("1", priority)
    assert opened.keys() == {}


@pytest.mark.parametrize("job_id", ["", "7", "a:b", "wait"])
def test_an_id_that_would_clash_is_not_sent(job_id: str, open_kind: Callable[[str], Opened]) -> None:
    opened = open_kind("redis")
    with pytest.raises(ValueError, match="no number, no key of the queue, and has no colon"):
        opened.queue().add("order", {}, priority=1, job_id=job_id)
    assert opened.keys() == {}


@ONE_KIND
def test_a_job_whose_hash_is_gone_can_be_failed(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    opened.look.delete(opened.key("1"))
    job = taken(queue)
    with pytest.raises(JobMissingError, match=r"job 1 has no data.* Fail it"):
        _ = job.data
    queue.fail(job, "its hash is gone")
    assert opened.look.zrange(opened.key("failed"), 0, -1) == ["1"]


@ONE_KIND
def test_a_job_that_was_removed_is_missing(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue)
    opened.look.delete(opened.key("1"))
    for attempt in (queue.complete, lambda job: queue.fail(job, "why"), queue.release):
        with pytest.raises(JobMissingError, match="job 1 does not exist"):
            attempt(job)
    assert opened.active() == ["1"]


@ONE_KIND
def test_a_job_that_is_not_active_keeps_its_lock(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue)
    opened.look.delete(opened.key("active"))
    before = opened.keys()
    for attempt in (queue.complete, lambda job: queue.fail(job, "why"), queue.release):
        with pytest.raises(JobError, match="job 1 is not active"):
            attempt(job)
    assert opened.keys() == before


@ONE_KIND
def test_a_job_with_children_is_not_completed_before_them(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue)
    opened.look.sadd(opened.key("1:dependencies"), "child")
    with pytest.raises(JobError, match="children that are not finished"):
        queue.complete(job)
    opened.look.delete(opened.key("1:dependencies"))
    opened.look.zadd(opened.key("1:unsuccessful"), {"child": 1})
    with pytest.raises(JobError, match="children that failed"):
        queue.complete(job)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("parentKey", "emq:{orders}:big", "has a parent"),
        ("parent", "{}", "has a parent"),
        ("deid", "once", "was added with deduplication"),
        ("opts", '{"removeOnComplete":true,"removeOnFail":{"count":9}}', "has the option removeOn"),
        ("opts", '{"removeOnComplete":0,"removeOnFail":0}', "has the option removeOn"),
    ],
)
def test_a_job_that_is_not_plain_is_not_finished(
    field: str, value: str, why: str, open_kind: Callable[[str], Opened]
) -> None:
    opened = open_kind("redis")
    queue = opened.queue()
    queue.add("order", {}, priority=1)
    job = taken(queue)
    opened.look.hset(opened.key("1"), field, value)
    before = opened.keys()
    with pytest.raises(JobError, match=f"job 1 {why}.*; let BullMQ finish it"):
        queue.complete(job)
    with pytest.raises(JobError, match=f"job 1 {why}.*; let BullMQ finish it"):
        queue.fail(job, "why")
    assert opened.keys() == before


@ONE_KIND
def test_the_event_that_no_attempt_is_left(opened: Opened, queue: Queue) -> None:
    for attempts in (1, 2):
        queue.add("order", {}, priority=1, options={"attempts": attempts})
        queue.fail(taken(queue), "why")
    events: Any = opened.look.xrange(opened.key("events"))
    assert [fields["jobId"] for _, fields in events if fields["event"] == "retries-exhausted"] == ["1"]


@ONE_KIND
def test_a_result_that_is_no_json_is_not_sent(opened: Opened, queue: Queue) -> None:
    queue.add("order", {}, priority=1)
    job = taken(queue)
    with pytest.raises(TypeError, match="not JSON serializable"):
        queue.complete(job, object())
    queue.complete(job)
    assert opened.look.hget(opened.key("1"), "returnvalue") == "null"


@ONE_KIND
def test_only_the_scripts_that_are_used_have_to_be_there(opened: Opened, scripts: Path, tmp_path: Path) -> None:
    queue = opened.queue(scripts=tmp_path)
    for name in ("addPrioritizedJob-9", "position"):
        (tmp_path / f"{name}.lua").write_bytes((scripts / f"{name}.lua").read_bytes())
    assert queue.position(queue.add("order", {}, priority=1)) == 0
    with pytest.raises(ScriptMissingError, match=r"peek\.lua: No such file .*; copy it there, or correct scripts="):
        queue.peek()
    (tmp_path / "peek.lua").write_bytes((scripts / "peek.lua").read_bytes())
    assert queue.peek() is not None


@ONE_KIND
def test_a_take_asks_for_its_second_script_at_once(opened: Opened, scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "moveToActive-11.lua").write_bytes((scripts / "moveToActive-11.lua").read_bytes())
    with pytest.raises(ScriptMissingError, match=r"takeAgain\.lua"):
        opened.queue(scripts=tmp_path).take("worker")


def test_another_prefix(open_kind: Callable[[str], Opened], scripts: Path) -> None:
    opened = open_kind("redis")
    with opened.place.look() as client:
        Queue(client, "orders", scripts=scripts, prefix="bull").add("order", {}, priority=1)
    assert opened.look.zrange("bull:orders:prioritized", 0, -1) == ["1"]


def test_a_client_of_the_other_kind_is_refused(scripts: Path) -> None:
    with pytest.raises(TypeError, match="an asyncio client needs an AsyncQueue"):
        Queue(redis.asyncio.Redis(), NAME, scripts=scripts)
    with pytest.raises(TypeError, match="any other a Queue"):
        AsyncQueue(valkey.Valkey(), NAME, scripts=scripts)


@pytest.mark.parametrize("opened", ["cluster", "cluster, asyncio"], indirect=True)
def test_a_cluster_wants_a_hash_tag(opened: Opened) -> None:
    with pytest.raises(ValueError, match=r"queue orders: on a cluster its keys need a hash tag; call it \{orders\}"):
        opened.queue(name="orders")


def test_both_queues_have_the_calls_of_the_plans() -> None:
    calls = {name for name, value in vars(Plans).items() if callable(value) and not name.startswith("_")}
    for queue in (Queue, AsyncQueue):
        assert {name for name in vars(queue) if not name.startswith("_")} - {"carry_out"} == calls
        assert all(getattr(queue, name).__doc__ == getattr(Plans, name).__doc__ for name in calls)


def test_the_tasks_of_a_loop_may_share_a_queue(open_kind: Callable[[str], Opened], scripts: Path) -> None:
    opened = open_kind("redis.asyncio, RESP3")

    async def take_all() -> list[str]:
        async with opened.kind.client(opened.place) as client:
            queue = AsyncQueue(client, NAME, scripts=scripts)
            waiting = [asyncio.create_task(queue.take(f"worker-{number}", timeout=5)) for number in range(4)]
            await asyncio.sleep(0.1)
            for _ in range(4):
                await queue.add("order", {}, priority=1)
            return [job.id for job in await asyncio.gather(*waiting) if job]

    assert sorted(asyncio.run(take_all())) == ["1", "2", "3", "4"]


@ONE_KIND
@pytest.mark.parametrize("option", ["delay", "deduplication", "repeat"])
def test_what_is_not_done_here_is_refused_when_it_is_added(opened: Opened, option: str) -> None:
    with pytest.raises(ValueError, match=rf"options \['{option}'\] of job order are not done here"):
        opened.queue().add("order", {}, priority=1, options={option: 1})
    assert opened.keys() == {}


@ONE_KIND
def test_a_job_id_that_is_no_text_is_refused(opened: Opened) -> None:
    with pytest.raises(TypeError, match="job_id 42 is not a text"):
        opened.queue().add("order", {}, priority=1, job_id=42)  # type: ignore[arg-type]
    assert opened.keys() == {}


@ONE_KIND
def test_the_source_of_a_script_is_not_taken_for_the_script(opened: Opened) -> None:
    queue = opened.queue(scripts=lua_under_test.ROOT / "lua")
    with pytest.raises(ScriptMissingError, match=r"addPrioritizedJob-9\.lua: this is its source.*download the file"):
        queue.add("order", {}, priority=1)
    assert opened.keys() == {}


def test_a_job_that_is_no_utf_8_is_taken_and_can_be_failed(opened: Opened, queue: Queue) -> None:
    job_id = queue.add("order", {}, priority=1)
    with opened.place.look() as client:
        client.hset(opened.key(job_id), "data", b"\xff")
    job = taken(queue)
    assert job.id == job_id
    queue.fail(job, "no text")
    assert opened.look.zcard(opened.key("failed")) == 1


@ONE_KIND
def test_attempts_that_are_no_number_do_not_keep_a_job_from_failing(opened: Opened) -> None:
    queue = opened.queue()
    queue.add("order", {}, priority=1, options={"attempts": "three"})
    queue.fail(taken(queue), "no")
    assert opened.look.zcard(opened.key("failed")) == 1


@ONE_KIND
def test_a_kept_score_of_another_tier_gives_way_to_the_priority(opened: Opened) -> None:
    queue = opened.queue()
    queue.add("order", {}, priority=3)
    job = taken(queue, keep_score=True)
    queue.change_priority(job.id, 1)
    queue.release(job)
    assert opened.look.zscore(opened.key("prioritized"), job.id) == 2**32


@ONE_KIND
@pytest.mark.parametrize(
    ("script", "keys", "arguments", "fault"),
    [
        ("release", 9, ("1", "t", "abc"), "score abc is not a number"),
        ("complete", 8, ("1", "t", "", "{}"), "arguments of job 1"),
        ("complete", 8, ("1", "t", 1764547200000), "arguments of job 1"),
        ("fail", 8, ("1", "t", 1764547200000, "no", "[]", "three"), "arguments of job 1"),
        ("recoverStalled", 8, ("x", "emq:{orders}:", 1764547200000, 30000), "arguments"),
        ("recoverStalled", 8, (1, "emq:{orders}:", 1764547200000, 0), "arguments"),
    ],
)
def test_a_script_refuses_what_is_no_number_before_it_writes(
    opened: Opened, script: str, keys: int, arguments: tuple[Any, ...], fault: str
) -> None:
    queue = opened.queue()
    queue.add("order", {}, priority=1)
    taken(queue)
    names = {"release": ("1", "wait", "active"), "recoverStalled": ("stalled", "wait", "active")}
    first = names.get(script, ("1", "active", script))
    key_names = [opened.key(name) for name in first] + [opened.key(f"other-{number}") for number in range(keys - 3)]
    before = opened.keys()
    text = (opened.scripts / f"{script}.lua").read_text()
    with opened.place.look() as client, pytest.raises(ResponseError, match=fault):
        client.eval(text, keys, *key_names, *arguments)
    assert opened.keys() == before


def test_an_error_of_a_job_survives_the_way_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(LockLostError("7", "is gone")))
    assert (type(error), error.job_id, str(error)) == (LockLostError, "7", "job 7 is gone")


@pytest.mark.parametrize("opened", [name for name, kind in KINDS.items() if kind.on != "cluster"], indirect=True)
def test_a_connection_is_given_back_after_each_call(opened: Opened) -> None:
    queue = opened.queue(max_connections=1)
    for _ in range(3):
        queue.add("order", {}, priority=1)
        queue.release(taken(queue))


@ONE_KIND
def test_a_take_that_is_limited_waits_no_longer_than_it_is_told(opened: Opened) -> None:
    queue = opened.queue()
    queue.add("order", {}, priority=1)
    opened.look.hset(opened.key("meta"), mapping={"max": 1, "duration": 60000})
    opened.look.set(opened.key("limiter"), 1, px=60000)
    began = time.monotonic()
    assert queue.take("worker", timeout=0.1) is None
    assert time.monotonic() - began < 10
