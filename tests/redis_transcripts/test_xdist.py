"""pytest-xdist runs pages in several processes, each page in one and each process on a server of its own."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]

IN_TWO = ("-n", "2", "--dist", "loadfile", "-v")

# Each page waits until the other one is under way, so that neither process can take both.
PAGE = """\
```python {{ title="meets the other" }}
import os
import pathlib
import time

import redis

mine = pathlib.Path(os.environ["MEETING"], "{mine}")
mine.write_text(os.environ["REDIS_URL"])
other = mine.with_name("{other}")
deadline = time.monotonic() + 20
while not other.exists() and time.monotonic() < deadline:
    time.sleep(0.005)
print(other.exists())
```

```output
True
```

```redis {{ title="counts" }}
> INCR counter
(integer) 1
> INCR counter
(integer) 3
```

```python {{ title="goes on" }}
print(redis.Redis.from_url(os.environ["REDIS_URL"]).incr("counter"))
```

```output
3
```

```redis {{ title="not here" requires="redis<1" }}
> PING
PONG
```

```redis {{ title="a fault" xfail="it is known" }}
> PING
PANG
```
"""

EXPECTED = {
    "docs/{page}.md::python[meets the other]": "PASSED",
    "docs/{page}.md::redis[counts]": "FAILED",
    "docs/{page}.md::python[goes on]": "PASSED",
    "docs/{page}.md::redis[not here]": "SKIPPED",
    "docs/{page}.md::redis[a fault]": "XFAIL",
}


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    told = re.compile(
        r"(?:\[gw\d\] \[ *\d+%\] )?(?:(PASSED|FAILED|SKIPPED|XFAIL) )?(\S+::.+?\])(?: (PASSED|FAILED|SKIPPED|XFAIL))?"
    )
    found = {}
    for line in result.outlines:
        if match := told.match(line):
            found[match[2]] = match[1] or match[3]
    return found


def test_two_processes_come_to_the_results_of_one_on_servers_of_their_own(
    project: pytest.Pytester, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEETING", str(tmp_path))
    write("docs/a.md", PAGE.format(mine="a", other="b"))
    write("docs/b.md", PAGE.format(mine="b", other="a"))
    in_two = project.runpytest_subprocess(*IN_TWO)
    assert in_two.ret == pytest.ExitCode.TESTS_FAILED
    assert outcomes(in_two) == {name.format(page=page): result for page in "ab" for name, result in EXPECTED.items()}
    in_two.stdout.fnmatch_lines_random(["docs/a.md:25: * answers otherwise", "docs/b.md:25: * answers otherwise"])
    assert sum(line.startswith("redis transcripts: ") for line in in_two.outlines) == 1
    ports = {int((tmp_path / page).read_text().rpartition(":")[2]) for page in "ab"}
    assert len(ports) == 2
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=2)
    in_one = project.runpytest_inprocess("-v")
    assert in_one.ret == in_two.ret
    assert outcomes(in_one) == outcomes(in_two)


def test_processes_that_collect_no_example_fail_as_one_does_whatever_else_passes(
    project: pytest.Pytester, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    write("tests/test_other.py", "def test_other() -> None:\n    assert True\n")
    result = project.runpytest_subprocess(*IN_TWO)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert f"no example was collected from {tmp_path}/docs; check `redis_pages`" in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()


def test_what_is_wrong_with_the_server_is_said_once_and_by_no_process_that_crashed(
    project: pytest.Pytester, write: Write
) -> None:
    write("docs/page.md", "```redis\n> PING\nPONG\n```\n")
    result = project.runpytest_inprocess(*IN_TWO, "--redis-server=/nowhere/redis-server")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: /nowhere/redis-server cannot be run: No such file or directory; name another with --redis-server"]
    )
    assert "worker" not in result.stdout.str()
