"""What ``docs/priority/packing.md`` promises of the code that it shows."""

from __future__ import annotations

import itertools

import pytest
from redis import Redis
from snippets.priority.packing.score import COUNTER_VALUES, MAX_PRIORITY, MIN_PRIORITY, bounds, pack, unpack

PRIORITIES = [1, 2, 23282, 23283, 2097150, 2097151]
COUNTERS = [0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]
KEYS = list(itertools.product(PRIORITIES, COUNTERS))


def test_the_limits_are_those_of_a_double() -> None:
    assert (MIN_PRIORITY, MAX_PRIORITY, COUNTER_VALUES) == (1, 2097151, 4294967296)
    assert bounds(MAX_PRIORITY)[1] == 2**53 - 1


def test_the_example_of_every_page() -> None:
    packed = [pack(priority, counter) for counter, priority in enumerate([3, 1, 2, 1, 3, 2], start=1)]
    assert packed == [12884901889, 4294967298, 8589934595, 4294967300, 12884901893, 8589934598]


def test_scores_are_in_the_order_of_tier_then_counter() -> None:
    assert sorted(KEYS, key=lambda keys: pack(*keys)) == sorted(KEYS)
    assert len({pack(*keys) for keys in KEYS}) == len(KEYS)


@pytest.mark.parametrize(("priority", "counter"), KEYS)
def test_a_score_gives_its_keys_back_also_as_the_float_of_a_client(priority: int, counter: int) -> None:
    score = pack(priority, counter)
    assert unpack(score) == unpack(float(score)) == (priority, counter)
    assert int(float(score)) == score


@pytest.mark.parametrize(("counter", "packed_as"), [(2**32, 0), (2**32 + 7, 7), (2**40 + 2**31, 2**31)])
def test_the_counter_begins_again_at_2_to_the_32(counter: int, packed_as: int) -> None:
    assert unpack(pack(5, counter)) == (5, packed_as)


@pytest.mark.parametrize("priority", PRIORITIES)
def test_bounds_are_the_smallest_and_largest_score_of_a_tier(priority: int) -> None:
    assert bounds(priority) == (pack(priority, 0), pack(priority, COUNTER_VALUES - 1))
    if priority < MAX_PRIORITY:
        assert bounds(priority)[1] + 1 == bounds(priority + 1)[0]


@pytest.mark.parametrize("priority", [0, -1, 2097152, 2**31])
def test_a_priority_without_a_tier_is_refused(priority: int) -> None:
    message = rf"^priority {priority} has no tier; take one from 1 \(first\) to 2097151 \(last\)$"
    with pytest.raises(ValueError, match=message):
        pack(priority, 1)
    with pytest.raises(ValueError, match=message):
        bounds(priority)


@pytest.mark.parametrize("value", [True, 1.5, 1.0, "1", None])
def test_what_is_not_an_integer_is_refused(value: int) -> None:
    message = f"{value!r} is not an integer; a fraction would move the job to another place"
    with pytest.raises(TypeError) as refused:
        pack(value, 1)
    assert str(refused.value) == f"priority {message}"
    with pytest.raises(TypeError) as refused:
        bounds(value)
    assert str(refused.value) == f"priority {message}"
    with pytest.raises(TypeError) as refused:
        pack(1, value)
    assert str(refused.value) == f"counter {message}"


def test_a_negative_counter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^counter -1 is negative; take it from INCR$"):
        pack(1, -1)


@pytest.mark.parametrize("score", [0, 1, 2**32 - 1, -(2**32), 2**53, 2.0**53])
def test_a_score_outside_every_tier_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match=r"^score \S+ is in no tier; was it made by pack\(\)\?$"):
        unpack(score)


@pytest.mark.parametrize("score", [4294967296.5, float("inf"), float("nan")])
def test_a_score_with_a_fraction_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match=rf"^score {score} is not whole; was it made by pack\(\)\?$"):
        unpack(score)


@pytest.mark.parametrize("score", ["4294967298", b"4294967298", None, True])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(TypeError) as refused:
        unpack(score)
    assert str(refused.value) == f"score {score!r} is not a number; convert it with float()"


def test_the_server_keeps_every_score_as_it_was_packed(redis: Redis) -> None:
    redis.zadd("jobs", {f"{priority}:{counter}": pack(priority, counter) for priority, counter in KEYS})
    kept = redis.execute_command("ZRANGE", "jobs", 0, -1, "WITHSCORES")  # type: ignore[no-untyped-call]
    assert [int(score) for score in kept[1::2]] == [pack(*keys) for keys in sorted(KEYS)]
    assert kept[0::2] == [f"{priority}:{counter}" for priority, counter in sorted(KEYS)]
    for priority in PRIORITIES:
        assert redis.zcount("jobs", *bounds(priority)) == len(COUNTERS)
