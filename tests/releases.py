"""The add scripts of three releases of the PyPI package, and ours, on the same jobs: which scores, and which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import packaged
import queue_calls
from parity import Call
from queue_calls import key, keys
from redis import Redis
from redis.exceptions import ResponseError

NOW = 1_700_000_000_000
OURS = "ours"


@dataclass(frozen=True, slots=True)
class Situation:
    """Jobs in order of arrival, as id and priority, and the number that the first of them has."""

    name: str
    first: int
    jobs: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Row:
    """What a release makes of a situation: the jobs with their scores as they are taken, or why it adds none."""

    situation: str
    release: str
    taken: tuple[tuple[str, int], ...]
    refusal: str = ""

    @property
    def order(self) -> str:
        """The ids as they are taken."""
        return " ".join(job for job, _ in self.taken)


@dataclass(frozen=True, slots=True)
class _Release:
    """An add script, the names of its keys, and the places in its first argument that stay empty."""

    script: str
    keys: tuple[str, ...]
    empty: int

    def call(self, job: str, priority: int) -> Call:
        arguments = [queue_calls.PREFIX, job, "job", NOW, *[None] * self.empty]
        options = msgpack.packb({"priority": priority})
        return Call(self.script, keys(self.keys), (msgpack.packb(arguments), "{}", options))


def _releases() -> dict[str, _Release]:
    """Each release has what it needs: 2.7.8 neither looks at ``active`` nor at ``delayed``, 2.9.0 not at the latter."""
    of_2_7_8 = ("marker", "meta", "id", "prioritized", "completed", "events", "pc")
    of_2_9_0 = ("marker", "meta", "id", "prioritized", "completed", "active", "events", "pc")
    return {
        "2.7.8": _Release(packaged.script("addPrioritizedJob-7", "2.7.8"), of_2_7_8, 5),
        "2.9.0": _Release(packaged.script("addPrioritizedJob-8", "2.9.0"), of_2_9_0, 6),
        "3.4.4": _Release(packaged.script(queue_calls.ADD), queue_calls.ADD_KEYS, 5),
        OURS: _Release(queue_calls.own_scripts()[queue_calls.ADD], queue_calls.ADD_KEYS, 5),
    }


SITUATIONS: Sequence[Situation] = (
    Situation("the counter reaches 2^31", 2**31 - 1, (("a", 5), ("b", 5), ("c", 4))),
    Situation("the counter reaches 2^32", 2**32 - 1, (("a", 5), ("b", 5), ("c", 5))),
    Situation("the priority is 2^21", 1, (("d", 2**21), ("c", 2**21), ("b", 2**21), ("a", 2**21))),
)


def rows(redis: Redis) -> list[Row]:
    """Run each situation with each release. The server is emptied before each."""
    return [_row(redis, situation, name, release) for situation in SITUATIONS for name, release in _releases().items()]


def _row(redis: Redis, situation: Situation, name: str, release: _Release) -> Row:
    redis.flushall()
    redis.set(key("pc"), situation.first - 1)
    for job, priority in situation.jobs:
        call = release.call(job, priority)
        try:
            redis.eval(call.script, len(call.keys), *call.keys, *call.arguments)
        except ResponseError as error:
            return Row(situation.name, name, (), str(error))
    popped: Any = redis.zpopmin(key("prioritized"), len(situation.jobs))
    return Row(situation.name, name, tuple((job.decode(), int(score)) for job, score in popped))
