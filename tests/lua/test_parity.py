"""Whatever is done to a queue, our scripts leave and answer what the packaged ones do.

What is left out: calls that ours refuse, which ``test_refusals`` has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import key_space
import lua_under_test
import mutants
import pytest
import queue_calls
import queue_operations
from parity import Call, Operation, Pair, Replies, on_both
from queue_calls import ADD, TAKE, add, take
from redis import Redis

from redis_transcripts import lua, lua_coverage, server

SEEDS = range(1, 9)
SEQUENCES = 10
LENGTH = 60

LONG_RUNS = {None: 50_000, server.EMBEDDED: 5_000}
"""How many operations a long run has, by server."""

UNREACHED = ("redis.error_reply", 'redis.call("DEL", limiterKey)')
"""What stands on lines that no operation reaches: refusals, and the end of a key in this very millisecond."""

ANSWERS = (
    *((ADD, "an id"), (ADD, "-5"), (ADD, "-7"), (ADD, "an error")),
    *((TAKE, "a job"), (TAKE, "limited"), (TAKE, "a delayed job is next"), (TAKE, "nothing"), (TAKE, "an error")),
)
"""Every kind of answer, by script."""


class Census:
    """How many operations were done, and how often each kind of answer came."""

    def __init__(self) -> None:
        self.operations = 0
        self.answers: Counter[tuple[str, str]] = Counter()

    def count(self, operation: Operation, replies: Replies) -> None:
        self.operations += 1
        for command, reply in zip(operation.ours, replies, strict=True):
            if isinstance(command, Call):
                self.answers[command.script, _kind(reply.value)] += 1


def _kind(value: object) -> str:
    match value:
        case str():
            return "an error"
        case int() if value < 0:
            return str(value)
        case [[*_], *_]:
            return "a job"
        case [_, _, 0, due]:
            return "a delayed job is next" if due else "nothing"
        case [*_]:
            return "limited"
        case _:
            return "an id"


def replay(pair: Pair, sequences: Sequence[tuple[str, Sequence[Operation]]], census: Census) -> None:
    for origin, operations in sequences:
        failure = pair.replay(operations, watch=census.count)
        if failure:
            pytest.fail(pair.shrink(failure).report(origin), pytrace=False)


def random_sequences(seed: int, number: int) -> Iterator[tuple[str, Sequence[Operation]]]:
    for part in range(number):
        yield f"seed {seed}.{part}", queue_operations.sequence(f"{seed}.{part}", LENGTH)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_operations_leave_the_same(seed: int, pair: Pair) -> None:
    census = Census()
    replay(pair, list(random_sequences(seed, SEQUENCES)), census)
    assert census.operations >= 2000 / len(SEEDS)
    assert {answer for answer, times in census.answers.items() if times} == set(ANSWERS)


def test_more_delayed_jobs_than_one_take_promotes(pair: Pair) -> None:
    census = Census()
    replay(pair, [("seed 1", queue_operations.many_delayed(1))], census)
    assert census.answers == {(TAKE, "a job"): 3}


@pytest.mark.long
@pytest.mark.parametrize("wanted", [None, server.EMBEDDED], ids=["default", "embedded"])
def test_many_random_operations_leave_the_same(wanted: str | None) -> None:
    running = server.Server(server.find(wanted), key_space.SERVER_SETTINGS)
    census = Census()
    try:
        with Redis.from_url(running.url, protocol=2) as redis:
            pair = queue_calls.pair(redis)
            replay(pair, list(random_sequences(0, LONG_RUNS[wanted] // LENGTH + 20)), census)
            replay(pair, [(f"seed {seed}", queue_operations.many_delayed(seed)) for seed in range(5)], census)
    finally:
        running.stop()
    # Where a sequence has to be done again, since the machine paused, its rest is not counted.
    assert census.operations >= LONG_RUNS[wanted]


def test_random_operations_reach_every_line(tmp_path: Path) -> None:
    own = {name: lua.read(lua_under_test.ROOT / f"lua/{name}.lua", lua_under_test.ROOT) for name in (ADD, TAKE)}
    instrumented = {name: lua_coverage.instrument(script) for name, script in own.items()}
    log = tmp_path / "server.log"
    running = server.Server(server.find(None), {**key_space.SERVER_SETTINGS, "logfile": str(log)})
    try:
        with Redis.from_url(running.url, protocol=2) as redis:
            pair = Pair(redis, queue_calls.packaged_scripts(), instrumented)
            replay(pair, [part for seed in SEEDS for part in random_sequences(seed, 2)], Census())
    finally:
        running.stop()
    told = log.read_text(encoding="utf-8", errors="replace")
    for script in own.values():
        reached = lua_coverage.reached(told, script)
        missed = [line for line in script.lines if line.origin in set(lua_coverage.statement_lines(script)) - reached]
        assert [line for line in missed if not any(text in line for text in UNREACHED)] == []


def test_the_same_seed_gives_the_same_operations() -> None:
    assert queue_operations.sequence(3, 50) == queue_operations.sequence(3, 60)[:50]
    assert queue_operations.sequence(3, 50) != queue_operations.sequence(4, 50)


def test_a_failure_is_shown_with_the_few_operations_that_it_takes(redis: Redis) -> None:
    mutant = mutants.BY_NAME["the largest score is taken"]
    pair = Pair(redis, queue_calls.packaged_scripts(), mutants.with_fault(mutant))
    idle = [on_both("nothing", ("PING",))] * 7
    low, high = (on_both(f"add {priority}", add(priority, timestamp=queue_operations.START)) for priority in (2, 1))
    taken = on_both("take", take(queue_operations.START))
    failure = pair.replay([*idle, low, *idle, high, *idle, taken, *idle])
    assert failure is not None
    assert len(failure.operations) == 24
    report = pair.shrink(failure).report("seed 7").splitlines()
    assert report[:4] == [
        "seed 7: packaged and ours differ after these operations",
        "   1  add 2",
        "   2  add 1",
        "   3  take",
    ]
    assert any(line.startswith("      lists: emq:{orders}:active holds (b'2',), and (b'1',)") for line in report[4:])
