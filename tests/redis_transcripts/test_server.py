"""A server of a run is reached from this machine alone, keeps nothing, and is gone when the run is, however it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from redis_transcripts import server
from redis_transcripts.server import Server

Write = Callable[[str, str], Path]
Started = Callable[..., Server]


@dataclass(frozen=True)
class Traces:
    """What is left when a server is not ended well: its folder, its process, its port."""

    folder: Path
    process: int
    port: int

    @classmethod
    def of_server_in(cls, folder: Path) -> Traces:
        log = (folder / "server.log").read_text()
        process, port = re.search(r"\bpid=(\d+)", log), re.search(r"\bport=(\d+)", log)
        assert process is not None
        assert port is not None
        return cls(folder, int(process[1]), int(port[1]))

    def remaining(self) -> set[str]:
        left = {"folder"} if self.folder.exists() else set()
        with socket.socket() as probe:
            left |= {"port"} if probe.connect_ex(("127.0.0.1", self.port)) == 0 else set()
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return left
        return left | {"process"}


def wait_until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def ask(running: Server, command: str) -> str:
    with socket.create_connection(running.address(), timeout=5) as connection:
        connection.sendall(command.encode() + b"\r\n")
        return connection.recv(4096).decode()


def traces_of(running: Server) -> Traces:
    folder = ask(running, "CONFIG GET dir").split("\r\n")[4]
    return Traces.of_server_in(Path(folder))


def test_it_is_reached_on_loopback_alone(started: Started) -> None:
    running = started()
    host, port = running.address()
    assert host == "127.0.0.1"
    assert ask(running, "PING") == "+PONG\r\n"
    with socket.socket() as probe:
        # All of 127.0.0.0/8 is this machine, so a server bound to every address would answer here.
        assert probe.connect_ex(("127.0.0.2", port)) != 0
    with socket.socket(socket.AF_INET6) as probe:
        assert probe.connect_ex(("::1", port)) != 0


def test_two_at_once_have_ports_and_folders_of_their_own(started: Started) -> None:
    first, second = started(), started()
    assert ask(first, "SET key first") == ask(second, "SET key second") == "+OK\r\n"
    assert ask(first, "GET key") == "$5\r\nfirst\r\n"
    one, other = traces_of(first), traces_of(second)
    assert one.port != other.port
    assert one.folder != other.folder


def test_it_keeps_nothing_unless_told_and_its_settings_can_be_named(started: Started) -> None:
    running = started(maxmemory="10mb")
    assert ask(running, "CONFIG GET save").split("\r\n")[-2] == ""
    assert ask(running, "CONFIG GET appendonly").split("\r\n")[-2] == "no"
    assert ask(running, "CONFIG GET maxmemory").split("\r\n")[-2] == str(10 * 1024 * 1024)


def test_it_is_gone_when_it_is_stopped_with_what_it_wrote(started: Started) -> None:
    running = started()
    assert ask(running, "SAVE") == "+OK\r\n"
    traces = traces_of(running)
    assert (traces.folder / "dump.rdb").exists()
    assert traces.remaining() == {"folder", "port", "process"}
    running.stop()
    assert traces.remaining() == set()


def test_it_is_started_again_when_it_ended(started: Started) -> None:
    running = started()
    before = traces_of(running)
    os.kill(before.process, signal.SIGKILL)
    wait_until(lambda: "process" not in before.remaining())
    assert "exited with status -9; its log ends:\n" in running.describe_end()
    after = traces_of(running)
    assert after.process != before.process
    assert before.remaining() == set()
    assert running.describe_end() == ""


def test_a_port_that_another_server_took_in_between_is_left_to_it(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = started()
    _, taken = other.address()
    free_port = server._free_port
    ports = [taken]
    monkeypatch.setattr(server, "_free_port", lambda: ports.pop() if ports else free_port())
    assert started().address()[1] != taken
    assert ports == []
    assert ask(other, "PING") == "+PONG\r\n"


def test_a_script_around_a_server_ends_with_it(write: Write) -> None:
    real = server.find(None)
    program = write("server", f'#!/bin/sh\n{real.path} "$@"\nexit $?\n')
    program.chmod(0o755)
    running = Server(server.inspect(program))
    traces = traces_of(running)
    running.stop()
    # The script was its parent, so its entry in the table of processes may wait for init to take note.
    wait_until(lambda: traces.remaining() <= {"process"})


def test_it_is_gone_when_a_run_inside_this_process_is_done(
    project: pytest.Pytester, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/page.md", "```redis\n> PING\nPONG\n```\n")
    write("temporary/other", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    project.runpytest_inprocess().assert_outcomes(passed=1)
    assert [path.name for path in (tmp_path / "temporary").iterdir()] == ["other"]


@pytest.fixture
def pytest_in_a_page(write: Write, tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts pytest, in a process group of its own, on a page with one step."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(step: str) -> subprocess.Popen[bytes]:
        write("pytest.ini", "[pytest]\naddopts = -p no:valkey -p no:cacheprovider\nredis_pages = docs\n")
        write("docs/page.md", f"```redis\n{step}\n```\n")
        (tmp_path / "temporary").mkdir()
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest"],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def traces_when_ready(temporary: Path) -> Traces:
    def ready() -> list[Path]:
        return [log.parent for log in temporary.glob("*/server.log") if "eady to accept connections" in log.read_text()]

    wait_until(ready)
    return Traces.of_server_in(ready()[0])


@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 2), (signal.SIGKILL, -9)], ids=["Ctrl-C", "SIGKILL"])
def test_it_is_gone_when_pytest_is_ended_from_outside(
    how: signal.Signals, status: int, tmp_path: Path, pytest_in_a_page: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    process = pytest_in_a_page("> BLPOP nothing 0\n(nil)")
    traces = traces_when_ready(tmp_path / "temporary")
    assert traces.remaining() == {"folder", "port", "process"}
    # A terminal sends Ctrl-C to the whole group.
    os.killpg(process.pid, how)
    assert process.wait(timeout=10) == status
    wait_until(lambda: not traces.remaining(), 5.0)


def test_it_is_gone_when_pytest_is_done(
    tmp_path: Path, write: Write, pytest_in_a_page: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    write(
        "conftest.py",
        f"""\
        import shutil

        def pytest_sessionfinish():
            shutil.copytree("{tmp_path}/temporary", "{tmp_path}/kept", symlinks=True)
        """,
    )
    process = pytest_in_a_page("> PING\nPONG")
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0, output.decode()
    (log,) = (tmp_path / "kept").glob("*/server.log")
    left_by = Traces.of_server_in(log.parent)
    traces = Traces(tmp_path / "temporary" / log.parent.name, left_by.process, left_by.port)
    assert traces.remaining() == set()
    assert list((tmp_path / "temporary").iterdir()) == []
