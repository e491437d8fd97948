"""The comparison is sharp: it finds every one of many faults, and misses one as soon as anything is not compared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import mutants
import pytest
import queue_calls
import queue_operations
from mutants import Mutant
from parity import COMPARED, Operation, Pair, on_both
from queue_calls import Parent, add, key, take
from redis import Redis

NOW = queue_operations.START
SEQUENCES = 60
LENGTH = 60


def with_fault(redis: Redis, mutant: Mutant) -> Pair:
    return Pair(redis, queue_calls.packaged_scripts(), mutants.with_fault(mutant))


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=mutants.BY_NAME)
def test_a_fault_is_found(mutant: Mutant, redis: Redis) -> None:
    pair = with_fault(redis, mutant)
    more = queue_operations.many_delayed("fault")
    sequences = (queue_operations.sequence(f"fault {number}", LENGTH) for number in range(SEQUENCES))
    assert any(pair.replay(operations) for operations in chain([next(sequences), more], sequences))


def test_names_of_faults_are_unique() -> None:
    assert len(mutants.BY_NAME) == len(mutants.MUTANTS) >= 15


def test_a_fault_has_to_change_one_place() -> None:
    for old in ("redis.call", "no such text"):
        with pytest.raises(ValueError, match=r"a name: .* stands \d+ times in moveToActive-11"):
            mutants.with_fault(Mutant("a name", queue_calls.TAKE, ((old, ""),)))


_PARENT = Parent("family")
_ADD, _ADD_OTHER = on_both("add", add(1, timestamp=NOW)), on_both("add", add(1, timestamp=NOW, job="other"))
_TAKE, _TAKE_LOCKED = on_both("take", take(NOW)), on_both("take", take(NOW, token="token"))
_TAKE_LIMITED = on_both("take", take(NOW, limiter={"max": 1, "duration": 60000}))
_ADD_CHILD = (
    on_both("parent", ("HSET", _PARENT.key, "name", "parent")),
    on_both("add", add(1, timestamp=NOW, parent=_PARENT)),
)
SEEN: dict[str, Sequence[Operation]] = {
    "replies": (_ADD,),
    "time in a reply": (_ADD, _TAKE_LIMITED, _TAKE_LIMITED),
    "keys": (_ADD, _TAKE),
    "types": _ADD_CHILD,
    "strings": (_ADD, _ADD_OTHER),
    "lists": (_ADD, _ADD, _TAKE, _TAKE),
    "sets": _ADD_CHILD,
    "fields": (on_both("add", add(1, timestamp=NOW, options={"delay": 5})),),
    "order of fields": (_ADD,),
    "members": (_ADD,),
    "scores": (_ADD,),
    "entries": (_ADD, _TAKE),
    "expiry": (_ADD, _TAKE_LOCKED),
    "time left": (_ADD, _TAKE_LOCKED),
}
"""For each comparer the operations after which it finds its fault."""


def test_there_is_a_fault_for_each_comparer() -> None:
    assert set(COMPARED) == set(SEEN) == set(mutants.BY_COMPARER)


@pytest.mark.parametrize("comparer", COMPARED)
def test_without_a_comparer_its_fault_is_missed(comparer: str, redis: Redis) -> None:
    mutant, operations = mutants.BY_COMPARER[comparer], SEEN[comparer]
    assert queue_calls.pair(redis).replay(operations) is None
    pair = with_fault(redis, mutant)
    failure = pair.replay(operations)
    assert failure is not None, mutant.name
    assert {difference.comparer for difference in failure.differences} == {comparer}
    assert pair.replay(operations, compared=set(COMPARED) - {comparer}) is None, mutant.name


def test_one_entry_more_or_less_is_found(redis: Redis) -> None:
    event = ("XADD", key("events"), "*", "event", "x")
    operation = Operation("an event, and two", (event,), (event, event), same_replies=False)
    failure = queue_calls.pair(redis).replay([operation])
    assert failure is not None
    assert [difference.comparer for difference in failure.differences] == ["entries"]
