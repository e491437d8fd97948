"""A command beside a server of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoServerError
from redis.retry import Retry

WITH_SERVER = [sys.executable, "-m", "redis_transcripts.with_server"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WITH_SERVER, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def answers(address: str) -> bool:
    try:
        with Redis.from_url(address, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.ping())
    except NoServerError:
        return False


def test_the_command_finds_an_empty_server_that_ends_with_it() -> None:
    code = "import os, redis; a = os.environ['REDIS_URL']; print(a, redis.Redis.from_url(a).dbsize())"
    done = run("--", sys.executable, "-c", code, REDIS_URL="redis://elsewhere")
    assert (done.returncode, done.stderr) == (0, "")
    address, size = done.stdout.split()
    assert address.startswith("redis://127.0.0.1:")
    assert size == "0"
    assert not answers(address)


@pytest.mark.parametrize(("code", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_status_is_that_of_the_command(code: str, status: int) -> None:
    assert run("--", "sh", "-c", code).returncode == status


def test_a_command_that_is_not_there_is_named() -> None:
    done = run("--", "no-such-command")
    assert (done.returncode, done.stderr) == (127, "no-such-command: No such file or directory\n")


@pytest.mark.parametrize("arguments", [[], ["--"], ["true"]])
def test_without_a_command_it_says_how_it_is_called(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr == "usage: python -m redis_transcripts.with_server -- COMMAND...\n"


def test_without_a_server_it_says_why(tmp_path_factory: pytest.TempPathFactory) -> None:
    program = tmp_path_factory.mktemp("bin") / "redis-server"
    program.write_text(
        "#!/bin/sh\ncase $1 in --version) echo 'Redis server v=7.0.15' ;; *) echo broken; exit 1 ;; esac\n"
    )
    program.chmod(0o755)
    done = run("--", "true", PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 1
    assert done.stderr.startswith("Redis 7.0.15 exited with status 1; its log ends:\nbroken")


@pytest.mark.parametrize("to_whom", ["the program", "all, as Ctrl-C in a terminal"])
def test_a_signal_ends_command_and_server(to_whom: str) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: exit(5))
print(os.environ["REDIS_URL"], flush=True)
try:
    time.sleep(30)
except KeyboardInterrupt:
    exit(6)
"""
    command = [*WITH_SERVER, "--", sys.executable, "-c", code]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert running.stdout is not None
    address = running.stdout.readline().strip()
    assert answers(address)
    # The command is about to sleep.
    time.sleep(0.1)
    if to_whom == "the program":
        running.terminate()
        expected = 5
    else:
        os.killpg(running.pid, signal.SIGINT)
        expected = 6
    assert running.wait(timeout=10) == expected
    running.stdout.close()
    assert not answers(address)
