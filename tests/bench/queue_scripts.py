"""``make bench``: what our scripts cost beside the packaged ones, as ratios from one run.

Each script adds jobs to a queue in which many wait already, and takes them again. A round runs the variants one after
the other, in an order that turns from round to round, and gives a ratio; the figures are medians of the rounds. The
time is what the server counts for EVALSHA. Only ratios carry over to another machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from redis import Redis

from redis_transcripts.server import Server, find

sys.path.insert(0, str(Path(__file__).parents[1]))
import queue_calls
from parity import Call

BACKLOGS = (10**2, 10**4, 10**6)
CALLS = 1000
OURS, PACKAGED, AGAIN = "ours", "packaged", "packaged again"
NOW = 1_764_547_200_000

# A job of the backlog has priority 2, one that is added priority 1: what is added is what is taken.
_FILL = """
for i = 1, ARGV[2] do
  redis.call("ZADD", KEYS[1], 2 * 0x100000000 + ARGV[1] + i, "waiting:" .. string.format("%.0f", ARGV[1] + i))
end
"""
_FILL_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call took: microseconds of the server, and calls a second of the client."""

    server: float
    rate: float


class Variant:
    """A pair of scripts with a queue of its own, in a database of its own."""

    def __init__(self, redis: Redis, scripts: Mapping[str, str], backlog: int) -> None:
        self._redis = redis
        self._hashes = {name: redis.script_load(text) for name, text in scripts.items()}
        redis.flushdb()
        for done in range(0, backlog, _FILL_AT_ONCE):
            redis.eval(_FILL, 1, queue_calls.key("prioritized"), done, min(_FILL_AT_ONCE, backlog - done))

    def round(self) -> dict[str, Cost]:
        """Add jobs and take them again; return the cost of either. The queue is then as before."""
        adds = self._run([queue_calls.add(1, timestamp=NOW, data='{"order":7}') for _ in range(CALLS)])
        takes = self._run([queue_calls.take(NOW, token="worker") for _ in range(CALLS)])
        self._clear()
        return {"add": adds, "take": takes}

    def _run(self, calls: Sequence[Call]) -> Cost:
        prepared = [(self._hashes[call.script], len(call.keys), (*call.keys, *call.arguments)) for call in calls]
        self._redis.config_resetstat()
        began = time.perf_counter()
        for script, count, arguments in prepared:
            self._redis.evalsha(script, count, *arguments)
        seconds = time.perf_counter() - began
        counted = self._redis.info("commandstats")["cmdstat_evalsha"]
        assert counted["calls"] == len(calls)
        assert counted["failed_calls"] == 0
        return Cost(counted["usec"] / len(calls), len(calls) / seconds)

    def _clear(self) -> None:
        jobs = [str(job) for job in self._redis.lrange(queue_calls.key("active"), 0, -1)]
        assert len(jobs) == CALLS
        gone = [queue_calls.key(job) for job in jobs] + [f"{queue_calls.key(job)}:lock" for job in jobs]
        self._redis.delete(*gone, queue_calls.key("active"), queue_calls.key("events"))


def measure(address: tuple[str, int], backlog: int, rounds: int) -> dict[str, list[dict[str, Cost]]]:
    """Return the costs of each variant, round by round."""
    host, port = address
    scripts = {OURS: queue_calls.own_scripts(), PACKAGED: queue_calls.packaged_scripts()}
    scripts[AGAIN] = scripts[PACKAGED]
    clients = {name: Redis(host=host, port=port, db=db, decode_responses=True) for db, name in enumerate(scripts)}
    variants = {name: Variant(clients[name], texts, backlog) for name, texts in scripts.items()}
    for variant in variants.values():
        variant.round()
    costs: dict[str, list[dict[str, Cost]]] = {name: [] for name in variants}
    for number in range(rounds):
        names = list(variants)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            costs[name].append(variants[name].round())
    for client in clients.values():
        client.flushdb()
        client.close()
    return costs


def report(backlog: int, costs: Mapping[str, list[dict[str, Cost]]]) -> Iterator[str]:
    """Yield a line for each call."""
    for call in ("add", "take"):
        ours, packaged, again = ([cost[call] for cost in costs[name]] for name in (OURS, PACKAGED, AGAIN))
        server = statistics.median(own.server / theirs.server for own, theirs in zip(ours, packaged, strict=True))
        noise = statistics.median(same.server / theirs.server for same, theirs in zip(again, packaged, strict=True))
        rate = statistics.median(own.rate / theirs.rate for own, theirs in zip(ours, packaged, strict=True))
        taken = statistics.median(own.server for own in ours)
        yield f"{backlog:>9,} {call:>5} {server:>14.2f} {noise:>14.2f} {rate:>15.2f} {taken:>10.1f} µs"


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--backlog", type=int, nargs="*", default=BACKLOGS)
    options = parser.parse_args()
    server = Server(find(None))
    try:
        print(f"{find(None)}: {CALLS} calls a round, {options.rounds} rounds, medians")
        print("  waiting  call  server, ours/  the packaged   calls a second,   server,")
        print("                      packaged  against itself    ours/packaged  ours")
        grown = {}
        for backlog in options.backlog:
            costs = measure(server.address(), backlog, options.rounds)
            grown[backlog] = {
                call: statistics.median(cost[call].server for cost in costs[OURS]) for call in ("add", "take")
            }
            for line in report(backlog, costs):
                print(line, flush=True)
        least, most = min(grown), max(grown)
        for call in ("add", "take"):
            growth = grown[most][call] / grown[least][call]
            print(f"from {least:,} to {most:,} waiting jobs the server time of our {call} grows {growth:.2f} times")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
