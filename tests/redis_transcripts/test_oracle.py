"""redis-cli 7.0.15 as the oracle: our splitter, wire reader and formatter print what it prints, line for line.

redis-cli runs once per list and protocol, all commands on its standard input, and a separator behind each. Then the
same commands run as the steps of a block on the same server, emptied. A test is a group of a list in one protocol; it
shows every command on which the two disagree.

Four kinds of reply are left out because redis-cli 7.0.15 itself ends or hangs at them: RESP3's big numbers ("Unknown
reply type: 13") and attributes, a RESP3 double that is not a number ("Bad double value"), and DEBUG PROTOCOL push.
``test_reply.py`` and ``test_resp.py`` have those.
"""

from __future__ import annotations

import difflib
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
from redis_transcripts.examples import RedisExample
from redis_transcripts.execution import Execution
from redis_transcripts.fence import Block
from redis_transcripts.server import Binary, Server, inspect
from redis_transcripts.servers import Servers
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
class Group:
    """Commands of a list, under the name that the test of them has."""

    name: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandList:
    """Commands that run in order on one connection to a server with ``settings``.

    At the default ``hz`` a blocking command's timeout takes up to a tenth of a second.
    """

    groups: tuple[Group, ...]
    separator: Separator = _OPEN_QUOTE
    settings: tuple[tuple[str, str], ...] = (("enable-debug-command", "local"), ("hz", "500"))

    @property
    def commands(self) -> list[str]:
        return [command for group in self.groups for command in group.commands]


@dataclass(frozen=True, slots=True)
class Printed:
    """The lines for one command."""

    command: str
    by_redis_cli: list[str]
    by_us: list[str]


def _listed(name: str) -> tuple[Group, ...]:
    """The commands of a file, each group below a comment that begins with its name."""
    groups: list[Group] = []
    for line in (Path(__file__).parents[1] / "data" / name).read_text(encoding="utf-8").split("\n"):
        if line.startswith("# "):
            groups.append(Group(re.split(r"[(,:;]", line.removeprefix("# "))[0].strip(), ()))
        elif line:
            groups[-1] = Group(groups[-1].name, (*groups[-1].commands, line))
    return tuple(group for group in groups if group.commands)


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
        ("array", "several"): f"{{{inner}, 'y'}}",
        ("map", "one"): f"{{map={{{inner}}}}}",
        ("map", "several"): f"{{map={{'y', {inner}}}}}",
        ("set", "one"): f"{{set={{[{inner}]=true}}}}",
        ("set", "several"): f"{{set={{true, true, [{inner}]=true}}}}",
    }[kind, size]


def _typed_arguments() -> Iterator[str]:
    """What follows the command in the splitting lists: the written lines, and characters no text file should hold."""
    lines = (Path(__file__).parents[1] / "data" / "redis_cli_splitting.txt").read_text(encoding="utf-8").split("\n")
    yield from (line for line in lines if line and not line.startswith("# "))
    forms = ("{}a", "a{}", "a{}b", "a {} b", '"a{}b"', "'a{}b'", '"a"{}b', "'a'{}b", 'a"b"{}c', "\\{}", '"\\{}"')
    for character in "\t\v\f\r\x01\x1b\x7f\x85\N{NO-BREAK SPACE}\N{LINE SEPARATOR}":
        yield from (form.format(character) for form in forms)


def _splitting(arguments: Iterator[str]) -> CommandList:
    return CommandList((Group("arguments", tuple(f'EVAL "return ARGV" 0 {line}' for line in arguments)),), _ECHO)


# As large as C's long and larger: the largest one that is no error would run for ever.
_REPEATS_BEYOND_A_LONG = (
    "99999999999999999999 PING",
    "9223372036854775808 PING",
    "+9223372036854775808 PING",
    "-9223372036854775809 PING",
    "00000000000000000000002 PING",
)
# RESP3 puts a push before a reply or behind it. redis-cli does not print one when its output is no terminal.
_PUSHES = (
    *("CLIENT TRACKING ON", "GET tracked", "SET tracked 1", "GET tracked", "SET tracked 2", "PING", "GET tracked"),
    *("MULTI", "GET tracked", "SET tracked 3", "EXEC", "GET tracked", "FLUSHALL", "PING", "CLIENT TRACKING OFF"),
)

_COMMANDS = CommandList(
    (
        # These come first, since RESET in the file ends RESP3.
        Group("Nested shapes", tuple(_nested_shapes())),
        Group("Repeats beyond a long", _REPEATS_BEYOND_A_LONG),
        Group("Pushes", _PUSHES),
        *_listed("redis_cli_commands.txt"),
    )
)
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


Printer = Callable[[CommandList, int], dict[str, list[Printed]]]


@pytest.fixture(scope="module")
def printed(programs: tuple[Path, Binary]) -> Printer:
    """Runs a list with redis-cli and with us, once however many tests ask, and returns what is printed by group."""
    redis_cli, binary = programs

    @functools.cache
    def run(listed: CommandList, protocol: int) -> dict[str, list[Printed]]:
        servers = Servers(binary)
        server = Server(binary, dict(listed.settings) | _cluster_port(listed))
        servers.single = server
        try:
            theirs = _printed_by_redis_cli(redis_cli, server.address(), listed, protocol)
            ours = _printed_by_us(servers, listed.commands, protocol)
        finally:
            servers.stop()
        both = itertools.starmap(Printed, zip(listed.commands, theirs, ours, strict=True))
        return {group.name: list(itertools.islice(both, len(group.commands))) for group in listed.groups}

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


def _printed_by_us(servers: Servers, commands: Sequence[str], protocol: int) -> list[list[str]]:
    origin = Origin("oracle.md", 1)
    lines = [SourceLine(text, origin) for command in commands for text in (f"> {command}", "(not compared)")]
    block = Block("redis", "", {"resp": str(protocol)}, SourceLine("```redis", origin), tuple(lines))
    execution = Execution(servers)
    try:
        execution.prepare(block)
        answers = execution.answers(RedisExample(block, transcript.parse(block)), {})
        return [list(answer.received) for answer in answers]
    finally:
        execution.close()


def _each_group(listed: CommandList, protocols: Sequence[int] = _PROTOCOLS) -> pytest.MarkDecorator:
    """Parametrize a test with the protocol and the name of every group."""
    cases = [
        pytest.param(protocol, group.name, id=f"RESP{protocol}" + f" {group.name}" * (len(listed.groups) > 1))
        for protocol in protocols
        for group in listed.groups
    ]
    return pytest.mark.parametrize(("protocol", "group"), cases)


def _require_agreement(commands: Sequence[Printed], masked: Callable[[list[str]], list[str]] = list) -> None:
    """Fail with a diff for each command for which the two print different lines."""
    different = []
    for both in commands:
        theirs, ours = masked(both.by_redis_cli), masked(both.by_us)
        if theirs != ours:
            diff = difflib.unified_diff(theirs, ours, "redis-cli", "we", lineterm="", n=1)
            different.append("\n".join([f"> {both.command[:200]}", *(line[:200] for line in diff)]))
    if different:
        pytest.fail("\n\n".join([f"{len(different)} of {len(commands)} differ", *different]), pytrace=False)


@_each_group(_COMMANDS)
def test_replies_are_printed_as_redis_cli_prints_them(printed: Printer, protocol: int, group: str) -> None:
    _require_agreement(printed(_COMMANDS, protocol)[group])


@_each_group(_REPORTS)
def test_reports_are_printed_as_redis_cli_prints_them(printed: Printer, protocol: int, group: str) -> None:
    # Clocks, counters, sizes and ids differ between two runs of a command, so every number counts as any other.
    def masked(lines: list[str]) -> list[str]:
        return [re.sub(r"-?\d[\d.]*[BKMGT%]?", "N", line) for line in lines]

    _require_agreement(printed(_REPORTS, protocol)[group], masked)


@_each_group(_CLUSTER)
def test_a_cluster_node_is_printed_as_redis_cli_prints_it(printed: Printer, protocol: int, group: str) -> None:
    _require_agreement(printed(_CLUSTER, protocol)[group])


@_each_group(_SPLITTING, protocols=(2,))
def test_typed_lines_are_split_as_redis_cli_splits_them(printed: Printer, protocol: int, group: str) -> None:
    _require_agreement(printed(_SPLITTING, protocol)[group])


@_each_group(_SHORT_LINES, protocols=(2,))
def test_every_short_line_of_quotes_and_backslashes_is_split_as_redis_cli_splits_it(
    printed: Printer, protocol: int, group: str
) -> None:
    _require_agreement(printed(_SHORT_LINES, protocol)[group])


def test_a_count_that_is_no_repetition_is_refused_as_redis_cli_refuses_it(printed: Printer) -> None:
    beyond = printed(_COMMANDS, 2)["Repeats beyond a long"]
    refusal = ["Invalid redis-cli repeat command option value."]
    assert [both.by_redis_cli for both in beyond] == [refusal, refusal, refusal, refusal, ["PONG", "PONG"]]


def test_the_lists_are_long_enough_to_stand_for_what_pages_hold(printed: Printer) -> None:
    replies = [sum(map(len, printed(_COMMANDS, protocol).values())) for protocol in _PROTOCOLS]
    (split,) = printed(_SPLITTING, 2).values()
    refused = [both for both in split if both.by_redis_cli == ["Invalid argument(s)"]]
    assert min(replies) >= 300
    assert len(split) - len(refused) >= 200
    assert len(refused) >= 50


def test_what_the_two_print_differently_is_shown() -> None:
    agreeing, different = Printed("PING", ["PONG"], ["PONG"]), Printed("ECHO a", ['"a"'], ['"b"'])
    _require_agreement([agreeing])
    with pytest.raises(pytest.fail.Exception) as failure:
        _require_agreement([agreeing, different])
    assert str(failure.value) == '1 of 2 differ\n\n> ECHO a\n--- redis-cli\n+++ we\n@@ -1 +1 @@\n-"a"\n+"b"'
