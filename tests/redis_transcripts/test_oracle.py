"""redis-cli 7.0.15 as the oracle: our splitter, wire reader and formatter print what it prints, line for line.

redis-cli runs once per list and protocol, all commands on its standard input, and a separator behind each. Then the
same commands run as a page's steps on the same server, emptied.

Three kinds of reply are left out because redis-cli 7.0.15 itself ends or hangs at them: RESP3's big numbers ("Unknown
reply type: 13") and attributes, a RESP3 double that is not a number ("Bad double value"), and DEBUG PROTOCOL push.
``test_reply.py`` and ``test_resp.py`` have those.
"""

from __future__ import annotations

import functools
import itertools
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from components import require

from redis_transcripts import transcript
from redis_transcripts.fence import Block
from redis_transcripts.server import Binary, Server, inspect
from redis_transcripts.session import Session
from redis_transcripts.source import Origin, SourceLine

_CURE = "the oracle is redis-cli 7.0.15 beside redis-server: install Debian 12's redis-tools and redis-server"
_SERVER = Path("/usr/bin/redis-server")
_PROTOCOLS = (2, 3)


@dataclass(frozen=True, slots=True)
class Separator:
    """A line typed behind each command, and what redis-cli prints for it."""

    typed: str
    printed: bytes


# redis-cli answers an open quote itself, so this neither disturbs a transaction nor reaches the server.
_OPEN_QUOTE = Separator('"', b"Invalid argument(s)\n")
# Among lines with open quotes of their own, a reply that none of them has.
_ECHO = Separator("ECHO ----next----", b'"----next----"\n')


@dataclass(frozen=True, slots=True)
class CommandList:
    """Commands that run in order on one connection to a server with ``settings``.

    At the default ``hz`` a blocking command's timeout takes up to a tenth of a second.
    """

    commands: tuple[str, ...]
    separator: Separator = _OPEN_QUOTE
    settings: tuple[tuple[str, str], ...] = (("enable-debug-command", "local"), ("hz", "500"))


@dataclass(frozen=True, slots=True)
class Printed:
    """The lines for one command."""

    by_redis_cli: list[str]
    by_us: list[str]


def _listed(name: str) -> tuple[str, ...]:
    lines = (Path(__file__).parents[1] / "data" / name).read_text(encoding="utf-8").split("\n")
    return tuple(line for line in lines if line and not line.startswith("# "))


def _nested_shapes() -> Iterator[str]:
    """Scripts that return aggregates nested to depth 4: one a combination of kinds, with every size at each level."""
    for depth in range(1, 5):
        for kinds in itertools.product(("array", "map", "set"), repeat=depth):
            shapes = [_shape(list(zip(kinds, sizes, strict=True))) for sizes in _sizes(depth)]
            yield f'EVAL "redis.setresp(3) return {{{", ".join(shapes)}}}" 0'


def _sizes(depth: int) -> Iterator[tuple[str, ...]]:
    """The sizes from the outermost level to the innermost, which alone can be empty."""
    return itertools.product(*[("one", "several")] * (depth - 1), ("empty", "one", "several"))


def _shape(levels: list[tuple[str, str]]) -> str:
    """A Lua value. Lua's order is certain for a list part followed by one key, so no table has two keys."""
    (kind, size), *inner_levels = levels
    if size == "empty":
        return {"array": "{}", "map": "{map={}}", "set": "{set={}}"}[kind]
    inner = _shape(inner_levels) if inner_levels else "'x'"
    return {
        ("array", "one"): f"{{{inner}}}",
        ("array", "several"): f"{{{inner}, 'y', {inner}}}",
        ("map", "one"): f"{{map={{{inner}}}}}",
        ("map", "several"): f"{{map={{{inner}, 'y', {inner}}}}}",
        ("set", "one"): f"{{set={{[{inner}]=true}}}}",
        ("set", "several"): f"{{set={{true, true, [{inner}]=true}}}}",
    }[kind, size]


def _typed_arguments() -> Iterator[str]:
    """What follows the command in the splitting lists: the written lines, and characters no text file should hold."""
    yield from _listed("redis_cli_splitting.txt")
    forms = ("{}a", "a{}", "a{}b", "a {} b", '"a{}b"', "'a{}b'", '"a"{}b', "'a'{}b", 'a"b"{}c', "\\{}", '"\\{}"')
    for character in "\t\v\f\r\x01\x1b\x7f\x85\N{NO-BREAK SPACE}\N{LINE SEPARATOR}":
        yield from (form.format(character) for form in forms)


def _splitting(arguments: Iterator[str]) -> CommandList:
    return CommandList(tuple(f'EVAL "return ARGV" 0 {line}' for line in arguments), _ECHO)


_COMMANDS = CommandList((*_listed("redis_cli_commands.txt"), *_nested_shapes()))
_REPORTS = CommandList(_listed("redis_cli_reports.txt"))
_CLUSTER = CommandList(_listed("redis_cli_cluster.txt"), settings=(("cluster-enabled", "yes"),))
_SPLITTING = _splitting(_typed_arguments())
_SHORT_LINES = _splitting("".join(line) for line in itertools.product("a x\\\"'", repeat=4))


@pytest.fixture(scope="module")
def programs() -> tuple[Path, Binary]:
    debian = Path("/usr/bin/redis-cli")
    redis_cli = debian if debian.exists() else Path(shutil.which("redis-cli") or debian)
    require(redis_cli.exists(), f"{_CURE} (there is no redis-cli)")
    version = subprocess.run([redis_cli, "--version"], capture_output=True, text=True, check=True).stdout
    require(version.split()[:2] == ["redis-cli", "7.0.15"], f"{_CURE} (there is {version.strip()})")
    require(_SERVER.exists(), f"{_CURE} (there is no {_SERVER})")
    return redis_cli, inspect(_SERVER)


Printer = Callable[[CommandList, int], list[Printed]]


@pytest.fixture(scope="module")
def printed(programs: tuple[Path, Binary]) -> Printer:
    """Runs a list with redis-cli and with us, once however many tests ask."""
    redis_cli, binary = programs

    @functools.cache
    def run(listed: CommandList, protocol: int) -> list[Printed]:
        server = Server(binary, dict(listed.settings) | _cluster_port(listed))
        try:
            theirs = _printed_by_redis_cli(redis_cli, server.address(), listed, protocol)
            ours = _printed_by_us(server, listed.commands, protocol)
        finally:
            server.stop()
        return [Printed(*both) for both in zip(theirs, ours, strict=True)]

    return run


def _cluster_port(listed: CommandList) -> dict[str, str]:
    """The default, the server's port and 10,000, may be above 65,535."""
    if ("cluster-enabled", "yes") not in listed.settings:
        return {}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return {"cluster-port": str(probe.getsockname()[1])}


def _printed_by_redis_cli(
    redis_cli: Path, address: tuple[str, int], listed: CommandList, protocol: int
) -> list[list[str]]:
    host, port = address
    options = ["-h", host, "-p", str(port), "--no-raw", *(["-3"] if protocol == 3 else [])]
    typed = "".join(f"{command}\n{listed.separator.typed}\n" for command in listed.commands)
    run = subprocess.run(
        [redis_cli, *options], input=typed.encode(), capture_output=True, env={}, timeout=30, check=True
    )
    *replies, rest = run.stdout.split(listed.separator.printed)
    assert (rest, run.stderr) == (b"", b""), "redis-cli gave up"
    return [_as_lines(reply) for reply in replies]


def _as_lines(printed: bytes) -> list[str]:
    """As ``reply.lines`` promises them: every line end separates lines, and blank lines at the end are left out."""
    lines = re.split("\r\n|\r|\n", printed.decode("utf-8", "backslashreplace"))
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _printed_by_us(server: Server, commands: Sequence[str], protocol: int) -> list[list[str]]:
    origin = Origin("oracle.md", 1)
    lines = [SourceLine(text, origin) for command in commands for text in (f"> {command}", "(not compared)")]
    steps = transcript.parse(Block("redis", "", {}, SourceLine("```redis", origin), tuple(lines)))
    session = Session(server)
    try:
        with session.speaking(protocol):
            return [list(outcome.received) for outcome in session.run(steps)]
    finally:
        session.close()


def _each(listed: CommandList, protocols: Sequence[int] = _PROTOCOLS) -> pytest.MarkDecorator:
    """Parametrize a test with the protocol and the position of every command."""
    cases = [
        pytest.param(protocol, position, id=f"resp{protocol}-{position:03}-{_shortened(command)}")
        for protocol in protocols
        for position, command in enumerate(listed.commands)
    ]
    return pytest.mark.parametrize(("protocol", "position"), cases)


def _shortened(command: str) -> str:
    telling = command.replace('EVAL "redis.setresp(3) return ', "").replace('EVAL "return ARGV" 0 ', "")
    return telling[:40].encode("unicode_escape").decode()


@_each(_COMMANDS)
def test_a_reply_is_printed_as_redis_cli_prints_it(printed: Printer, protocol: int, position: int) -> None:
    both = printed(_COMMANDS, protocol)[position]
    assert both.by_us == both.by_redis_cli


@_each(_REPORTS)
def test_a_report_is_printed_as_redis_cli_prints_it(printed: Printer, protocol: int, position: int) -> None:
    # Clocks, counters, sizes and ids differ between two runs of a command, so every number counts as any other.
    def masked(lines: list[str]) -> list[str]:
        return [re.sub(r"-?\d[\d.]*[BKMGT%]?", "N", line) for line in lines]

    both = printed(_REPORTS, protocol)[position]
    assert masked(both.by_us) == masked(both.by_redis_cli)


@_each(_CLUSTER)
def test_a_cluster_node_is_printed_as_redis_cli_prints_it(printed: Printer, protocol: int, position: int) -> None:
    both = printed(_CLUSTER, protocol)[position]
    assert both.by_us == both.by_redis_cli


@_each(_SPLITTING, protocols=(2,))
def test_a_typed_line_is_split_as_redis_cli_splits_it(printed: Printer, protocol: int, position: int) -> None:
    both = printed(_SPLITTING, protocol)[position]
    assert both.by_us == both.by_redis_cli


def test_every_short_line_of_quotes_and_backslashes_is_split_as_redis_cli_splits_it(printed: Printer) -> None:
    different = [
        (command, both.by_us, both.by_redis_cli)
        for command, both in zip(_SHORT_LINES.commands, printed(_SHORT_LINES, 2), strict=True)
        if both.by_us != both.by_redis_cli
    ]
    assert different == []


def test_the_lists_are_long_enough_to_stand_for_what_pages_hold(printed: Printer) -> None:
    replies = [len(printed(_COMMANDS, protocol)) for protocol in _PROTOCOLS]
    refused = [both for both in printed(_SPLITTING, 2) if both.by_redis_cli == ["Invalid argument(s)"]]
    assert min(replies) >= 300
    assert len(printed(_SPLITTING, 2)) - len(refused) >= 200
    assert len(refused) >= 50
