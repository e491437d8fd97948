"""What the pages say of the composite score holds for the script, on a server."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import lua_under_test
import pytest

from redis_transcripts import resp, server
from redis_transcripts.server import Server

_FILE = lua_under_test.ROOT / "lua/includes/getPriorityScore.lua"
_INCLUDED = lua_under_test.text(_FILE)
_SCORE = f"""{_INCLUDED}
return string.format("%.0f", getPriorityScore(tonumber(ARGV[1]), KEYS[1]))"""
_ADD = f"""{_INCLUDED}
return redis.call("ZADD", KEYS[2], getPriorityScore(tonumber(ARGV[1]), KEYS[1]), ARGV[2])"""

LAST_PRIORITY = 2**21 - 1
LAST_COUNTER = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Queue:
    """An empty queue on a server: the arrival counter ``pc`` and the sorted set ``prioritized``."""

    connection: socket.socket
    reader: resp.Reader

    def score(self, priority: int, *, counter: int) -> int:
        """The score of the job that is the one with that number to arrive."""
        self.set_counter(counter - 1)
        return int(self.ask("EVAL", _SCORE, 1, "pc", priority).text)

    def add(self, priority: int, job: str) -> None:
        assert self.ask("EVAL", _ADD, 2, "pc", "prioritized", priority, job).text == b"1"

    def set_counter(self, counter: int) -> None:
        self.ask("SET", "pc", counter)

    def counter(self) -> int:
        return int(self.ask("GET", "pc").text)

    def jobs(self) -> list[tuple[str, int]]:
        """Each job with its score, in the order in which ZPOPMIN takes them."""
        popped = [item.text.decode() for item in self.ask("ZPOPMIN", "prioritized", 100).items]
        return [(job, int(float(score))) for job, score in zip(popped[::2], popped[1::2], strict=True)]

    def ask(self, *arguments: str | int) -> resp.Reply:
        self.connection.sendall(resp.encode([str(argument).encode() for argument in arguments]))
        reply = self.reader.read()
        assert reply.kind is not resp.Kind.ERROR, reply.text
        return reply


@pytest.fixture(scope="module", params=[None, server.EMBEDDED], ids=["default", "embedded"])
def connected(request: pytest.FixtureRequest) -> Iterator[Queue]:
    running = Server(server.find(request.param), lua_under_test.server_settings())
    try:
        with socket.create_connection(running.address(), timeout=10) as connection:
            yield Queue(connection, resp.Reader(lambda: connection.recv(65536)))
    finally:
        running.stop()


@pytest.fixture
def queue(connected: Queue) -> Queue:
    connected.ask("FLUSHALL")
    return connected


def ids(jobs: Sequence[tuple[str, int]]) -> list[str]:
    return [job for job, _ in jobs]


def test_the_file_is_short_enough_to_be_shown_whole() -> None:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 15
    assert max(len(line) for line in lines) <= 100


@pytest.mark.parametrize(
    ("priority", "counter", "score"),
    [
        (1, 1, 4294967297),
        (1, LAST_COUNTER, 8589934591),
        (LAST_PRIORITY, 1, 9007194959773697),
        (LAST_PRIORITY, LAST_COUNTER, 2**53 - 1),
    ],
)
def test_the_score_is_the_tier_and_the_counter(priority: int, counter: int, score: int, queue: Queue) -> None:
    assert queue.score(priority, counter=counter) == score == priority * 2**32 + counter


def test_the_first_job_gets_counter_1_and_each_takes_the_next(queue: Queue) -> None:
    for _ in range(3):
        queue.ask("EVAL", _SCORE, 1, "pc", 7)
    assert queue.counter() == 3


def test_the_six_jobs_come_out_by_tier_and_then_by_arrival(queue: Queue) -> None:
    for job, priority in zip(range(7, 13), [3, 1, 2, 1, 3, 2], strict=True):
        queue.add(priority, str(job))
    assert queue.jobs() == [
        ("8", 4294967298),
        ("10", 4294967300),
        ("9", 8589934595),
        ("12", 8589934598),
        ("7", 12884901889),
        ("11", 12884901893),
    ]


@pytest.mark.parametrize("priority", [1, 23283, LAST_PRIORITY])
def test_jobs_of_one_tier_come_out_in_order_of_arrival(priority: int, queue: Queue) -> None:
    arrived = [str(job) for job in range(100, 50, -1)]
    queue.set_counter(LAST_COUNTER - len(arrived))
    for job in arrived:
        queue.add(priority, job)
    assert ids(queue.jobs()) == arrived


@pytest.mark.parametrize("counter", [2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 2**40])
@pytest.mark.parametrize("priority", [1, 5, LAST_PRIORITY])
def test_a_job_stays_in_its_tier_whatever_the_counter(priority: int, counter: int, queue: Queue) -> None:
    assert queue.score(priority, counter=counter) // 2**32 == priority


def test_at_counter_2_to_the_31_a_job_of_tier_5_has_the_score_of_the_pages(queue: Queue) -> None:
    assert queue.score(5, counter=2**31) == 23622320128


@pytest.mark.parametrize("priority", [1, 2, 23282, 23283, LAST_PRIORITY - 1])
def test_a_tiers_largest_score_is_next_to_the_smallest_of_the_tier_behind(priority: int, queue: Queue) -> None:
    largest = queue.score(priority, counter=LAST_COUNTER)
    smallest = queue.score(priority + 1, counter=LAST_COUNTER + 1)
    assert largest + 1 == smallest == (priority + 1) * 2**32

    queue.set_counter(LAST_COUNTER - 1)
    queue.add(priority, "z, last of its tier")
    queue.add(priority + 1, "a, first of the tier behind")
    assert queue.jobs() == [("z, last of its tier", largest), ("a, first of the tier behind", smallest)]


def test_where_the_counter_wraps_the_order_in_a_tier_breaks_once(queue: Queue) -> None:
    queue.set_counter(4294967294)
    for job in ("first", "second", "third"):
        queue.add(1, job)
    queue.add(2, "of the tier behind")
    jobs = queue.jobs()
    assert ids(jobs) == ["second", "third", "first", "of the tier behind"]
    assert all(before < after for (_, before), (_, after) in pairwise(jobs))
