"""Pages on a server that runs already: it has to be empty, is left empty, and outlives the run."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import server, session, url_server
from redis_transcripts.connection import Connection

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]
Ask = Callable[[str], str]

PAGE = '```redis { title="x" }\n> SET key 1 NX\nOK\n```\n'


@pytest.fixture
def running(started: Callable[..., server.Server], monkeypatch: pytest.MonkeyPatch) -> server.Server:
    monkeypatch.delenv("REDIS_URL", raising=False)
    return started()


@pytest.fixture
def ask(running: server.Server) -> Ask:
    """Sends a command, its words separated by ``|``, to the server; returns the text of the reply, or of its items."""

    def send(typed: str) -> str:
        deadline = time.monotonic() + 10
        connection = Connection(running.address(), deadline)
        answer = connection.ask([word.encode() for word in typed.split("|")], deadline)
        connection.close()
        return answer.text.decode() or "|".join(item.text.decode() for item in answer.items)

    return send


FUNCTION = "FUNCTION|LOAD|#!lua name=jobs\nredis.register_function('f', function() return 1 end)"


@pytest.mark.parametrize("how", ["option", "environment"])
def test_an_empty_server_is_emptied_between_pages_and_at_the_end_and_goes_on(
    how: str,
    project: pytest.Pytester,
    write: Write,
    running: server.Server,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(
        "docs/a.md",
        """\
        ```redis { title="leaves" requires="redis>=7 valkey" }
        > SET key value
        OK
        > FUNCTION LOAD "#!lua name=jobs\\n redis.register_function('f', function() return 1 end)"
        "jobs"
        > SELECT 3
        OK
        > SET key value
        OK
        > CONFIG SET maxmemory 100mb
        OK
        ```
        """,
    )
    write(
        "docs/b.md",
        """\
        ```redis { title="sees" requires="redis>=7 valkey" }
        > DBSIZE
        (integer) 0
        > FUNCTION LIST
        (empty array)
        > SELECT 3
        OK
        > SET other value NX
        OK
        > DBSIZE
        (integer) 1
        ```

        ```python { title="code" }
        import os

        import redis

        redis.Redis.from_url(os.environ["REDIS_URL"]).set("code", 1)
        ```
        """,
    )
    started_as = ask("CONFIG|GET|dir")
    if how == "environment":
        monkeypatch.setenv("REDIS_URL", f"{running.url}/")
    result = project.runpytest_inprocess(*([f"--redis-server={running.url}/"] if how == "option" else []))
    result.assert_outcomes(passed=3)
    name, (host, port) = str(running.binary), running.address()
    result.stdout.fnmatch_lines([f"redis transcripts: {name} at {host}:{port} (running already)"])
    assert ask("CONFIG|GET|dir") == started_as
    assert ask("DBSIZE") == "0"
    assert "db3" not in ask("INFO|keyspace")
    assert ask("FUNCTION|LIST") == ""


HELD = {
    "a key": (["SET|mine|1"], "1 key in database 0"),
    "keys of other databases": (["SWAPDB|0|9", "SET|mine|1", "SWAPDB|0|9"], "1 key in database 9"),
    "a function": ([FUNCTION], "1 library of functions"),
}


@pytest.mark.parametrize(("commands", "what"), HELD.values(), ids=HELD)
def test_one_that_holds_anything_is_refused_before_anything_is_written_unless_it_may_be_flushed(
    commands: list[str], what: str, project: pytest.Pytester, write: Write, running: server.Server, ask: Ask
) -> None:
    write("docs/page.md", PAGE)
    for command in commands:
        ask(command)
    held = ask("INFO|keyspace"), ask("FUNCTION|LIST")
    refused = project.runpytest_inprocess(f"--redis-server={running.url}")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        [f"ERROR: {running.url} holds {what}, and pages are run on an empty server; *--redis-flush"]
    )
    assert (ask("INFO|keyspace"), ask("FUNCTION|LIST")) == held
    assert "cmdstat_flushall" not in ask("INFO|commandstats")
    flushed = project.runpytest_inprocess(f"--redis-server={running.url}", "--redis-flush")
    flushed.assert_outcomes(passed=1)
    assert ask("INFO|keyspace").split() == ["#", "Keyspace"]
    assert ask("FUNCTION|LIST") == ""


def test_a_lone_block_and_a_page_that_ends_badly_leave_it_empty_too(
    write: Write, results_of: ResultsOf, running: server.Server, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "REPLY_SECONDS", 0.2)
    started_as = ask("CONFIG|GET|dir")
    write("docs/a.md", PAGE + '\n```redis { title="y" }\n> BLPOP nothing 0\n(nil)\n```\n')
    write("docs/b.md", PAGE)
    assert results_of(f"--redis-server={running.url}") == {
        "docs/a.md::redis[x]": "passed",
        "docs/a.md::redis[y]": "docs/a.md:7: no reply within 0.2 s\n> BLPOP nothing 0",
        "docs/b.md::redis[x]": "passed",
    }
    assert ask("DBSIZE") == "0"
    assert results_of(f"--redis-server={running.url}", "docs/a.md::redis[x]") == {"docs/a.md::redis[x]": "passed"}
    assert ask("DBSIZE") == "0"
    assert ask("CONFIG|GET|dir") == started_as


def test_a_page_that_ends_it_is_told_and_so_is_that_it_is_not_left_empty(
    project: pytest.Pytester, write: Write, running: server.Server
) -> None:
    write("docs/a.md", '```redis { title="x" }\n> SHUTDOWN NOSAVE\nOK\n```\n')
    write("docs/b.md", PAGE)
    url = running.url
    result = project.runpytest_inprocess(f"--redis-server={url}")
    result.assert_outcomes(failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "docs/a.md:2: no reply: *",
            "docs/b.md:1: connecting to the server: no reply: *",
            f"a server is not left empty: {url} cannot be reached: *",
        ]
    )


def test_user_password_and_database_of_the_address_are_those_of_the_pages(
    project: pytest.Pytester, write: Write, running: server.Server, ask: Ask
) -> None:
    ask("ACL|SETUSER|ann|on|>s/3|~*|&*|+@all")
    host, port = running.address()
    write(
        "docs/page.md",
        """\
        ```redis { title="redis" }
        > ACL WHOAMI
        "ann"
        > SET key 1 NX
        OK
        > CONFIG SET maxmemory 100mb
        OK
        ```

        ```redis { title="second" client="b" }
        > GET key
        "1"
        ```

        ```redis { title="first database" }
        > SELECT 0
        OK
        > GET key
        (nil)
        ```

        ```python { title="python" }
        import os

        import redis

        r = redis.Redis.from_url(os.environ["REDIS_URL"])
        print(r.acl_whoami(), r.get("key"))
        ```

        ```output
        ann b'1'
        ```

        ```console { title="console" }
        $ python -c "import os, redis; print(redis.Redis.from_url(os.environ['REDIS_URL']).get('key'))"
        b'1'
        ```
        """,
    )
    result = project.runpytest_inprocess(f"--redis-server=redis://ann:s%2F3@{host}:{port}/2", "-v")
    result.assert_outcomes(passed=5)
    assert "s%2F3" not in result.stdout.str()
    assert "s/3" not in result.stdout.str()


def test_a_block_that_asks_for_a_cluster_is_skipped_and_says_why(
    project: pytest.Pytester, write: Write, running: server.Server
) -> None:
    write("docs/page.md", PAGE + '\n```redis { title="y" cluster }\n> PING\nPONG\n```\n')
    result = project.runpytest_inprocess(f"--redis-server={running.url}", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    host, port = running.address()
    why = f"needs a cluster, which the run cannot start beside {running.binary} at {host}:{port}"
    result.stdout.fnmatch_lines([f"SKIPPED * docs/page.md: {why}"])


def test_a_server_that_cannot_be_reached_is_named_within_three_seconds(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/page.md", PAGE)
    assert url_server._SECONDS < 3
    monkeypatch.setattr(url_server, "_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for why in ("did not answer within 0.3 s", "cannot be reached: Connection refused"):
            began = time.monotonic()
            result = project.runpytest_inprocess(f"--redis-server=redis://127.0.0.1:{port}/")
            assert time.monotonic() - began < 3
            assert result.ret == pytest.ExitCode.USAGE_ERROR
            result.stderr.fnmatch_lines(
                [f"ERROR: redis://127.0.0.1:{port} {why}; start it, or name another with --redis-server or REDIS_URL"]
            )
            silent.close()


def test_it_is_never_used_by_several_processes(project: pytest.Pytester, write: Write, running: server.Server) -> None:
    write("docs/page.md", PAGE)
    result = project.runpytest_inprocess("-n", "2", f"--redis-server={running.url}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: a server given by its address is used by one process alone; drop -n, or name a program"]
    )
