"""A priority queue in Redis or Valkey, over the keys of BullMQ: its workers may share the queue.

Copy this file, and into one folder the scripts that it sends. It needs Python 3.12, redis-py 8 and msgpack. ``Queue``
is for a client of ``redis`` or ``valkey``, ``AsyncQueue`` for one of ``redis.asyncio`` or ``valkey.asyncio``. On a
cluster the queue's name needs a hash tag: ``{orders}``. Threads may share a queue, and so may the tasks of one loop.
Times are in seconds.

A client may send a command again whose reply is lost; redis-py 8 does so up to ten times. Most calls leave the same
when they are sent twice. Four do not, and are sent once, whatever the retries of the client: take, release,
change_priority, and add without a ``job_id``. Their connection errors reach you. After one of the last three, nobody
knows whether it was done.
A take whose reply is lost looks for the job that it may have moved, whose lock has a token that is this take's alone,
and returns that job. Where it cannot look, the next take does. What a dead worker held comes back by recover_stalled.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import inspect
import json
import time
import traceback
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate
from uuid import uuid4

import msgpack
import redis.asyncio

CLIENTS: list[Any] = [redis.exceptions]
with contextlib.suppress(ImportError):  # The package valkey is a fork of redis-py, with exceptions of its own.
    import valkey.exceptions

    CLIENTS.append(valkey.exceptions)
NO_SCRIPT = tuple(client.NoScriptError for client in CLIENTS)
REPLY_LOST = tuple(error for client in CLIENTS for error in (client.ConnectionError, client.TimeoutError))

REFUSED_BY_SCRIPT = tuple(client.ResponseError for client in CLIENTS)
UNDECODED: dict[str, Any] = {"NEVER_DECODE": []}  # What a job holds may be no UTF-8, which must not stop its worker.

MAX_PRIORITY = 2**21 - 1
BLOCK_SECONDS = 2.0
"""How long a take waits for a sign at most, before it looks by itself."""
KEYS = {
    *("active", "completed", "delayed", "events", "failed", "id", "limiter", "marker", "meta", "paused", "pc"),
    *("prioritized", "repeat", "stalled", "stalled-check", "wait", "waiting-children"),
}
"""What no job may be called, since the queue has keys of these names."""


class QueueError(Exception):
    """What goes wrong with a queue. The text names the cure."""


class ScriptMissingError(QueueError):
    """The folder of scripts does not have one that is needed."""


class JobError(QueueError):
    """What a script refuses to do with the job ``job_id``. It has written nothing."""

    def __init__(self, job_id: str, fault: str) -> None:
        super().__init__(job_id, fault)
        self.job_id = job_id
        self.fault = fault

    def __str__(self) -> str:
        return f"job {self.job_id} {self.fault}"


class JobMissingError(JobError):
    """The job does not exist."""


class LockLostError(JobError):
    """The worker no longer has the lock, and another one may have the job."""


class ParentMissingError(JobError):
    """The parent of a job that was to be added does not exist."""


_EXTEND = "drop its result. Take it with a longer lock_duration, or call extend_lock while you work"
_REFUSED: Mapping[int, tuple[type[JobError], str]] = {
    -1: (JobMissingError, "does not exist: it was removed, or is of another queue"),
    -2: (LockLostError, f"is no longer locked: {_EXTEND}"),
    -3: (JobError, "is not active: it was removed, or finished elsewhere; drop its result"),
    -4: (JobError, "has children that are not finished: complete it after them"),
    -5: (ParentMissingError, "was not added, for its parent does not exist: add the parent first"),
    -6: (LockLostError, f"is locked by another worker: {_EXTEND}"),
    -7: (JobError, "exists already and has another parent: choose another job_id"),
    -9: (JobError, "has children that failed: retry them, or fail it"),
}


@dataclass(frozen=True, slots=True)
class Parent:
    """A job that waits for others. ``queue`` begins its keys, without the last colon: ``emq:{orders}``."""

    queue: str
    id: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job, and the fields of its hash."""

    id: str
    fields: Mapping[str, str]

    @property
    def name(self) -> str:
        return self._added("name")

    @property
    def data(self) -> Any:
        return json.loads(self._added("data"))

    @property
    def options(self) -> dict[str, Any]:
        return dict(json.loads(self.fields.get("opts", "{}")))

    @property
    def priority(self) -> int:
        """0: none."""
        return int(self.fields.get("priority", 0))

    def _added(self, field: str) -> str:
        if field not in self.fields:
            raise JobMissingError(self.id, f"has no {field}: its hash was deleted while it waited. Fail it")
        return self.fields[field]


@dataclass(frozen=True, slots=True)
class TakenJob(Job):
    """A job that a worker holds, by a lock that has ``token``. ``score`` is what it waited with, if that was kept."""

    token: str
    lock_duration: float
    score: float | None = None

    @property
    def deferred_failure(self) -> str | None:
        """Why this job is not to be worked on, but failed: it has stalled too often."""
        return self.fields.get("defa")


@dataclass(frozen=True, slots=True)
class Send:
    """A command, and one of its keys. ``once``: sent again, it would do more."""

    command: tuple[Any, ...]
    key: str
    once: bool


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


type Steps[T] = Generator[Send | Sleep, Any, T]
"""What is to be done, one step after the other. Each is answered with its reply or error; then comes the outcome."""


class Plans:
    """The calls of a queue as steps, for any client: keys, arguments, and what the replies mean."""

    def __init__(self, name: str, scripts: Path | str, prefix: str) -> None:
        self._prefix = f"{prefix}:{name}:"
        self._folder = Path(scripts)
        self._scripts: dict[str, tuple[str, str]] = {}
        self._in_doubt: list[str] = []  # The tokens of takes that may have moved a job.

    def add(
        self,
        name: str,
        data: Any,
        *,
        priority: int,
        job_id: str | None = None,
        parent: Parent | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Steps[str]:
        """Add a job behind those of its priority, from 1 (first) to 2097151 (last), and return its id.

        A ``job_id`` that exists is not added again, and keeps its place. ``options`` are for BullMQ's workers. So is a
        job with a parent, or one that is to be removed when it is finished: complete and fail refuse it.
        Raises TypeError or ValueError before anything is sent; ParentMissingError; JobError: it has another parent.
        """
        _require_priority(priority, f"of job {job_id or name}", smallest=1)
        if not isinstance(job_id, str | None):
            raise TypeError(f"job_id {job_id!r} is not a text")
        if undone := sorted({"delay", "deduplication", "debounce", "de", "repeat"} & set(options or {})):
            raise ValueError(f"options {undone} of job {job_id or name} are not done here: add it by BullMQ")
        if job_id is not None and (not job_id or job_id.isdecimal() or ":" in job_id or job_id in KEYS):
            raise ValueError(f"job_id {job_id!r}: take a text that is no number, no key of the queue, and has no colon")
        family: list[Any] = [None, None, None]
        if parent:
            key = f"{parent.queue}:{parent.id}"
            family = [key, f"{key}:dependencies", {"id": parent.id, "queueKey": parent.queue}]
        job = msgpack.packb([self._prefix, job_id or "", name, _now(), *family, None, None])
        packed = msgpack.packb({**(options or {}), "priority": priority})
        names = ("marker", "meta", "id", "prioritized", "delayed", "completed", "active", "events", "pc")
        arguments = (job, _json(data), packed)
        reply = yield from self._run("addPrioritizedJob-9", names, *arguments, once=job_id is None)
        if isinstance(reply, int):
            _require_done(job_id or name, reply)
        return _text(reply)

    def take(
        self, worker: str, lock_duration: float = 30.0, timeout: float = 0.0, *, keep_score: bool = False
    ) -> Steps[TakenJob | None]:
        """Return the job whose turn it is, or None: there was none for ``timeout`` seconds; math.inf waits for ever.

        The lock has the name of the worker in it. After ``lock_duration`` the job counts as stalled; call extend_lock
        before. With ``keep_score`` the script takeKeepingScore takes it, and release puts it back to its place; the
        score is lost with a reply. After a connection error no job is held as far as could be seen: take again.
        """
        deadline = time.monotonic() + timeout
        self._script("takeAgain")  # A reader who did not copy it should know before it is needed.
        if found := (yield from self._take_again(lock_duration)):
            return found
        token = f"{worker}:{uuid4().hex}"
        while True:
            try:
                reply = yield from self._move_to_active(token, lock_duration, keep_score)
            except BaseException as error:
                self._in_doubt.append(token)
                if isinstance(error, REPLY_LOST) and (found := (yield from self._take_again(lock_duration))):
                    return found
                raise
            left = deadline - time.monotonic()
            if reply[0] or left <= 0:
                return _taken(reply, token, lock_duration)
            yield from self._idle(left, limited_for=reply[2] / 1000, due_at=reply[3] / 1000)

    def complete(self, job: TakenJob, result: Any = None) -> Steps[None]:
        """Finish a job, with a result that becomes JSON. Raises JobError, such as LockLostError: it was not done."""
        names = (job.id, "active", "completed", "stalled", "events", "meta", "wait", "prioritized")
        yield from self._finish(job, "complete", names, _json(result))

    def fail(self, job: TakenJob, error: BaseException | str) -> Steps[None]:
        """Give up a job; it is not tried again. Raises JobError, such as LockLostError: it was not done."""
        traces = json.loads(job.fields.get("stacktrace") or "[]")
        if isinstance(error, BaseException):
            traces.append("".join(traceback.format_exception(error)))
        names = (job.id, "active", "failed", "stalled", "events", "meta", "wait", "prioritized")
        attempts = job.options.get("attempts")
        arguments = (str(error) or repr(error), _json(traces), attempts if type(attempts) is int else 1)
        yield from self._finish(job, "fail", names, *arguments)

    def release(self, job: TakenJob) -> Steps[float]:
        """Give a job back: to its place if its score was kept, else to the front of its tier, where ids decide.

        Returns the seconds until the rate limit allows a take. Raises JobError, such as LockLostError: it was not done.
        """
        names = (job.id, "wait", "active", "stalled", "events", "meta", "prioritized", "marker", "limiter")
        score = "" if job.score is None else job.score
        reply = yield from self._run("release", names, job.id, job.token, score, once=True)
        _require_done(job.id, reply)
        return float(reply / 1000)

    def extend_lock(self, job: TakenJob, lock_duration: float | None = None) -> Steps[None]:
        """Hold a job for its lock_duration or the one given, from now on. Raises LockLostError."""
        names = (f"{job.id}:lock", "stalled")
        duration = _milliseconds(job.lock_duration if lock_duration is None else lock_duration)
        reply = yield from self._run("extendLock", names, job.id, job.token, duration)
        _require_done(job.id, 0 if reply else -2)

    def recover_stalled(self, max_stalls: int = 1, interval: float = 30.0) -> Steps[list[str]]:
        """Let jobs wait again whose locks ran out, before every priority, and return their ids.

        Call it from every worker, again and again: one call in ``interval`` does the work, and the second finds a job.
        After more than ``max_stalls`` a job has a deferred_failure.
        """
        names = ("stalled", "wait", "active", "stalled-check", "meta", "marker", "events", "repeat")
        arguments = (max_stalls, self._prefix, _now(), _milliseconds(interval))
        reply = yield from self._run("recoverStalled", names, *arguments)
        return [_text(job_id) for job_id in reply]

    def change_priority(self, job_id: str, priority: int, *, lifo: bool = False) -> Steps[None]:
        """Move a waiting job to the back of a tier, or to its front; 0: before all tiers. Raises JobMissingError."""
        _require_priority(priority, f"of job {job_id}", smallest=0)
        names = (job_id, "wait", "prioritized", "active", "meta", "pc", "marker")
        reply = yield from self._run("changePriority", names, job_id, priority, int(lifo), once=True)
        _require_done(job_id, reply)

    def peek(self) -> Steps[Job | None]:
        """Return the job whose turn it is, and leave it there."""
        reply = yield from self._run("peek", ("wait", "prioritized"), self._prefix)
        return Job(_text(reply[1]), _fields(reply[0])) if reply else None

    def position(self, job_id: str) -> Steps[int | None]:
        """Return how many jobs are taken before this one, or None: it does not wait."""
        position: int | None = yield from self._run("position", ("wait", "prioritized"), job_id)
        return position

    def counts(self, priorities: Sequence[int]) -> Steps[dict[int, int]]:
        """Return how many jobs wait with each of these priorities, or without one: 0."""
        for priority in priorities:
            _require_priority(priority, "of a count", smallest=0)
        reply = yield from self._run("countTiers", ("wait", "prioritized"), *priorities)
        return dict(zip(priorities, reply, strict=True))

    def _finish(self, job: TakenJob, script: str, names: Sequence[str], *arguments: Any) -> Steps[None]:
        try:
            reply = yield from self._run(script, names, job.id, job.token, _now(), *arguments)
        except REFUSED_BY_SCRIPT as error:
            _, is_of_job, fault = str(error).partition(f"job {job.id} ")
            if not is_of_job:
                raise
            raise JobError(job.id, fault) from error
        _require_done(job.id, reply)

    def _run(self, script: str, names: Sequence[str], *arguments: Any, once: bool = False) -> Steps[Any]:
        text, sha = self._script(script)
        keys = [self._prefix + name for name in names]
        tail = (len(keys), *keys, *arguments)
        try:
            return (yield Send(("EVALSHA", sha, *tail), keys[0], once))
        except NO_SCRIPT:  # The server is new, or its scripts were flushed. EVAL keeps this one there.
            return (yield Send(("EVAL", text, *tail), keys[0], once))

    def _script(self, name: str) -> tuple[str, str]:
        if name not in self._scripts:
            path = self._folder / f"{name}.lua"
            try:
                text = path.read_text(encoding="utf-8")
            except OSError as error:
                raise ScriptMissingError(f"{path}: {error.strerror}; copy it there, or correct scripts=") from error
            if "\n--- @include" in text:
                raise ScriptMissingError(f"{path}: this is its source, which lacks what it includes; download the file")
            self._scripts[name] = text, hashlib.sha1(text.encode()).hexdigest()
        return self._scripts[name]

    def _move_to_active(self, token: str, lock_duration: float, keep_score: bool) -> Steps[Any]:
        names = ("wait", "active", "prioritized", "events", "stalled", "limiter", "delayed", "paused", "meta", "pc")
        options = msgpack.packb({"token": token, "lockDuration": _milliseconds(lock_duration)})
        script = "takeKeepingScore" if keep_score else "moveToActive-11"
        return (yield from self._run(script, (*names, "marker"), self._prefix, _now(), options, once=True))

    def _take_again(self, lock_duration: float) -> Steps[TakenJob | None]:
        while True:
            try:
                token = self._in_doubt.pop()
            except IndexError:
                return None
            arguments = (self._prefix, token, _milliseconds(lock_duration))
            try:
                reply = yield from self._run("takeAgain", ("active",), *arguments)
            except BaseException:
                self._in_doubt.append(token)
                raise
            if reply[0]:
                return _taken(reply, token, lock_duration)

    def _idle(self, left: float, limited_for: float, due_at: float) -> Steps[None]:
        """Wait until there may be a job. The marker is a sign and no job, so nothing depends on who pops it."""
        if limited_for:
            yield Sleep(min(limited_for, left))
            return
        seconds = min(left, BLOCK_SECONDS, due_at - time.time() if due_at else left)
        marker = self._prefix + "marker"
        # The client's own timeout may be shorter, and if the server is gone, the take that follows finds out.
        with contextlib.suppress(*REPLY_LOST):
            # Not 0, which is for ever.
            yield Send(("BZPOPMIN", marker, max(seconds, 0.01)), marker, once=True)


def _blocking[**P, T](plan: Callable[Concatenate[Plans, P], Steps[T]]) -> Callable[Concatenate[Queue, P], T]:
    """Return the method of a Queue that carries out the steps of ``plan``."""

    @functools.wraps(plan)
    def method(queue: Queue, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = plan(queue.plans, *args, **kwargs)
        try:
            step = next(steps)
            while True:
                try:
                    reply = queue.carry_out(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(reply)
        except StopIteration as end:
            outcome: T = end.value
            return outcome

    return method


def _awaited[**P, T](
    plan: Callable[Concatenate[Plans, P], Steps[T]],
) -> Callable[Concatenate[AsyncQueue, P], Coroutine[Any, Any, T]]:
    """Return the method of an AsyncQueue that carries out the steps of ``plan``."""

    @functools.wraps(plan)
    async def method(queue: AsyncQueue, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = plan(queue.plans, *args, **kwargs)
        try:
            step = next(steps)
            while True:
                try:
                    reply = await queue.carry_out(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(reply)
        except StopIteration as end:
            outcome: T = end.value
            return outcome

    return method


class _Sender:
    def __init__(self, client: Any, name: str, *, scripts: Path | str, prefix: str = "emq") -> None:
        """``scripts`` is the folder that has the .lua files; each is read when it is first needed."""
        if inspect.iscoroutinefunction(client.execute_command) is not isinstance(self, AsyncQueue):
            raise TypeError("an asyncio client needs an AsyncQueue, and any other a Queue")
        if _is_cluster(client) and "{" not in f"{prefix}{name}":
            raise ValueError(f"queue {name}: on a cluster its keys need a hash tag; call it {{{name}}}")
        self.plans = Plans(name, scripts, prefix)
        self._client = client


class Queue(_Sender):
    """A priority queue for a client of ``redis`` or ``valkey``: the calls of ``Plans``, carried out."""

    add = _blocking(Plans.add)
    take = _blocking(Plans.take)
    complete = _blocking(Plans.complete)
    fail = _blocking(Plans.fail)
    release = _blocking(Plans.release)
    extend_lock = _blocking(Plans.extend_lock)
    recover_stalled = _blocking(Plans.recover_stalled)
    change_priority = _blocking(Plans.change_priority)
    peek = _blocking(Plans.peek)
    position = _blocking(Plans.position)
    counts = _blocking(Plans.counts)

    def carry_out(self, step: Send | Sleep) -> Any:
        """Do one step and return its reply."""
        if isinstance(step, Sleep):
            return time.sleep(step.seconds)
        if not step.once:
            return self._client.execute_command(*step.command, **UNDECODED)
        if _is_cluster(self._client):  # It does not retry what is sent to a node by name.
            node = self._client.get_node_from_key(step.key)
            return self._client.execute_command(*step.command, target_nodes=node, **UNDECODED)
        # The retries of a client are in its execute_command; a connection has none for a command.
        pool = self._client.connection_pool
        connection = _lend(pool)
        try:
            connection.send_command(*step.command)
            return connection.read_response(disable_decoding=True)
        finally:
            pool.release(connection)


class AsyncQueue(_Sender):
    """A priority queue for a client of ``redis.asyncio`` or ``valkey.asyncio``: the same calls, to be awaited."""

    add = _awaited(Plans.add)
    take = _awaited(Plans.take)
    complete = _awaited(Plans.complete)
    fail = _awaited(Plans.fail)
    release = _awaited(Plans.release)
    extend_lock = _awaited(Plans.extend_lock)
    recover_stalled = _awaited(Plans.recover_stalled)
    change_priority = _awaited(Plans.change_priority)
    peek = _awaited(Plans.peek)
    position = _awaited(Plans.position)
    counts = _awaited(Plans.counts)

    async def carry_out(self, step: Send | Sleep) -> Any:
        """Do one step and return its reply."""
        if isinstance(step, Sleep):
            return await asyncio.sleep(step.seconds)
        if not step.once:
            return await self._client.execute_command(*step.command, **UNDECODED)
        if _is_cluster(self._client):
            await self._client.initialize()
            node = self._client.get_node_from_key(step.key)
            return await self._client.execute_command(*step.command, target_nodes=node, **UNDECODED)
        pool = self._client.connection_pool
        connection = await _lend(pool)
        try:
            await connection.send_command(*step.command)
            return await connection.read_response(disable_decoding=True)
        finally:
            await pool.release(connection)


def _is_cluster(client: Any) -> bool:
    return hasattr(client, "get_node_from_key")


def _lend(pool: Any) -> Any:
    """Return a connection of the pool, or with asyncio what gives it. valkey still wants the name of a command."""
    needs_name = "valkey" in {base.__module__.partition(".")[0] for base in type(pool).__mro__}
    return pool.get_connection("EVALSHA") if needs_name else pool.get_connection()


def _require_priority(priority: int, whose: str, *, smallest: int) -> None:
    # True is an int in Python, but no priority.
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"priority {priority!r} {whose} is not an integer: a fraction would move it to another place")
    if not smallest <= priority <= MAX_PRIORITY:
        raise ValueError(f"priority {priority} {whose} has no tier: take one from {smallest} to {MAX_PRIORITY}")


def _require_done(job_id: str, reply: int) -> None:
    if reply < 0:
        error, fault = _REFUSED[reply]
        raise error(job_id, fault)


def _taken(reply: Any, token: str, lock_duration: float) -> TakenJob | None:
    if not reply[0]:
        return None
    score = float(reply[4]) if len(reply) > 4 else None
    return TakenJob(_text(reply[1]), _fields(reply[0]), token, lock_duration, score)


def _fields(flat: Sequence[str | bytes]) -> dict[str, str]:
    texts = [_text(item) for item in flat]
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _text(reply: str | bytes) -> str:
    return reply.decode(errors="replace") if isinstance(reply, bytes) else reply


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _milliseconds(seconds: float) -> int:
    return max(round(seconds * 1000), 1)
