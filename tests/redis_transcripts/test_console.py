"""A page's shell commands print what a reader's shell prints, each its own lines, and none can hang a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from components import require

from redis_transcripts import console
from redis_transcripts.console import ConsoleError
from redis_transcripts.errors import PageError
from redis_transcripts.fence import Block
from redis_transcripts.server import Server, find
from redis_transcripts.servers import Servers, uses_redis_cli
from redis_transcripts.source import Origin, SourceLine

Run = Callable[[str], list[list[str]]]
Write = Callable[[str, str], Path]


def block(text: str) -> Block:
    """A console block whose header stands on line 10 of a page."""
    text = textwrap.dedent(text).strip("\n")
    shown = [SourceLine(line, Origin("page.md", number)) for number, line in enumerate(text.split("\n"), 11)]
    return Block("console", "", {}, SourceLine("```console", Origin("page.md", 10)), tuple(shown))


def parsed(text: str) -> list[tuple[str, list[str]]]:
    return [(command.text, list(command.shown)) for command in console.parse(block(text))]


def faults(text: str) -> str:
    with pytest.raises(PageError) as caught:
        console.parse(block(text))
    return str(caught.value)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return console.shell_environment("redis://127.0.0.1:1", tmp_path / "bin")


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Runs a console block and returns what each of its commands printed."""

    def run_block(text: str) -> list[list[str]]:
        return [list(output) for output in console.run(console.parse(block(text)), tmp_path, environment)]

    return run_block


def test_a_command_shows_the_lines_below_it() -> None:
    assert parsed("""

        $ mkdir queue
        $ ls -1

        queue

        seed


        $ echo '$ ' # no prompt

    """) == [
        ("mkdir queue", []),
        ("ls -1", ["", "queue", "", "seed"]),
        ("echo '$ ' # no prompt", []),
    ]


def test_lines_remember_their_place() -> None:
    (command,) = console.parse(block("$ echo a\na"))
    assert [str(line.origin) for line in (command.typed, *command.shown)] == ["page.md:11", "page.md:12"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "page.md:10: a console block without a typed line; begin one with `$ `, or delete the block"),
        (
            "ls\nqueue\n$ ls",
            "page.md:11: text above the first typed line: `ls`; begin a typed line with `$ ` (the space counts)",
        ),
        (
            "$ls",
            "page.md:11: text above the first typed line: `$ls`; begin a typed line with `$ ` (the space counts)",
        ),
        ("$ ls\n$ ", "page.md:12: nothing is typed after the prompt; type a command or delete the line"),
        ("$\n$ ls", "page.md:11: nothing is typed after the prompt; type a command or delete the line"),
        (
            "$ echo a \\\n>  b",
            "page.md:11: `$ echo a \\` goes on in the next line; write the command in one line",
        ),
        (
            "a\n$ \n$ b\\\\\\",
            "page.md:11: text above the first typed line: `a`; begin a typed line with `$ ` (the space counts)\n"
            "page.md:12: nothing is typed after the prompt; type a command or delete the line\n"
            "page.md:13: `$ b\\\\\\` goes on in the next line; write the command in one line",
        ),
    ],
)
def test_a_block_that_cannot_be_run_says_why(text: str, said: str) -> None:
    assert faults(text) == said


def test_a_backslash_that_is_typed_goes_on_nowhere() -> None:
    assert parsed("$ echo a\\\\\n$ echo '\\'") == [("echo a\\\\", []), ("echo '\\'", [])]


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("true", []),
        ("echo a", ["a"]),
        ("printf a", ["a"]),
        ("printf '\\n\\na\\n\\nb\\n\\n'", ["", "", "a", "", "b"]),
        ("echo ä → 😀", ["ä → 😀"]),
        ("printf '\\xff'", ["\\xff"]),
        ("printf 'a\\fb\\n'", ["a\fb"]),
        ("echo a; echo b >&2; echo c", ["a", "b", "c"]),
        ("echo a | tee /dev/stderr", ["a", "a"]),
        ("python -c 'import sys; print(1); print(2, file=sys.stderr); print(3)'", ["1", "2", "3"]),
        ("cat", []),
        ("read answer; echo $?", ["1"]),
        ("ls -A", []),
        ("echo $# $0 $TERM $NO_COLOR $COLUMNS $LC_ALL", ["0 bash dumb 1 80 C.UTF-8"]),
        ("test -t 0 || test -t 1 || test -t 2 || echo no terminal", ["no terminal"]),
        ("# a comment", []),
        ("-x", ["bash: -x: command not found"]),
        ("no-such-command", ["bash: no-such-command: command not found"]),
        ("cd nowhere", ["bash: cd: nowhere: No such file or directory"]),
        ("echo 'unfinished", ["bash: unexpected EOF while looking for matching `''"]),
        ("for", ["bash: syntax error near unexpected token `newline'"]),
        ("echo hi!! 'it''s' \"$((1 + 1))\" `echo b`", ["hi!! its 2 b"]),
        ("sleep 0.05; echo late", ["late"]),
        ("python -c \"print('a' * 200_000)\" | wc -c; python -c \"print('a' * 200_000)\"", ["200001", "a" * 200_000]),
    ],
)
def test_a_command_prints_what_it_prints_to_a_reader(typed: str, printed: list[str], run: Run) -> None:
    assert run(f"$ echo before\n$ {typed}\n$ printf after") == [["before"], printed, ["after"]]


def test_a_folder_and_a_variable_carry_on_inside_a_block(run: Run) -> None:
    assert run("$ mkdir queue\n$ cd queue\n$ export JOB=8\n$ basename $PWD; sh -c 'echo $JOB'") == [
        [],
        [],
        [],
        ["queue", "8"],
    ]


def test_nothing_carries_on_from_one_block_to_the_next(run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert run("$ mkdir queue; cd queue; export JOB=8; touch seed") == [[]]
    assert run("$ ls -A; basename $PWD; echo ${JOB-none}")[0][1:] == ["none"]
    assert sorted(tmp_path.iterdir()) == before


def test_a_status_is_no_failure_and_the_next_command_can_ask_for_it(run: Run) -> None:
    assert run("$ (exit 3)\n$ echo $?\n$ false\n$ true\n$ echo $?") == [[], ["3"], [], [], ["0"]]


def test_the_output_of_the_shell_can_be_redirected_for_good(run: Run) -> None:
    assert run("$ exec 2>/dev/null\n$ ls nowhere\n$ exec >out\n$ echo a\n$ cat out >&2") == [[], [], [], [], []]


def test_a_trace_does_not_mix_up_the_commands(run: Run) -> None:
    outputs = run("$ set -x\n$ echo a\n$ set +x\n$ echo b")
    assert "a" in outputs[1]
    assert outputs[3] == ["b"]


@pytest.mark.parametrize(
    "ending", ["exit", "exit 3", "exec true", "set -e; false", "kill -9 $$", "sleep 9 & exec true"]
)
def test_the_last_command_may_end_the_shell(ending: str, run: Run) -> None:
    begun = time.monotonic()
    assert [output[:1] for output in run(f"$ echo a\n$ echo b; {ending}")] == [["a"], ["b"]]
    assert time.monotonic() - begun < 5


def test_a_command_below_one_that_ended_the_shell_is_an_error(run: Run) -> None:
    with pytest.raises(ConsoleError) as caught:
        run("$ echo a\n$ exit 3\n$ echo b")
    assert str(caught.value) == "page.md:13: not run, since the shell ended at page.md:12\n$ exit 3"


def test_a_command_that_never_ends_is_ended_with_all_that_it_started(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "COMMAND_SECONDS", 0.5)
    with pytest.raises(ConsoleError) as caught:
        run(f"$ echo a\n$ sleep 60 & echo $! >{tmp_path}/started; echo b; sleep 60; echo c\n$ echo d")
    fault, typed, *printed = str(caught.value).split("\n")
    assert fault == "page.md:12: did not end within 0.5 s"
    assert typed.startswith("$ sleep 60 & echo $!")
    assert printed[-1] == "b"
    assert_ends(int((tmp_path / "started").read_text()))


def test_a_command_that_prints_without_end_is_ended(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "MOST_BYTES", 100_000)
    with pytest.raises(ConsoleError, match=r"page\.md:11: printed more than 100000 bytes\n\$ yes\ny\ny"):
        run("$ yes")


def test_what_runs_in_the_background_ends_with_the_block(run: Run, tmp_path: Path) -> None:
    run(f"$ sleep 60 & echo $! >{tmp_path}/started\n$ echo a")
    assert_ends(int((tmp_path / "started").read_text()))


def assert_ends(process: int) -> None:
    deadline = time.monotonic() + 5
    while runs(process):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.01)


def runs(process: int) -> bool:
    """Whether it does more than wait for a parent that asks for its status."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


def test_without_bash_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConsoleError, match=r"^page\.md:11: bash cannot be run: No such file or directory; install it$"):
        console.run(console.parse(block("$ echo a")), tmp_path, {"PATH": str(tmp_path)})


def test_a_shell_is_the_same_whatever_the_one_who_runs_it_has_set(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = "".join(f"command {number}\n" for number in range(2000))
    write("home/.bash_history", history)
    write("home/.bashrc", "echo from bashrc\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "home" / ".bashrc"))
    monkeypatch.setenv("CDPATH", "/")
    monkeypatch.setenv("SHELLOPTS", "xtrace")
    monkeypatch.setenv("BASH_FUNC_echo%%", "() { builtin echo changed; }")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("FORCE_COLOR", "1")
    environment = console.shell_environment("redis://127.0.0.1:1", tmp_path / "bin")
    commands = console.parse(block("$ mkdir usr; cd usr; basename $PWD; echo ${FORCE_COLOR-none}; ls x\n$ exit"))
    assert console.run(commands, tmp_path, environment) == (
        ("usr", "none", "ls: cannot access 'x': No such file or directory"),
        ("exit",),
    )
    assert (tmp_path / "home" / ".bash_history").read_text() == history


def test_python_is_that_of_the_run(run: Run) -> None:
    assert run("$ python -c 'import redis_transcripts, sys; print(sys.version_info[:2] >= (3, 12))'") == [["True"]]


@pytest.fixture
def ask(tmp_path: Path, started: Callable[..., Server]) -> Run:
    """Runs a console block whose commands find a server."""
    require(bool(shutil.which("redis-cli")), "no redis-cli on PATH; install it (Debian: apt-get install redis-tools)")
    host, port = started().address()
    environment = console.shell_environment(f"redis://{host}:{port}", tmp_path / "bin")

    def run_block(text: str) -> list[list[str]]:
        return [list(output) for output in console.run(console.parse(block(text)), tmp_path, environment)]

    return run_block


def test_redis_cli_asks_the_server_of_the_run_as_it_would_on_a_terminal(ask: Run) -> None:
    assert ask("""
        $ redis-cli PING
        $ redis-cli -n 1 ZADD wait 1 8 2 10
        $ redis-cli -n 1 ZPOPMIN wait
        $ redis-cli PONG 2>&1 >/dev/null
        $ redis-cli GET a b
        $ redis-cli -u $REDIS_URL/1 ZCARD wait
    """) == [
        ["PONG"],
        ["(integer) 2"],
        ['1) "8"', '2) "1"'],
        [],
        ["(error) ERR wrong number of arguments for 'get' command"],
        ["(integer) 1"],
    ]


def test_redis_cli_prints_plain_replies_into_pipes_and_files(ask: Run) -> None:
    assert ask("""
        $ redis-cli RPUSH jobs 8 10 | cat
        $ redis-cli LRANGE jobs 0 -1 >jobs; cat jobs
        $ n=$(redis-cli LLEN jobs); echo "$n jobs"
        $ redis-cli --raw LLEN jobs
        $ printf 'LPOP jobs\\nLPOP jobs\\n' | redis-cli
    """) == [["2"], ["8", "10"], ["2 jobs"], ["2"], ['"8"', '"10"']]


def test_another_server_can_still_be_named(ask: Run) -> None:
    assert ask("$ redis-cli -p 1 PING") == [["Could not connect to Redis at 127.0.0.1:1: Connection refused"]]


def test_the_server_is_named_in_the_environment_too(ask: Run) -> None:
    read = "import os, redis; print(redis.Redis.from_url(os.environ['REDIS_URL']).incr('a'))"
    assert ask(f'$ python -c "{read}"\n$ redis-cli INCR a') == [["1"], ["(integer) 2"]]


def test_a_machine_without_redis_cli_gets_none(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    environment = console.shell_environment("redis://127.0.0.1:1", tmp_path / "bin")
    assert environment["PATH"].split(os.pathsep)[::2] == [str(tmp_path / "bin"), "/nowhere"]
    assert list((tmp_path / "bin").iterdir()) == []


def test_a_password_in_the_address_leaves_no_warning(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("programs/redis-cli", '#!/bin/sh\nfor argument; do echo "<$argument>"; done\n').chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/programs:{os.environ['PATH']}")
    environment = console.shell_environment("redis://:it's a secret@127.0.0.1:1", tmp_path / "bin")
    assert console.run(console.parse(block("$ redis-cli GET 'a b'")), tmp_path, environment) == (
        ("<-u>", "<redis://:it's a secret@127.0.0.1:1>", "<--no-auth-warning>", "<--no-raw>", "<GET>", "<a b>"),
    )


@pytest.mark.parametrize(
    ("typed", "uses"),
    [
        ("$ redis-cli PING", True),
        ('$ redis-cli EVALSHA "$(redis-cli -x SCRIPT LOAD < a.lua)" 0', True),
        ("$ echo a | redis-cli", True),
        ("$ ls", False),
        ("$ cat redis-cli.txt", False),
        ("PONG redis-cli", False),
    ],
)
def test_a_block_that_calls_redis_cli_is_known(typed: str, uses: bool) -> None:
    assert uses_redis_cli(block(f"$ true\n{typed}\n")) is uses


def test_a_block_that_calls_redis_cli_is_skipped_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = Servers(find(None))
    calling = block("$ redis-cli PING\nPONG\n")
    monkeypatch.setenv("PATH", "/nowhere")
    reason = servers.reason_to_skip(calling)
    assert reason is not None
    assert "install" in reason
    assert servers.reason_to_skip(block("$ true\n")) is None
