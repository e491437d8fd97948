"""Where ours is stricter on purpose: what the packaged scripts do with such a call, and that ours writes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
import queue_calls
from key_space import Snapshot
from parity import OURS, PACKAGED, Call, Command, Pair, on_both
from queue_calls import TAKE, Parent, add, key, take

NOW = 1_700_000_000_000
NO_DURATION = "error: limiter without a duration: set it beside max, in milliseconds"
NO_DEDUPLICATION = "error: deduplication is not done by this script; add the job without it"
NO_REPEAT_KEY = "error: repeat job keys are not kept by this script; add the job without one"

Side = tuple[object, Snapshot]
"""The reply to the last command, and the database afterwards."""


def do(pair: Pair, *commands: Command) -> tuple[Side, Side]:
    """Do ``commands`` on both sides: packaged first, ours second."""
    replies, readings = pair.do(on_both("", *commands))
    packaged, ours = ((replies[side][-1].value, readings[side].snapshot()) for side in (PACKAGED, OURS))
    return packaged, ours


def content(database: Snapshot, suffix: str) -> Any:
    return database[key(suffix)].content


def has(database: Snapshot, *suffixes: str) -> bool:
    return any(key(suffix) in database for suffix in suffixes)


def events(database: Snapshot) -> list[bytes]:
    return [entry[1] for entry in content(database, "events")]


def refusal(priority: str) -> str:
    return f"error: priority {priority} is not a whole number from 1 to 2097151"


@pytest.mark.parametrize("priority", ["high", ""])
def test_for_a_priority_that_is_no_number_the_packaged_script_leaves_a_job_in_no_list(
    priority: str, pair: Pair
) -> None:
    (answer, packaged), (our_answer, ours) = do(pair, add(priority, timestamp=NOW))
    assert answer == "error: raised by Lua"
    assert content(packaged, "id") == content(packaged, "pc") == b"1"
    assert content(packaged, "1")[:2] == (b"name", b"job")
    assert events(packaged) == [b"added"]
    assert not has(packaged, "wait", "prioritized", "delayed", "active")

    assert our_answer == refusal(priority)
    assert ours == {}


@pytest.mark.parametrize("priority", [math.nan, math.inf])
def test_for_a_priority_that_json_has_not_the_packaged_script_counts_an_id(priority: float, pair: Pair) -> None:
    (answer, packaged), (our_answer, ours) = do(pair, add(priority, timestamp=NOW))
    assert answer == "error: raised by Lua"
    assert set(packaged) == {key("id"), key("meta")}
    assert our_answer == refusal(str(priority))
    assert ours == {}


@pytest.mark.parametrize(
    ("priority", "score", "told"),
    [
        (None, 1, "nil"),
        (0, 1, "0"),
        (-1, -(2**32) + 1, "-1"),
        (1.5, 3 * 2**31 + 1, "1.5"),
        ("5", 5 * 2**32 + 1, "5"),
        ("0x10", 16 * 2**32 + 1, "0x10"),
    ],
)
def test_the_packaged_script_scores_whatever_can_be_multiplied(
    priority: object, score: int, told: str, pair: Pair
) -> None:
    (answer, packaged), (our_answer, ours) = do(pair, add(priority, timestamp=NOW))
    assert answer == b"1"
    assert content(packaged, "prioritized") == (b"1", str(score).encode())
    assert our_answer == refusal(told)
    assert ours == {}


def test_from_2_to_the_21_on_packaged_jobs_share_scores(pair: Pair) -> None:
    adds = [add(2**21, timestamp=NOW, job=job) for job in ("first", "second", "third", "fourth")]
    (_, packaged), (our_answer, ours) = do(pair, *adds)
    assert len(set(content(packaged, "prioritized")[1::2])) == 3
    assert our_answer == refusal("2097152")
    assert ours == {}


def test_a_priority_is_refused_even_where_the_job_exists_or_its_parent_does_not(pair: Pair) -> None:
    duplicate = (add(1, timestamp=NOW, job="x"), add(0, timestamp=NOW, job="x"))
    (answer, _), (our_answer, _) = do(pair, *duplicate)
    assert (answer, our_answer) == (b"x", refusal("0"))
    (answer, _), (our_answer, _) = do(pair, add(0, timestamp=NOW, parent=Parent("gone")))
    assert (answer, our_answer) == (-5, refusal("0"))


@pytest.mark.parametrize(
    ("options", "deduplication_key"),
    [({"de": {"id": "x"}}, key("de:x")), ({"de": {"id": "x"}}, None), ({}, key("de:x"))],
)
def test_deduplication_is_refused(options: Mapping[str, object], deduplication_key: str | None, pair: Pair) -> None:
    call = add(1, timestamp=NOW, options=options, deduplication_key=deduplication_key)
    _, (answer, ours) = do(pair, call)
    assert answer == NO_DEDUPLICATION
    assert ours == {}


def test_the_packaged_script_answers_an_earlier_job_where_it_deduplicates(pair: Pair) -> None:
    call = add(1, timestamp=NOW, options={"de": {"id": "x"}}, deduplication_key=key("de:x"))
    (answer, packaged), _ = do(pair, call, call)
    assert answer == content(packaged, "de:x") == b"1"
    assert content(packaged, "id") == b"2"


def test_a_repeat_key_is_refused(pair: Pair) -> None:
    (_, packaged), (answer, ours) = do(pair, add(1, timestamp=NOW, repeat_key="hourly"))
    assert content(packaged, "1")[-2:] == (b"rjk", b"hourly")
    assert answer == NO_REPEAT_KEY
    assert ours == {}


def test_options_that_are_no_map_are_refused_before_an_id_is_counted(pair: Pair) -> None:
    call = add(1, timestamp=NOW)
    (answer, packaged), (our_answer, ours) = do(pair, Call(call.script, call.keys, (*call.arguments[:2], b"\x07")))
    assert answer == our_answer == "error: raised by Lua"
    assert set(packaged) == {key("id"), key("meta")}
    assert ours == {}


def test_from_10_to_the_14_on_a_packaged_id_is_rounded(pair: Pair) -> None:
    (answer, packaged), (our_answer, ours) = do(pair, ("SET", key("id"), 10**14), add(1, timestamp=NOW))
    assert (answer, our_answer) == (b"1e+14", b"100000000000001")
    assert has(packaged, "1e+14")
    assert has(ours, "100000000000001")
    (again, _), (our_next, _) = do(pair, add(1, timestamp=NOW))
    assert again == answer, "the second job takes the hash of the first"
    assert our_next == b"100000000000002"


@pytest.mark.parametrize(
    ("fields", "limiter"),
    [(("max", 2), None), ((), {"max": 2}), ((), {"max": 2, "duration": "soon"}), (("max", 2, "duration", "x"), None)],
)
def test_without_a_duration_the_packaged_script_leaves_a_job_active_without_a_lock(
    fields: tuple[str | int, ...], limiter: Mapping[str, object] | None, pair: Pair
) -> None:
    settings: list[Command] = [("HSET", key("meta"), *fields)] if fields else []
    (_, _), (_, before) = do(pair, *settings, add(1, timestamp=NOW))
    (answer, packaged), (our_answer, ours) = do(pair, take(NOW, token="token", limiter=limiter))
    assert answer == "error: raised by Lua"
    assert content(packaged, "active") == (b"1",)
    assert content(packaged, "limiter") == b"1"
    assert packaged[key("limiter")].expiry == -1
    assert not has(packaged, "1:lock", "prioritized")

    assert our_answer == NO_DURATION
    assert ours == before


def test_without_a_duration_ours_refuses_whether_the_limit_is_new_or_not_and_whether_a_job_waits_or_not(
    pair: Pair,
) -> None:
    call = take(NOW, token="token", limiter={"max": 2})
    (answer, _), (our_answer, ours) = do(pair, call)
    assert (answer, our_answer) == ([0, 0, 0, 0], NO_DURATION)
    assert ours == {}

    count = ("SET", key("limiter"), 1, "PX", 60000)
    (answer, _), (our_answer, ours) = do(pair, add(1, timestamp=NOW), count, call)
    assert isinstance(answer, list)
    assert answer[1] == b"1"
    assert our_answer == NO_DURATION
    assert not has(ours, "active")


NO_TIMES = [0, -1, "soon", 2**53]


@pytest.mark.parametrize("lock_duration", NO_TIMES)
def test_a_lock_that_lasts_no_time_is_refused_before_the_move(lock_duration: int | str, pair: Pair) -> None:
    (_, _), (_, before) = do(pair, add(1, timestamp=NOW))
    (answer, packaged), (our_answer, ours) = do(pair, take(NOW, token="token", lock_duration=lock_duration))
    if lock_duration != 2**53:
        assert str(answer).startswith("error: ")
        assert content(packaged, "active") == (b"1",)
        assert not has(packaged, "1:lock", "prioritized")
    assert our_answer == ("error: lockDuration is no time: give the milliseconds for which the worker holds the job")
    assert ours == before


def test_without_a_lock_its_duration_does_not_matter(pair: Pair) -> None:
    (answer, _), (our_answer, _) = do(pair, add(1, timestamp=NOW), take(NOW, token="0", lock_duration=0))
    assert answer == our_answer
    assert isinstance(our_answer, list)
    assert our_answer[1] == b"1"


@pytest.mark.parametrize("duration", [math.inf, math.nan, 1e300, 1e17, "inf"])
def test_a_limit_of_no_time_is_refused_before_the_move(duration: float | str, pair: Pair) -> None:
    (_, _), (_, before) = do(pair, add(1, timestamp=NOW))
    _, (our_answer, ours) = do(pair, take(NOW, token="token", limiter={"max": 2, "duration": duration}))
    assert our_answer == NO_DURATION
    assert ours == before


def test_what_is_held_back_is_answered_before_a_duration_is_missed(pair: Pair) -> None:
    call = take(NOW, limiter={"max": 1})
    assert [answer for answer, _ in do(pair, ("HSET", key("meta"), "paused", 1), call)] == [[0, 0, 0, 0]] * 2
    limited = do(pair, ("SET", key("limiter"), 1, "PX", 60000), call)
    assert [answer for answer, _ in limited] == [[0, 0, "a time", 0]] * 2


def test_due_jobs_are_promoted_before_a_duration_is_missed(pair: Pair) -> None:
    _, (answer, ours) = do(pair, ("ZADD", key("delayed"), NOW * 0x1000, "due"), take(NOW, limiter={"max": 1}))
    assert answer == NO_DURATION
    assert content(ours, "wait") == (b"due",)


def test_the_refusals_are_those_that_the_headers_name() -> None:
    scripts = queue_calls.own_scripts()
    for name, starts in (
        (queue_calls.ADD, ("priority", "deduplication", "repeat")),
        (TAKE, ("limiter", "lockDuration")),
    ):
        header = [line for line in scripts[name].splitlines() if line.startswith("-- ERR ")]
        assert tuple(line.split()[2] for line in header) == starts
        assert scripts[name].count('redis.error_reply("ERR ') == len(starts)
