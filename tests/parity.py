"""The same operations on two databases of one server, by the packaged scripts on one and by ours on the other.

Both databases are compared whole after every operation, and so are the replies. A list of operations after which they
differ is made as short as it can be, and shown as text.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import key_space
from key_space import Difference
from redis import Redis
from redis.exceptions import ResponseError

PACKAGED, OURS = 0, 1
"""The numbers of the two databases."""

Argument = str | bytes | int | float


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the script that each side has under this name.

    ``time_left`` is the index in the reply of what may be a time in milliseconds, where it is above 0.
    """

    script: str
    keys: tuple[str, ...]
    arguments: tuple[Argument, ...]
    time_left: int | None = None


Command = Call | tuple[Argument, ...]
"""A call of a script, or a command as it is sent."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to each database, and how it is told in a report.

    Where the two sides are called in different ways, ``same_replies`` may be False: then only the databases count.
    """

    text: str
    packaged: tuple[Command, ...]
    ours: tuple[Command, ...]
    same_replies: bool = True

    def commands(self, database: int) -> tuple[Command, ...]:
        return self.packaged if database == PACKAGED else self.ours


def on_both(text: str, *commands: Command) -> Operation:
    """Return an operation that does the same on both sides."""
    return Operation(text, commands, commands)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command was answered with, an error as its text, and a time that the answer holds, or 0."""

    value: object
    milliseconds: int = 0


Replies = Sequence[Reply]
"""What one side's commands of an operation were answered with, in order."""

ReplyComparer = Callable[[Replies, Replies], Iterator[str]]


def _values(packaged: Replies, ours: Replies) -> Iterator[str]:
    before, after = [reply.value for reply in packaged], [reply.value for reply in ours]
    if before != after:
        yield f"{before!r}, and {after!r}"


def _times(packaged: Replies, ours: Replies) -> Iterator[str]:
    for before, after in zip(packaged, ours, strict=False):
        if abs(before.milliseconds - after.milliseconds) > key_space.TOLERANCE:
            yield f"{before.milliseconds} ms, and {after.milliseconds} ms"


REPLY_COMPARERS: Mapping[str, ReplyComparer] = {"replies": _values, "time in a reply": _times}
"""What is compared of the replies, by name."""

COMPARED: Collection[str] = (*REPLY_COMPARERS, *key_space.COMPARERS)
"""The names of all that is compared after an operation."""

_OF_TIMES = {"time in a reply", "time left"}


@dataclass(frozen=True, slots=True)
class Failure:
    """Operations after the last of which the two sides differ, and how: packaged first, ours second."""

    operations: tuple[Operation, ...]
    differences: tuple[Difference, ...]

    @property
    def is_of_times(self) -> bool:
        """Whether nothing but times differ."""
        return all(difference.comparer in _OF_TIMES for difference in self.differences)

    def report(self, origin: str) -> str:
        """Return the operations as a list; ``origin`` says where they come from, such as ``seed 3``."""
        steps = [f"{number:4}  {operation.text}" for number, operation in enumerate(self.operations, 1)]
        found = [f"      {difference}" for difference in self.differences]
        return "\n".join([f"{origin}: packaged and ours differ after these operations", *steps, *found])


class Pair:
    """The packaged scripts on one database, and ours on another. Each mapping gives the text for a script's name."""

    def __init__(self, redis: Redis, packaged: Mapping[str, str], ours: Mapping[str, str]) -> None:
        self._redis = redis
        self._reader = _load(redis, key_space.READ)
        self._shas = {
            PACKAGED: {name: _load(redis, text) for name, text in packaged.items()},
            OURS: {name: _load(redis, text) for name, text in ours.items()},
        }

    def clear(self) -> None:
        self._redis.flushall()

    def do(self, operation: Operation) -> tuple[tuple[Replies, Replies], list[key_space.Reading]]:
        """Do ``operation`` on both sides, and read both databases. Nothing comes between."""
        # redis-py leaves the method that sends any command without types.
        sent: Any = self._redis.pipeline(transaction=True)
        for database in (PACKAGED, OURS):
            sent.execute_command("SELECT", database)
            for command in operation.commands(database):
                sent.execute_command(*self._as_sent(command, database))
        sent.execute_command("EVALSHA", self._reader, 0, PACKAGED, OURS)
        *answers, reading = sent.execute(raise_on_error=False)
        if isinstance(reading, Exception):
            raise reading
        ours_from = 1 + len(operation.packaged)
        packaged = _replies(operation.packaged, answers[1:ours_from])
        ours = _replies(operation.ours, answers[ours_from + 1 :])
        return (packaged, ours), key_space.readings(reading)

    def replay(
        self,
        operations: Sequence[Operation],
        compared: Collection[str] = COMPARED,
        watch: Callable[[Operation, Replies], None] | None = None,
    ) -> Failure | None:
        """Do all of ``operations`` on empty databases up to the first after which the sides differ, if there is one.

        ``compared`` names the comparers that look, and ``watch`` is told of each operation that was done, and of our
        replies to it. Where nothing but times differ, the machine may have paused between the sides, which it does not
        do three times at one place.
        """
        failure = self._replay_once(operations, compared, watch)
        for _ in range(2):
            if failure and failure.is_of_times:
                failure = self._replay_once(operations, compared, None)
        return failure

    def shrink(self, failure: Failure, compared: Collection[str] = COMPARED) -> Failure:
        """Return a failure with as few operations as leaving out some of them gives, in half a minute at most."""
        deadline = time.monotonic() + 30
        width = len(failure.operations) // 2
        while width:
            start = 0
            while start < len(failure.operations):
                if time.monotonic() > deadline:
                    return failure
                shorter = failure.operations[:start] + failure.operations[start + width :]
                still = self.replay(shorter, compared)
                if still:
                    failure = still
                else:
                    start += width
            width //= 2
        return failure

    def _replay_once(
        self,
        operations: Sequence[Operation],
        compared: Collection[str],
        watch: Callable[[Operation, Replies], None] | None,
    ) -> Failure | None:
        of_replies = {name: compare for name, compare in REPLY_COMPARERS.items() if name in compared}
        of_databases = {name: compare for name, compare in key_space.COMPARERS.items() if name in compared}
        self.clear()
        for done, operation in enumerate(operations, 1):
            replies, (packaged, ours) = self.do(operation)
            found = key_space.differences(packaged, ours, of_databases)
            if operation.same_replies:
                found += [Difference(name, told) for name, compare in of_replies.items() for told in compare(*replies)]
            if found:
                return Failure(tuple(operations[:done]), tuple(found))
            if watch:
                watch(operation, replies[OURS])
        return None

    def _as_sent(self, command: Command, database: int) -> tuple[Argument, ...]:
        if isinstance(command, Call):
            sha = self._shas[database][command.script]
            return ("EVALSHA", sha, len(command.keys), *command.keys, *command.arguments)
        return command


def _load(redis: Redis, text: str) -> str:
    redis.script_load(text)
    return hashlib.sha1(text.encode()).hexdigest()


_PLACE = re.compile(r" script: (?:[0-9a-f]{40}, )?on @user_script:\d+\.\Z")
_LUA_ERROR = re.compile(r"user_script:\d+: ")


def _replies(commands: Sequence[Command], answers: Sequence[object]) -> Replies:
    return [_reply(command, answer) for command, answer in zip(commands, answers, strict=True)]


def _reply(command: Command, answer: object) -> Reply:
    if isinstance(answer, ResponseError):
        return Reply(_told(str(answer)))
    index = command.time_left if isinstance(command, Call) else None
    if index is None or not isinstance(answer, list) or answer[index] <= 0:
        return Reply(answer)
    return Reply([*answer[:index], "a time", *answer[index + 1 :]], answer[index])


def _told(error: str) -> str:
    """The text of an error. What Lua itself says names the line and the locals of one script, and is left out."""
    text = _PLACE.sub("", error)
    return "error: raised by Lua" if _LUA_ERROR.match(text) else f"error: {text}"
