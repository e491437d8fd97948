"""Which commands our scripts and the packaged ones run for the same call, as MONITOR tells them, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import queue_calls
from parity import Call, Command
from queue_calls import Parent, add, key, take
from redis import Redis

NOW = 1_700_000_000_000
_END = "the end of the call"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A call, and the commands and calls that make what it finds."""

    name: str
    before: Sequence[Command]
    call: Call


@dataclass(frozen=True, slots=True)
class Row:
    """The commands that each side's script ran in a scenario, with their arguments as MONITOR shows them."""

    scenario: str
    ours: tuple[str, ...]
    packaged: tuple[str, ...]


_PARENT = Parent("family")
_FIRST = add(1, timestamp=NOW)
_LIMITER = {"max": 2, "duration": 60000}
_PARENT_WAITS = (
    ("HSET", _PARENT.key, "name", "parent"),
    ("ZADD", key("waiting-children"), NOW, _PARENT.id),
)

SCENARIOS: Sequence[Scenario] = (
    Scenario("the first job is added", (), add(1, timestamp=NOW)),
    Scenario("a job is added", (_FIRST,), add(2, timestamp=NOW)),
    Scenario("a job is added while paused", (_FIRST, ("HSET", key("meta"), "paused", 1)), add(2, timestamp=NOW)),
    Scenario("a child is added", (_FIRST, *_PARENT_WAITS), add(2, timestamp=NOW, parent=_PARENT)),
    Scenario("a job is added again", (add(1, timestamp=NOW, job="a"),), add(2, timestamp=NOW, job="a")),
    Scenario(
        "a completed job is added again, for a parent",
        (
            *(
                add(1, timestamp=NOW, job="a"),
                ("ZADD", key("completed"), 1, "a"),
                ("HSET", key("a"), "returnvalue", "7"),
            ),
            *_PARENT_WAITS,
        ),
        add(2, timestamp=NOW, job="a", parent=_PARENT),
    ),
    Scenario("a job with a priority is taken, without a lock", (_FIRST,), take(NOW)),
    Scenario("a job with a priority is taken", (_FIRST,), take(NOW, token="token")),
    Scenario("a job is taken with a limit", (_FIRST,), take(NOW, token="token", limiter=_LIMITER)),
    Scenario("a job without a priority is taken", (_FIRST, ("LPUSH", key("wait"), "x")), take(NOW, token="token")),
    Scenario("nothing waits", (), take(NOW, token="token")),
    Scenario("the limit is reached", (("SET", key("limiter"), 2, "PX", 60000),), take(NOW, limiter=_LIMITER)),
    Scenario("the queue is paused", (("HSET", key("meta"), "paused", 1),), take(NOW)),
    Scenario(
        "a delayed job is due, and is taken",
        (("HSET", key("a"), "priority", 1), ("ZADD", key("delayed"), NOW * 0x1000, "a")),
        take(NOW, token="token"),
    ),
)


def rows(redis: Redis) -> list[Row]:
    """Run each scenario with both sides' scripts. The server is emptied before each, and is nobody else's meanwhile."""
    packaged, own = queue_calls.packaged_scripts(), queue_calls.own_scripts()
    return [
        Row(scenario.name, _commands(redis, own, scenario), _commands(redis, packaged, scenario))
        for scenario in SCENARIOS
    ]


def names(commands: Sequence[str]) -> list[str]:
    """Return the commands without their arguments."""
    return [command.split()[0] for command in commands]


def left_out(row: Row) -> list[str]:
    """Return the names of the commands that the packaged script runs and ours does not."""
    return sorted((Counter(names(row.packaged)) - Counter(names(row.ours))).elements())


def put_in(row: Row) -> list[str]:
    """Return the names of the commands that our script runs and the packaged one does not."""
    return sorted((Counter(names(row.ours)) - Counter(names(row.packaged))).elements())


def _commands(redis: Redis, scripts: dict[str, str], scenario: Scenario) -> tuple[str, ...]:
    redis.flushall()
    for command in scenario.before:
        _run(redis, scripts, command)
    told: list[str] = []
    with redis.monitor() as monitor:  # type: ignore[no-untyped-call]
        _run(redis, scripts, scenario.call)
        redis.echo(_END)
        for event in monitor.listen():
            if _END in event["command"]:
                return tuple(told)
            if event["client_type"] == "lua":
                told.append(event["command"])
    raise AssertionError("MONITOR ended before the call did")


def _run(redis: Redis, scripts: dict[str, str], command: Command) -> None:
    if isinstance(command, Call):
        redis.eval(scripts[command.script], len(command.keys), *command.keys, *command.arguments)
    else:
        redis.execute_command(*command)  # type: ignore[no-untyped-call]
