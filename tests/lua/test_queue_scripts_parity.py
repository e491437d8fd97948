"""Jobs are finished, kept, recovered and moved by our scripts as by the packaged ones: same state after every call.

Both sides add and take jobs with the packaged scripts, so that only the scripts in question differ.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import key_space
import lua_under_test
import msgpack
import packaged
import pytest
import queue_calls
from parity import COMPARED, Call, Command, Operation, Pair, Replies, on_both
from queue_calls import key
from redis import Redis

from redis_transcripts import server

START = 1_700_000_000_000
JOBS = ("a", "b", "c", "d")
TOKENS = ("token-1", "token-1", "token-2")
PRIORITIES = (1, 1, 2, 3, 2097151)
OPTIONS: Sequence[dict[str, object]] = ({}, {}, {"attempts": 2}, {"removeOnComplete": False, "removeOnFail": None})
OPERATIONS = 700

PACKAGED = (
    *("moveToFinished-14", "extendLock-2", "moveStalledJobsToWait-9", "changePriority-7", "moveJobFromActiveToWait-9"),
)
OURS = ("complete", "fail", "extendLock", "recoverStalled", "changePriority", "release", "takeKeepingScore")

WITHOUT_OTHER: Command = ("LREM", key("wait"), 0, "other")
"""Drops a job that waits beside the others for a while, so that front and back differ."""

FINISH_KEYS = (*("wait", "active", "prioritized", "events", "stalled", "limiter", "delayed", "paused", "meta", "pc"),)


def call(script: str, names: Sequence[str], *arguments: str | bytes | int) -> Call:
    return Call(script, queue_calls.keys(tuple(names)), arguments)


def finish(job: str, token: str, now: int, field: str, value: str, more: Sequence[str], attempts: int) -> Call:
    """The packaged call, as the Python worker makes it."""
    target = "completed" if field == "returnvalue" else "failed"
    options: dict[str, object] = {"token": token, "keepJobs": {"count": -1}, "limiter": None, "lockDuration": None}
    options |= {"attempts": attempts, "attemptsMade": 0, "maxMetricsSize": ""}
    options |= {"fpof": False, "cpof": False, "idof": False, "rdof": False}
    names = (*FINISH_KEYS, target, job, f"metrics:{target}", "marker")
    packed = [msgpack.packb(list(more))] if more else []
    arguments = (job, now, field, value, target, "", queue_calls.PREFIX, msgpack.packb(options), *packed)
    return call("moveToFinished-14", names, *arguments)


class Run:
    """One seed's random choices, and the time that has passed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.now = START
        self.number = 0

    def next(self) -> Operation:
        self.number += 1
        self.now += self.one_of((0, 1, 900))
        [make] = self._random.choices([made for made, _ in WEIGHTS], [weight for _, weight in WEIGHTS])
        return make(self)

    def some(self, jobs: Sequence[str]) -> list[str]:
        return self._random.sample(jobs, self._random.randint(1, len(jobs)))

    def one_of[T](self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)


def add(run: Run) -> Operation:
    """A job that is there no more, or was never, is added."""
    job, priority = run.one_of(JOBS), run.one_of(PRIORITIES)
    options = run.one_of(OPTIONS)
    gone: list[Command] = [("DEL", key(job), key(f"{job}:lock"))]
    gone += [("ZREM", key(name), job) for name in ("prioritized", "completed", "failed")]
    gone += [("LREM", key(name), 0, job) for name in ("active", "wait")] + [("SREM", key("stalled"), job)]
    added = queue_calls.add(priority, timestamp=run.now, job=job, options=options)
    return on_both(f"add {job} with priority {priority} and {options}", *gone, added)


def take(run: Run) -> Operation:
    token = run.one_of(TOKENS)
    taken = queue_calls.take(run.now, token=token, lock_duration=600_000)
    return on_both(f"take with {token} one of the jobs", WITHOUT_OTHER, taken)


def take_keeping_score(run: Run) -> Operation:
    token = run.one_of(TOKENS)
    theirs = queue_calls.take(run.now, token=token, lock_duration=600_000)
    ours = Call("takeKeepingScore", theirs.keys, theirs.arguments)
    text = f"take with {token} one of the jobs, and its score"
    return Operation(text, (WITHOUT_OTHER, theirs), (WITHOUT_OTHER, ours), same_replies=False)


def complete(run: Run) -> Operation:
    jobs, token, result = run.some(JOBS), run.one_of(TOKENS), json.dumps({"number": run.number})
    names = ("active", "completed", "stalled", "events", "meta", "wait", "prioritized")
    return Operation(
        f"complete {jobs} by {token}",
        tuple(finish(job, token, run.now, "returnvalue", result, (), 1) for job in jobs),
        tuple(call("complete", (job, *names), job, token, run.now, result) for job in jobs),
    )


def fail(run: Run) -> Operation:
    jobs, token, attempts = run.some(JOBS), run.one_of(TOKENS), run.one_of((0, 1, 2))
    reason, traces = f"reason {run.number}", json.dumps([f"trace {run.number}"])
    names = ("active", "failed", "stalled", "events", "meta", "wait", "prioritized")
    fields = ("failedReason", reason, "stacktrace", traces)
    return Operation(
        f"fail {jobs} by {token}, of {attempts} attempts",
        tuple(finish(job, token, run.now, "failedReason", reason, fields, attempts) for job in jobs),
        tuple(call("fail", (job, *names), job, token, run.now, reason, traces, attempts) for job in jobs),
    )


def extend(run: Run) -> Operation:
    jobs, token, duration = run.some(JOBS), run.one_of(TOKENS), run.one_of((300_000, 900_000))
    return Operation(
        f"extend the locks of {jobs} by {token} to {duration}",
        tuple(call("extendLock-2", (f"{job}:lock", "stalled"), token, duration, job) for job in jobs),
        tuple(call("extendLock", (f"{job}:lock", "stalled"), job, token, duration) for job in jobs),
    )


def recover(run: Run) -> Operation:
    stalls = run.one_of((0, 1, 1, 2))
    names = ("stalled", "wait", "active", "stalled-check", "meta", "paused", "marker", "events", "repeat")
    our_names = tuple(name for name in names if name != "paused")
    arguments = (stalls, queue_calls.PREFIX, run.now, 500_000)
    theirs, ours = call("moveStalledJobsToWait-9", names, *arguments), call("recoverStalled", our_names, *arguments)
    due = ("DEL", key("stalled-check"))
    times = run.one_of((1, 1, 2))
    text = f"recover those that stalled, {stalls} times allowed"
    if run.one_of((True, False, False)):
        return Operation(f"{text}, if a check is due", (theirs,), (ours,))
    return Operation(f"{text}, {times} times", (due, theirs) * times, (due, ours) * times)


def change_priority(run: Run) -> Operation:
    job, priority, lifo = run.one_of(JOBS), run.one_of((0, 0, 0, *PRIORITIES)), run.one_of((0, 1))
    names = ("wait", "paused", "meta", "prioritized", "active", "pc", "marker")
    our_names = (job, "wait", "prioritized", "active", "meta", "pc", "marker")
    return Operation(
        f"change the priority of {job} to {priority}, in front: {lifo}",
        (call("changePriority-7", names, priority, queue_calls.PREFIX, job, lifo),),
        (call("changePriority", our_names, job, priority, lifo),),
    )


def release(run: Run) -> Operation:
    jobs, token = run.some(JOBS), run.one_of(TOKENS)
    names = ("active", "wait", "stalled", "paused", "meta", "limiter", "prioritized", "marker", "events")
    our_names = ("wait", "active", "stalled", "events", "meta", "prioritized", "marker", "limiter")
    before: Sequence[Command] = (WITHOUT_OTHER, ("LPUSH", key("wait"), "other"), ("DEL", key("marker")))
    return Operation(
        f"another job waits, there is no marker, and release {jobs} by {token}",
        (*before, *(call("moveJobFromActiveToWait-9", names, job, token, key(job)) for job in jobs)),
        (*before, *(call("release", (job, *our_names), job, token, "") for job in jobs)),
    )


def release_while_limited(run: Run) -> Operation:
    released = release(run)
    before, after = ("SET", key("limiter"), 1, "PX", 700_000), ("DEL", key("limiter"))
    return Operation(
        f"{released.text}, limited",
        (before, *released.packaged, after),
        (before, *released.ours, after),
        same_replies=False,  # They are times that run.
    )


def lock_ends(run: Run) -> Operation:
    job = run.one_of(JOBS)
    return on_both(f"the lock of {job} runs out", ("DEL", key(f"{job}:lock")))


def forget(run: Run) -> Operation:
    commands = (("DEL", key("marker")), ("HDEL", key("meta"), "opts.maxLenEvents"))
    return on_both("no marker, and no length of events", *commands)


def drop_waiting(run: Run) -> Operation:
    return on_both("no job waits", ("DEL", key("wait"), key("prioritized")))


def resume(run: Run) -> Operation:
    return on_both("neither paused nor limited", ("HDEL", key("meta"), "paused", "concurrency"))


def repeat(run: Run) -> Operation:
    """A scheduler has made this job, and is there in one of two ways, or gone."""
    job, scheduler = run.one_of(JOBS), run.one_of(("daily", "hourly", "gone"))
    schedulers: list[Command] = [("HSET", key("repeat:daily"), "ic", 1), ("ZADD", key("repeat"), 5, "hourly")]
    return on_both(f"{job} was made by the scheduler {scheduler}", *schedulers, ("HSET", key(job), "rjk", scheduler))


def twice(run: Run) -> Operation:
    job, name = run.one_of(JOBS), run.one_of(("active", "wait"))
    return on_both(f"{job} is in {name}, at both ends", ("LPUSH", key(name), job), ("RPUSH", key(name), job))


def outside(run: Run) -> Operation:
    """Something else that changes the queue."""
    job = run.one_of(JOBS)
    commands: Sequence[Command] = run.one_of(
        (
            (("HSET", key("meta"), "paused", 1),),
            (("HSET", key("meta"), "concurrency", run.one_of((1, 2, 4))),),
            (("HSET", key("meta"), "opts.maxLenEvents", run.one_of((0, 3, 10_000))),),
            (("DEL", key("pc")),),
            (("SADD", key("stalled"), job),),
            (("HSET", key(job), "defa", "why"),),
            (("DEL", key(job)),),
            (("LPUSH", key("active"), "0:9"), ("RPUSH", key("active"), "0:9"), ("SADD", key("stalled"), "0:9")),
            (("HSET", key(f"{job}:processed"), "child", 1), ("SADD", key(f"{job}:dependencies"), "child")),
            (("ZADD", key(f"{job}:unsuccessful"), 1, "child"),),
            (("DEL", *(key(f"{name}:{of}") for name in JOBS for of in ("dependencies", "unsuccessful"))),),
        )
    )
    typed = "; ".join(" ".join(map(str, command)) for command in commands if isinstance(command, tuple))
    return on_both(f"outside: {typed}", *commands)


WEIGHTS: Sequence[tuple[Callable[[Run], Operation], int]] = (
    (add, 60),
    (take, 120),
    (take_keeping_score, 15),
    (complete, 40),
    (fail, 30),
    (extend, 20),
    (recover, 40),
    (change_priority, 30),
    (release, 25),
    (release_while_limited, 5),
    (lock_ends, 20),
    (outside, 30),
    (forget, 40),
    (drop_waiting, 12),
    (resume, 40),
    (repeat, 15),
    (twice, 25),
)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    running = server.Server(server.find(None), {**key_space.SERVER_SETTINGS, **lua_under_test.server_settings()})
    theirs = queue_calls.packaged_scripts()
    try:
        with Redis.from_url(running.url, protocol=2) as redis:
            yield Pair(
                redis,
                theirs | {name: packaged.script(name) for name in PACKAGED},
                theirs | {name: lua_under_test.text(lua_under_test.ROOT / f"lua/{name}.lua") for name in OURS},
            )
    finally:
        running.stop()


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 16), marks=pytest.mark.long)], ids=["few", "many"])
def test_random_operations_leave_the_same(seeds: range, pair: Pair) -> None:
    answers: Counter[str] = Counter()

    def tally(operation: Operation, replies: Replies) -> None:
        for called, reply in zip(operation.ours, replies, strict=True):
            if isinstance(called, Call):
                value = reply.value
                answers[f"{called.script} {value if isinstance(value, int) and value < 2 else bool(value)}"] += 1

    for seed in seeds:
        run = Run(seed)
        failure = pair.replay([run.next() for _ in range(OPERATIONS)], watch=tally)
        assert failure is None, pair.shrink(failure).report(f"seed {seed}")

    # What each script can answer has come, and more than once.
    for script in ("complete", "fail", "release"):
        assert all(answers[f"{script} {code}"] > 5 for code in (0, -1, -2, -6)), (script, answers)
    assert min(answers["complete -4"], answers["complete -9"]) > 2, answers
    assert all(answers[f"changePriority {code}"] > 5 for code in (0, -1)), answers
    assert all(answers[f"extendLock {code}"] > 5 for code in (0, 1)), answers
    assert all(answers[f"recoverStalled {any_moved}"] > 5 for any_moved in (True, False)), answers


def test_many_active_jobs_are_noted_as_stalled(pair: Pair) -> None:
    many: Command = ("EVAL", 'for n = 1, 9000 do redis.call("LPUSH", KEYS[1], n) end', 1, key("active"))
    compared = set(COMPARED) - {"time left"}  # So many take longer than times may differ.
    failure = pair.replay([on_both("many are active", many), *(recover(Run(seed)) for seed in range(3))], compared)
    assert failure is None, failure.report("many")
