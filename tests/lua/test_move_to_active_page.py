"""The tables of ``docs/priority/move-to-active.md`` are what the script's header says, and what a run gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import packaged
import pytest
import releases
import same_work
from redis import Redis

from redis_transcripts import server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/priority/move-to-active.md").read_text()
SCRIPT = (ROOT / "lua/moveToActive-11.lua").read_text().split("\n")
HEADER = "\n".join(line for line in SCRIPT if line.startswith("--") and not line.startswith("---"))


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    running = server.Server(server.find(None))
    yield running.address()
    running.stop()


def cells(row: str) -> list[str]:
    """The cells of the table's row that begins with this cell."""
    (line,) = re.findall(rf"^\| {re.escape(row)} \|.*$", PAGE, re.M)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_keys_are_those_of_the_header() -> None:
    named = dict(re.findall(r"KEYS\[(\d+)\] +(\w+)", HEADER))
    shown = dict(re.findall(r"^\| `KEYS\[(\d+)\]` \| `(\w+)` \|", PAGE, re.M))
    assert shown == named
    assert list(shown) == [str(number) for number in range(1, 12)]
    unused = set(re.findall(r"KEYS\[(\d+)\] \w+: unused", HEADER))
    assert set(re.findall(r"^\| `KEYS\[(\d+)\]` \| `\w+` \| unused \|$", PAGE, re.M)) == unused == {"5", "8"}


def test_arguments_are_those_of_the_header() -> None:
    named = re.findall(r"^-- (ARGV\[\d\])", HEADER, re.M)
    assert re.findall(r"^\| `(ARGV\[\d\])` \|", PAGE, re.M) == named == ["ARGV[1]", "ARGV[2]", "ARGV[3]"]
    options = cells("`ARGV[3]`")[2]
    assert re.findall("`(.*?)`", options) == ["token", "lockDuration", "limiter", "name"]


def test_each_reply_of_the_header_is_run_on_the_page() -> None:
    described = re.findall(r"^-- \{(.*?)\}  ", HEADER, re.M)
    replies = re.findall(r"^```reply\n(.*?)^```$", PAGE, re.M | re.S)
    shapes = {_shape(reply) for reply in replies if re.search(r"^4\) ", reply, re.M)}
    assert shapes == {
        ("fields of the job, id, 0, 0"),
        ("0, 0, milliseconds, 0"),
        ("0, 0, 0, time"),
        ("0, 0, 0, 0"),
    }
    assert set(described) == shapes
    assert "(error) ERR limiter" in PAGE


def _shape(reply: str) -> str:
    elements = re.findall(r"^(\d)\) (.*)$", reply, re.M)
    if '"' in elements[1][1]:
        return "fields of the job, id, 0, 0"
    third, fourth = (text.removeprefix("(integer) ") for _, text in elements[2:])
    return f"0, 0, {'0' if third == '0' else 'milliseconds'}, {'0' if fourth == '0' else 'time'}"


def test_the_lines_shown_are_the_whole_body_in_parts() -> None:
    parts = [range(int(a), int(b) + 1) for a, b in re.findall(r"moveToActive-11\.lua:(\d+):(\d+)", PAGE)]
    shown = sorted(number for part in parts for number in part)
    first = next(number for number, line in enumerate(SCRIPT, 1) if line.startswith("local meta"))
    body = [number for number, line in enumerate(SCRIPT, 1) if number >= first and line]
    assert [number for number in shown if SCRIPT[number - 1]] == body
    for part in parts:
        assert SCRIPT[part[0] - 2] == "" or part[0] == first
        assert SCRIPT[part[-1] - 1] != ""


def test_the_same_work_is_what_monitor_tells(address: tuple[str, int]) -> None:
    redis = Redis(*address, decode_responses=True)
    rows = {row.scenario: row for row in same_work.rows(redis)}
    compared = 0
    for name, row in rows.items():
        if f"| {name} |" not in PAGE:
            continue
        _, ours, *theirs = cells(name)
        assert ours.split() == list(same_work.names(row.ours))
        assert (theirs[0] if theirs else ours).split() == list(same_work.names(row.packaged))
        compared += 1
    assert compared >= 8


def test_the_releases_give_these_orders(address: tuple[str, int]) -> None:
    redis = Redis(*address, protocol=2)
    found: dict[str, list[str]] = {}
    for row in releases.rows(redis):
        found.setdefault(row.situation, []).append(row.order or "refused")
    (head,) = re.findall(r"^\| +\| arrived \| (.*) \|$", PAGE, re.M)
    assert head.split(" | ") == [*packaged.OLD_RELEASES, "3.4.4", releases.OURS]
    assert len(found) == 3
    for situation, orders in found.items():
        assert cells(situation)[2:] == orders
