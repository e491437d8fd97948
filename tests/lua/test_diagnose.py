"""diagnose.lua names each thing that keeps a job from being next, writes nothing, and does bounded work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import key_space
import lua_under_test
import pytest
from bullmq import Queue as PackagedQueue
from redis import Redis

from redis_transcripts import server
from redis_transcripts.server import Server

NOW = 1_764_547_260_000
TIER = 2**32
KEYS = ("wait", "paused", "active", "prioritized", "delayed", "limiter", "meta", "pc", "marker")
PREFIXES = ("bull:orders:", "emq:{orders}:")
SCRIPT = lua_under_test.text(lua_under_test.ROOT / "lua/diagnose.lua")

Command = tuple[str | int | float, ...]
"""A command as it is sent, but for its key, of which it has the end."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue on a server, with keys that begin with ``prefix``."""

    redis: Any
    prefix: str

    def do(self, *commands: Command) -> None:
        for name, key, *rest in commands:
            self.redis.execute_command(name, f"{self.prefix}{key}", *rest)

    def add(self, job: str | int, score: float, *, age: int = 60_000) -> None:
        """Add a job to ``prioritized``."""
        self.do(("ZADD", "prioritized", score, job), ("HSET", job, "timestamp", NOW - age))

    def six_jobs(self) -> None:
        """Jobs 7 to 12, as the add script leaves them."""
        for counter, (job, priority) in enumerate(zip(range(7, 13), (3, 1, 2, 1, 3, 2), strict=True), 1):
            self.add(job, priority * TIER + counter)
            self.do(("HSET", job, "priority", priority))
        self.do(("SET", "pc", 6), ("ZADD", "marker", 0, "0"))

    def ask(self, *arguments: str | int) -> list[str]:
        """What the script says, given these behind the prefix."""
        keys = [self.prefix + key for key in KEYS]
        told: list[str] = self.redis.eval_ro(SCRIPT, len(keys), *keys, self.prefix, *arguments)
        return told

    def lines(self, job: str | int = "") -> list[str]:
        return self.ask(job, NOW)

    def of_job(self, job: str | int) -> list[str]:
        """What is said of the job: the lines above the first warning, or above what waits."""
        lines = self.lines(job)
        return lines[: next(index for index, line in enumerate(lines) if line.startswith(("!", "wait:")))]

    def warnings(self, job: str | int = "") -> list[str]:
        return [line for line in self.lines(job) if line.startswith("!")]

    def content(self) -> Mapping[str, object]:
        """Each key with its type and content."""
        kwargs = self.redis.connection_pool.connection_kwargs
        with Redis(host=kwargs["host"], port=kwargs["port"], protocol=2) as raw:
            [reading] = key_space.readings(raw.eval(key_space.READ, 0, 0))
        return {key: (value.kind, value.content) for key, value in reading.snapshot().items()}


@pytest.fixture(scope="module", params=[None, server.EMBEDDED], ids=["default", "embedded"])
def running(request: pytest.FixtureRequest) -> Iterator[Server]:
    started = Server(server.find(request.param), lua_under_test.server_settings())
    yield started
    started.stop()


@pytest.fixture(params=PREFIXES)
def queue(request: pytest.FixtureRequest, running: Server) -> Iterator[Queue]:
    with Redis.from_url(running.url, protocol=2, decode_responses=True) as redis:
        redis.flushall()
        yield Queue(redis, request.param)


def test_an_empty_queue(queue: Queue) -> None:
    assert queue.lines() == [
        "wait: 0 jobs",
        "prioritized: 0 jobs",
        "delayed: 0 jobs, 0 of them due",
        "active: 0 jobs, no limit",
        "paused: no",
        "rate limit: none in meta",
        "pc: 0; the highest counter in these tiers is 0",
    ]


def test_the_six_jobs_in_order(queue: Queue) -> None:
    queue.six_jobs()
    queue.add(11, 3 * TIER + 5, age=3_600_000 * 3)
    assert queue.lines() == [
        "wait: 0 jobs",
        "prioritized: 6 jobs",
        "  tier 1: 2 jobs; first 8, added 60 s ago",
        "  tier 2: 2 jobs; first 9, added 60 s ago",
        "  tier 3: 2 jobs; first 7, added 60 s ago",
        "oldest of these: job 8, added 60 s ago",
        "delayed: 0 jobs, 0 of them due",
        "active: 0 jobs, no limit",
        "paused: no",
        "rate limit: none in meta",
        "pc: 6; the highest counter in these tiers is 6",
    ]


def test_the_oldest_is_named_wherever_it_stands(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(("HSET", 7, "timestamp", NOW - 3 * 86_400_000))
    assert "oldest of these: job 7, added 3 d ago" in queue.lines()
    queue.do(("LPUSH", "wait", "a"), ("HSET", "a", "timestamp", NOW - 4 * 86_400_000))
    assert "oldest of these: job a, added 4 d ago" in queue.lines()


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        *((-5, "0 ms"), (0, "0 ms"), (1999, "1999 ms"), (2000, "2 s"), (119_999, "119 s"), (120_000, "2 min")),
        *((7_199_999, "119 min"), (7_200_000, "2 h"), (172_799_999, "47 h"), (172_800_000, "2 d")),
    ],
)
def test_a_time_is_told_in_a_fitting_unit(queue: Queue, milliseconds: int, told: str) -> None:
    queue.add(8, TIER, age=milliseconds)
    assert f"  tier 1: 1 job; first 8, added {told} ago" in queue.lines()


WARNINGS: Mapping[str, tuple[Sequence[Command], str]] = {
    "paused": ([("HSET", "meta", "paused", 1)], "paused: no job is taken"),
    "a list of an older release": (
        [("LPUSH", "paused", "a", "b")],
        "2 jobs in the list paused: an older BullMQ put it there, and takes it out on resume",
    ),
    "concurrency": (
        [("HSET", "meta", "concurrency", 2), ("LPUSH", "active", "a", "b")],
        "2 jobs active, and at most 2 may be: no job is taken",
    ),
    "rate limit": (
        [("HSET", "meta", "max", 3, "duration", 9_000_000), ("SET", "limiter", 3, "PX", 9_000_000)],
        "rate limit: 3 of 3 taken, the next one in 2 h",
    ),
    "a limit without a duration": (
        [("HSET", "meta", "max", 3)],
        "rate limit without a duration: a take fails, unless the worker has one",
    ),
    "wait goes first": ([("LPUSH", "wait", "a"), ("HSET", "a", "name", "x")], "1 job in wait: before any tier"),
    "below tier 1": (
        [("ZADD", "prioritized", 3, "zero", -TIER, "minus"), ("HSET", "zero", "a", 1), ("HSET", "minus", "a", 1)],
        "2 scores below tier 1: before any tier",
    ),
    "past 2^53": (
        [("ZADD", "prioritized", 2**53, "far"), ("HSET", "far", "name", "x")],
        "1 score of 2^53 or more, from a priority above 2097151: their order may be lost",
    ),
    "the counter is behind": (
        [("SET", "pc", 5)],
        "pc is 5, and job 12 of tier 2 has counter 6: a job added now overtakes it",
    ),
    "a tie": (
        [("ZADD", "prioritized", 2 * TIER + 3, "10")],
        "1 score of several jobs, as of 10 and 9: their ids decide",
    ),
    "no hash": ([("DEL", 9), ("DEL", 12)], "2 ids without a hash, as 9, of 6 looked at"),
    "no marker": ([("DEL", "marker")], "no marker: if it stays away, no idle worker is woken"),
}


@pytest.mark.parametrize(("commands", "told"), WARNINGS.values(), ids=WARNINGS)
def test_what_is_wrong_is_named_alone(queue: Queue, commands: Sequence[Command], told: str) -> None:
    queue.six_jobs()
    assert queue.warnings() == []
    queue.do(*commands)
    assert queue.warnings() == [f"! {told}"]


def test_the_counter_is_gone(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(("DEL", "pc"))
    assert len(queue.warnings()) == 3
    assert "pc: 0; the highest counter in these tiers is 6" in queue.lines()


def test_a_counter_that_has_begun_again_is_compared_as_it_counts(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(("SET", "pc", TIER + 6))
    assert queue.warnings() == []
    queue.do(("SET", "pc", TIER + 5))
    assert queue.warnings() == [
        "! pc is 4294967301, and job 12 of tier 2 has counter 6: a job added now overtakes it",
    ]


def test_jobs_pushed_to_the_front_of_a_tier_tie(queue: Queue) -> None:
    for job in ("9", "10", "11"):
        queue.add(job, 5 * TIER)
    for number in range(300):
        queue.add(f"front {number}", TIER + 1 + number)
        queue.add(f"back {number}", 9 * TIER + 1 + number)
    queue.do(("SET", "pc", 300), ("ZADD", "marker", 0, "0"))
    assert queue.warnings() == ["! 1 score of several jobs, as of 10 and 11: their ids decide"]


def test_a_paused_queue_needs_no_marker(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(("HSET", "meta", "paused", 1), ("DEL", "marker"))
    assert queue.warnings() == ["! paused: no job is taken"]


def test_settings_that_hold_nothing_back(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(
        ("HSET", "meta", "concurrency", 5, "max", 10, "duration", 9_000_000), ("SET", "limiter", 4, "PX", 9_000_000)
    )
    queue.do(("LPUSH", "active", "a", "b"), ("HSET", "a", "processedOn", NOW - 5000))
    queue.do(("ZADD", "delayed", (NOW + 1) * 4096, "later", NOW * 4096 + 7, "due"))
    lines = queue.lines()
    assert [line for line in lines if line.startswith("!")] == []
    assert lines[-5:-1] == [
        "delayed: 2 jobs, 1 of them due",
        "active: 2 jobs, at most 5; job a for 5 s",
        "paused: no",
        "rate limit: 4 of 10 taken, counted anew in 2 h",
    ]


def test_a_limit_that_no_job_has_met(queue: Queue) -> None:
    queue.do(("HSET", "meta", "max", 10, "duration", 1000))
    assert "rate limit: 0 of 10 taken" in queue.lines()


def test_a_limit_whose_time_does_not_run_holds_nothing_back(queue: Queue) -> None:
    queue.do(("HSET", "meta", "max", 3, "duration", 1000), ("SET", "limiter", 3))
    assert queue.warnings() == []
    assert "rate limit: 3 of 3 taken" in queue.lines()


def test_the_front_of_tier_1_is_not_below_it(queue: Queue) -> None:
    queue.add("front", TIER)
    queue.do(("ZADD", "marker", 0, "0"))
    assert queue.warnings() == []


def test_where_a_job_with_a_priority_stands_and_why(queue: Queue) -> None:
    queue.six_jobs()
    queue.add("99", 2 * TIER + 6)
    queue.do(("LPUSH", "wait", "13", "14"))
    assert queue.of_job(8) == [
        "job 8: in prioritized, tier 1, counter 2, added 60 s ago",
        "  2 before it",
        "  2 in wait, which goes before any tier",
    ]
    assert queue.of_job(99) == [
        "job 99: in prioritized, tier 2, counter 6, added 60 s ago",
        "  6 before it",
        "  2 in wait, which goes before any tier",
        "  2 in tiers of a lower number",
        "  1 in its tier, with a smaller counter",
        "  1 with the same score, and an id whose bytes sort first",
    ]


def test_nothing_stands_before_the_first(queue: Queue) -> None:
    queue.six_jobs()
    assert queue.of_job(8) == ["job 8: in prioritized, tier 1, counter 2, added 60 s ago", "  0 before it"]


def test_what_is_told_of_a_place_is_the_order_of_taking(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(("LPUSH", "wait", "a", "b"))
    order = ["a", "b", "8", "10", "9", "12", "7", "11"]
    assert [queue.of_job(job)[1] for job in order] == [f"  {before} before it" for before in range(8)]


def test_a_priority_that_differs_from_the_tier(queue: Queue) -> None:
    queue.six_jobs()
    queue.do(("HSET", 9, "priority", 1))
    assert queue.warnings(9) == ["! job 9 has priority 1 in its hash, and is in tier 2"]


PLACES: Mapping[str, tuple[Sequence[Command], str]] = {
    "wait": (
        [("LPUSH", "wait", "a", "b"), ("HSET", "a", "timestamp", NOW - 1)],
        "job a: in wait, which goes before any tier, added 1 ms ago",
    ),
    "delayed": ([("ZADD", "delayed", (NOW + 7000) * 4096 + 1, "a")], "job a: in delayed, due in 7 s"),
    "due": ([("ZADD", "delayed", NOW * 4096 + 1, "a")], "job a: in delayed, due when a worker asks next"),
    "active": ([("LPUSH", "active", "a"), ("HSET", "a", "processedOn", NOW - 60)], "job a: in active, for 60 ms"),
    "paused": ([("LPUSH", "paused", "a")], "job a: in paused"),
    "finished": ([("HSET", "a", "finishedOn", NOW - 5000)], "job a: finished, 5 s ago"),
    "children": (
        [("HSET", "a", "name", "x"), ("SADD", "a:dependencies", "b", "c")],
        "! job a waits for its children: 2",
    ),
    "nowhere": ([("HSET", "a", "name", "x")], "! job a has a hash, and is found nowhere: no worker takes it"),
    "unknown": ([], "! job a does not exist"),
}


@pytest.mark.parametrize(("commands", "told"), PLACES.values(), ids=PLACES)
def test_where_a_job_is(queue: Queue, commands: Sequence[Command], told: str) -> None:
    queue.do(*commands)
    assert queue.lines("a")[0] == told


def test_many_tiers_are_told_in_part_the_last_one_too(queue: Queue) -> None:
    for priority in range(1, 31):
        queue.add(f"j{priority}", priority * TIER + priority)
    queue.add("far", 2**53)
    told = [line for line in queue.lines() if line.startswith("  ")]
    assert [line.split(":")[0].strip() for line in told] == [*(f"tier {n}" for n in (*range(1, 11), 30)), "elsewhere"]
    assert told[-1] == "  elsewhere: 20 jobs"


def test_the_last_of_ten_tiers_is_told_once(queue: Queue) -> None:
    for priority in range(1, 11):
        queue.add(f"j{priority}", priority * TIER + priority)
    queue.do(("ZADD", "prioritized", 2097151 * TIER + TIER - 1, "last"), ("ZREM", "prioritized", "j10"))
    tiers = [line for line in queue.lines() if line.startswith("  tier")]
    assert len(tiers) == 10
    assert tiers[-1] == "  tier 2097151: 1 job; first last"


def test_without_a_time_the_servers_clock_counts(queue: Queue) -> None:
    seconds, _ = queue.redis.time()
    queue.do(("LPUSH", "wait", "a"), ("HSET", "a", "timestamp", (seconds - 3600) * 1000))
    for arguments in ((), ("",), ("", "")):
        assert "wait: 1 job; first a, added 60 min ago" in queue.ask(*arguments)


def test_nothing_is_written(queue: Queue) -> None:
    queue.six_jobs()
    for commands, _ in [*WARNINGS.values(), *PLACES.values()]:
        queue.do(*commands)
    before = queue.content()
    assert len(before) > 15
    for job in ("", "9", "a", "none"):
        queue.lines(job)
    assert queue.content() == before
    assert not set(queue.redis.keys("*")) - before.keys()


FILL = """
for n = 1, ARGV[1] do
  local tier = n % 1000 + 1
  redis.call("ZADD", KEYS[1], tier * 0x100000000 + n, n)
  redis.call("LPUSH", KEYS[2], "w" .. n)
  redis.call("ZADD", KEYS[3], n, "d" .. n)
end
"""


def commands_sent(queue: Queue, length: int) -> dict[str, int]:
    """How often the script sends each command, where ``length`` jobs are in each of its places."""
    queue.redis.flushall()
    keys = [queue.prefix + name for name in ("prioritized", "wait", "delayed")]
    queue.redis.eval(FILL, 3, *keys, length)
    queue.redis.config_resetstat()
    assert any(f"{length} jobs" in line for line in queue.ask("none"))
    stats: Mapping[str, Mapping[str, int]] = queue.redis.info("commandstats")
    return {name.removeprefix("cmdstat_"): of["calls"] for name, of in stats.items()}


@pytest.mark.parametrize("queue", PREFIXES[:1], indirect=True)
def test_the_work_does_not_grow_with_the_queue(queue: Queue) -> None:
    sent = commands_sent(queue, 100_000)
    assert sent == commands_sent(queue, 2_000)
    assert sent["exists"] == 301  # Of each end 100 members, 100 of wait, and the job that is asked for.
    assert sum(sent.values()) < 450


def test_a_job_too_deep_in_wait_is_not_searched_for(queue: Queue) -> None:
    queue.do(("LPUSH", "wait", "a", *(f"w{n}" for n in range(9_999)), "b"), ("HSET", "a", "name", "x"))
    assert queue.of_job("a") == ["job a: in wait, which goes before any tier", "  0 before it"]
    assert queue.lines("b")[0] == "! job b does not exist"
    queue.do(("LPUSH", "wait", "c", *(f"v{n}" for n in range(9_999))), ("HSET", "b", "name", "x"))
    assert queue.of_job("b") == ["job b: not among the 10000 entries of a list that were searched"]


def test_a_time_that_is_none_is_left_out(queue: Queue) -> None:
    queue.do(("LPUSH", "wait", "a"), ("HSET", "a", "timestamp", "soon"))
    assert queue.of_job("a") == ["job a: in wait, which goes before any tier", "  0 before it"]


@pytest.mark.parametrize(("prefix", "name"), [("bull", "orders"), ("emq", "{orders}")])
def test_a_queue_of_the_real_package(running: Server, prefix: str, name: str) -> None:
    async def fill_and_pause() -> None:
        packaged = PackagedQueue(name, {"prefix": prefix, "connection": running.url})
        for priority in (3, 1, 2, 1, 3, 2):
            await packaged.add("job", {}, {"priority": priority})
        await packaged.add("job", {}, {})
        await packaged.add("job", {}, {"delay": 60 * 3_600_000})
        told.extend((queue.ask("6"), queue.ask("8")))
        await packaged.pause()
        await packaged.close()

    told: list[list[str]] = []
    with Redis.from_url(running.url, protocol=2, decode_responses=True) as redis:
        redis.flushall()
        queue = Queue(redis, f"{prefix}:{name}:")
        asyncio.run(fill_and_pause())
        assert "! paused: no job is taken" in queue.ask()
    of_sixth, of_delayed = told
    assert of_sixth[0].startswith("job 6: in prioritized, tier 2, counter 6, added ")
    assert of_sixth[1:6] == [
        "  4 before it",
        "  1 in wait, which goes before any tier",
        "  2 in tiers of a lower number",
        "  1 in its tier, with a smaller counter",
        "! 1 job in wait: before any tier",
    ]
    assert of_sixth[6].startswith("wait: 1 job; first 7, added ")
    assert "pc: 6; the highest counter in these tiers is 6" in of_sixth
    assert of_delayed[0] == "job 8: in delayed, due in 2 d"
    assert "delayed: 1 job, 0 of them due" in of_delayed
