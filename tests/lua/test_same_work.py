"""Our scripts run the packaged scripts' commands, in their order. Where an add runs fewer, it is said which."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import same_work
from queue_calls import ADD, QUEUE, key
from redis import Redis
from same_work import SCENARIOS, Row

_MAX_EVENTS = f"HGET {key('meta')} opts.maxLenEvents"
_HELD_BACK = f"HMGET {key('meta')} paused concurrency"
_BOTH = f"HMGET {key('meta')} opts.maxLenEvents paused concurrency"
_WAITING_PARENT = f"ZSCORE {key('waiting-children')} family"


@pytest.fixture
def rows(redis: Redis) -> list[Row]:
    return same_work.rows(redis)


def expected_of(packaged: Sequence[str], *, releases_a_parent: bool) -> list[str]:
    """What ours runs in place of what the packaged add does.

    One HMGET asks for all three fields of ``meta``. And ZREM tells whether a parent waited for its children.
    """
    own, held_back = [], 0
    for command in packaged:
        if command == _MAX_EVENTS:
            own.append(_BOTH)
        elif command == _HELD_BACK and not releases_a_parent:
            held_back += 1
        elif command != _WAITING_PARENT:
            own.append(command)
    assert held_back <= 1
    return own


def test_a_take_runs_the_same_commands_with_the_same_arguments(rows: list[Row]) -> None:
    takes = [row for row, scenario in zip(rows, SCENARIOS, strict=True) if scenario.call.script != ADD]
    assert len(takes) >= 8
    for row in takes:
        assert row.ours == row.packaged, row.scenario


def test_an_add_reads_meta_once(rows: list[Row]) -> None:
    adds = [row for row, scenario in zip(rows, SCENARIOS, strict=True) if scenario.call.script == ADD]
    assert len(adds) >= 6
    for row in adds:
        releases = any(command.startswith(f"RPUSH {QUEUE}:wait ") for command in row.packaged)
        assert list(row.ours) == expected_of(row.packaged, releases_a_parent=releases), row.scenario


def test_what_an_add_leaves_out(rows: list[Row]) -> None:
    changed = {row.scenario: (same_work.left_out(row), same_work.put_in(row)) for row in rows}
    assert {scenario: change for scenario, change in changed.items() if any(change)} == {
        "the first job is added": (["HGET"], []),
        "a job is added": (["HGET"], []),
        "a job is added while paused": (["HGET"], []),
        "a child is added": (["HGET"], []),
        "a job is added again": (["HGET"], ["HMGET"]),
        "a completed job is added again, for a parent": (["HGET", "ZSCORE"], ["HMGET"]),
    }


def test_the_commands_of_a_take_are_those_that_the_pages_name(rows: list[Row]) -> None:
    taken = {row.scenario: " ".join(same_work.names(row.ours)) for row in rows}
    without_lock = "HMGET ZRANGEBYSCORE RPOPLPUSH ZPOPMIN LPUSH XADD HMSET HINCRBY ZADD HGETALL"
    assert taken["a job with a priority is taken, without a lock"] == without_lock
    assert taken["a job with a priority is taken"] == without_lock.replace("XADD", "SET XADD")


def test_every_scenario_runs_at_least_two_commands_on_each_side(rows: list[Row]) -> None:
    assert len(rows) == len({row.scenario for row in rows}) >= 8
    assert all(len(row.packaged) >= len(row.ours) >= 2 for row in rows)
