"""A step that gets no reply is one clear error; the rest of its page is not run, and the next page is."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import outcome, server, session

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

NEXT_PAGE = '```redis { title="next" }\n> SET key 1 NX\nOK\n```\n'

PAGE = """\
    ```redis {{ title="before" }}
    > SET key 1
    OK
    ```

    ```redis {{ title="lost" }}
    > PING
    PANG
    > {command}
    (nil)
    > PING
    PONG
    ```

    ```redis {{ title="after" }}
    > PING
    PONG
    ```

    ```redis {{ title="fresh after" fresh }}
    > PING
    PONG
    ```

    ```redis {{ title="RESP3 after" resp=3 }}
    > PING
    PONG
    ```
    """


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "REPLY_SECONDS", 0.3)


@pytest.mark.parametrize(
    "command",
    ["BLPOP nothing 0", 'EVAL "while true do end" 0', "CLIENT REPLY OFF"],
)
def test_a_step_without_a_reply(command: str, write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", PAGE.format(command=command))
    write("docs/z.md", NEXT_PAGE)
    lost = f"docs/page.md:9: no reply within 0.3 s\n> {command}"
    assert results_of() == {
        "docs/page.md::redis[before]": "passed",
        "docs/page.md::redis[lost]": lost,
        "docs/page.md::redis[after]": f"docs/page.md:15: not run, since the session is lost\n{lost}",
        "docs/page.md::redis[fresh after]": f"docs/page.md:20: not run, since the session is lost\n{lost}",
        "docs/page.md::redis[RESP3 after]": f"docs/page.md:25: not run, since the session is lost\n{lost}",
        "docs/z.md::redis[next]": "passed",
    }


def test_a_page_that_ends_the_server(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", PAGE.format(command="SHUTDOWN NOSAVE"))
    write("docs/z.md", NEXT_PAGE)
    results = results_of()
    lost = results["docs/page.md::redis[lost]"]
    first, typed, end, *log = lost.splitlines()
    assert first.startswith("docs/page.md:9: no reply: ")
    assert typed == "> SHUTDOWN NOSAVE"
    assert end == f"{server.find(None)} exited with status 0; its log ends:"
    assert "bye bye" in log[-1]
    for title, line in (("after", 15), ("fresh after", 20), ("RESP3 after", 25)):
        why = f"docs/page.md:{line}: not run, since the session is lost\n{lost}"
        assert results[f"docs/page.md::redis[{title}]"] == why
    assert results["docs/page.md::redis[before]"] == "passed"
    assert results["docs/z.md::redis[next]"] == "passed"


def test_a_block_alone_below_a_lost_one_says_that_it_was_not_run(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", PAGE.format(command="BLPOP nothing 0"))
    assert results_of("-k", "RESP3") == {
        "docs/page.md::redis[RESP3 after]": "docs/page.md:25: not run, since the session is lost\n"
        "docs/page.md:9: no reply within 0.3 s\n> BLPOP nothing 0"
    }


def test_a_server_that_cannot_be_emptied_is_replaced(started: Callable[..., server.Server]) -> None:
    running = started()
    with socket.create_connection(running.address()) as connection:
        connection.sendall(b"ACL SETUSER default -flushall\r\n")
        assert connection.recv(64) == b"+OK\r\n"
    with pytest.raises(outcome.SessionLostError, match=r"^FLUSHALL: NOPERM .* no permissions"):
        session.Session(running)
    session.Session(running).close()
