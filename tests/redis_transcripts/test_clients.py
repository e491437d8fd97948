"""A page with several connections: one waits for a reply while the page goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import server, session

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

# The reader waits, and what it waits for comes below, in a block that is not the next one.
ANSWERED = """\
    ```redis {{ title="before" }}
    > SET counter 1
    OK
    ```

    ```redis {{ title="waits" client="worker" }}
    > GET counter
    "1"
    > {command}
    {reply}
    > INCR counter
    (integer) 4
    ```

    ```redis {{ title="between" }}
    > INCR counter
    (integer) 2
    > INCR counter
    (integer) 3
    ```

    ```redis {{ title="answers" }}
    > {answer}
    (integer) 1
    ```
    """

COMMANDS = {
    "BZPOPMIN": ("BZPOPMIN waiting 0", '1) "waiting"\n    2) "job:8"\n    3) "1"', "ZADD waiting 1 job:8"),
    "BLPOP": ("BLPOP waiting 0", '1) "waiting"\n    2) "job:8"', "RPUSH waiting job:8"),
}


@pytest.mark.parametrize("command", ["BZPOPMIN", "BLPOP"])
def test_a_pop_that_waits_is_answered_by_a_later_block(command: str, write: Write, results_of: ResultsOf) -> None:
    typed, reply, answer = COMMANDS[command]
    write("docs/page.md", ANSWERED.format(command=typed, reply=reply, answer=answer))
    assert results_of() == {
        "docs/page.md::redis[before]": "passed",
        "docs/page.md::redis[waits]": "passed",
        "docs/page.md::redis[between]": "passed",
        "docs/page.md::redis[answers]": "passed",
    }


def test_a_false_reply_to_a_pop_that_waits_is_shown_as_any_other(write: Write, results_of: ResultsOf) -> None:
    typed, reply, answer = COMMANDS["BLPOP"]
    write("docs/page.md", ANSWERED.format(command=typed, reply=reply.replace("8", "9"), answer=answer))
    results = results_of()
    assert results.pop("docs/page.md::redis[waits]") == (
        f"docs/page.md:11: {server.find(None)} answers otherwise\n> BLPOP waiting 0\n--- shown\n+++ received\n"
        '@@ -1,2 +1,2 @@\n 1) "waiting"\n-2) "job:9"\n+2) "job:8"'
    )
    assert set(results.values()) == {"passed"}


def test_a_block_that_waits_can_be_run_alone(write: Write, results_of: ResultsOf) -> None:
    typed, reply, answer = COMMANDS["BZPOPMIN"]
    write("docs/page.md", ANSWERED.format(command=typed, reply=reply, answer=answer))
    waits, answers = "docs/page.md::redis[waits]", "docs/page.md::redis[answers]"
    assert results_of(waits) == {waits: "passed"}
    assert results_of(answers) == {answers: "passed"}
    assert results_of(answers, waits) == {answers: "passed", waits: "passed"}


def test_a_pop_that_gives_up_by_itself_shows_nil(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="named" client="worker" }
        > BZPOPMIN waiting 0.05
        (nil)
        ```

        ```redis { title="same client" client="worker" }
        > BLPOP waiting 0.05
        (nil)
        > PING
        PONG
        ```

        ```redis { title="of the page" }
        > BLPOP waiting 0.05
        (nil)
        ```
        """,
    )
    assert results_of() == {
        "docs/page.md::redis[named]": "passed",
        "docs/page.md::redis[same client]": "passed",
        "docs/page.md::redis[of the page]": "passed",
    }


NEVER = """\
    ```redis {{ title="waits" client="worker" }}
    > BLPOP waiting 0
    1) "waiting"
    2) "job:8"
    ```

    ```redis {{ title="goes on" }}
    > RPUSH others job:8
    (integer) 1
    ```

    ```redis {{ title="below" {words} }}
    > PING
    PONG
    ```
    """

NO_REPLY = "docs/page.md:2: no reply within 0.1 s\n> BLPOP waiting 0"


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "REPLY_SECONDS", 0.1)


@pytest.mark.usefixtures("little_patience")
def test_a_pop_that_is_never_answered_is_one_error_at_its_line(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", NEVER.format(words=""))
    write("docs/z.md", '```redis { title="next" }\n> EXISTS others\n(integer) 0\n```\n')
    assert results_of() == {
        "docs/page.md::redis[waits]": NO_REPLY,
        "docs/page.md::redis[goes on]": "passed",
        "docs/page.md::redis[below]": "passed",
        "docs/z.md::redis[next]": "passed",
    }


@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize("words", ["fresh", 'client="worker"'])
def test_a_block_that_has_to_wait_for_it_is_not_run(words: str, write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", NEVER.format(words=words))
    assert results_of() == {
        "docs/page.md::redis[waits]": NO_REPLY,
        "docs/page.md::redis[goes on]": "passed",
        "docs/page.md::redis[below]": f"docs/page.md:12: not run, since the session is lost\n{NO_REPLY}",
    }


def test_what_waits_when_the_session_is_lost_says_so(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", NEVER.format(words="").replace("> PING", "> SHUTDOWN NOSAVE"))
    results = results_of()
    lost = results.pop("docs/page.md::redis[below]")
    assert lost.startswith("docs/page.md:13: no reply: ")
    assert results == {
        "docs/page.md::redis[waits]": f"docs/page.md:1: not run to its end, since the session is lost\n{lost}",
        "docs/page.md::redis[goes on]": "passed",
    }


def test_the_pages_after_one_that_is_left_waiting_are_not_disturbed(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", NEVER.format(words=""))
    write("docs/z.md", '```redis { title="next" }\n> RPUSH waiting job:8\n(integer) 1\n```\n')
    assert results_of("-k", "goes or next") == {
        "docs/page.md::redis[goes on]": "passed",
        "docs/z.md::redis[next]": "passed",
    }


def test_each_name_is_a_connection_and_two_may_wait(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="a waits" client="a" }
        > BLPOP waiting 0
        1) "waiting"
        2) "job:8"
        ```

        ```redis { title="b waits" client="b" }
        > BLPOP waiting 0
        1) "waiting"
        2) "job:10"
        ```

        ```redis { title="add" }
        > RPUSH waiting job:8 job:10 job:9
        (integer) 3
        ```

        ```redis { title="a goes on" client="a" }
        > LLEN waiting
        (integer) 1
        > SELECT 1
        OK
        ```

        ```redis { title="b is elsewhere" client="b" }
        > LLEN waiting
        (integer) 1
        ```

        ```redis { title="a is in its own database" client="a" }
        > LLEN waiting
        (integer) 0
        ```
        """,
    )
    assert results_of() == {
        "docs/page.md::redis[a waits]": "passed",
        "docs/page.md::redis[b waits]": "passed",
        "docs/page.md::redis[add]": "passed",
        "docs/page.md::redis[a goes on]": "passed",
        "docs/page.md::redis[b is elsewhere]": "passed",
        "docs/page.md::redis[a is in its own database]": "passed",
    }


def test_a_watched_key_that_another_connection_writes_stops_a_transaction(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="watch" }
        > WATCH counter
        OK
        ```

        ```redis { title="write" client="b" }
        > INCR counter
        (integer) 1
        ```

        ```redis { title="conflict" }
        > MULTI
        OK
        127.0.0.1:6379(TX)> INCR counter
        QUEUED
        127.0.0.1:6379(TX)> EXEC
        (nil)
        ```

        ```redis { title="no conflict" }
        > MULTI
        OK
        > INCR counter
        QUEUED
        > EXEC
        1) (integer) 2
        ```
        """,
    )
    assert set(results_of().values()) == {"passed"}


def test_fresh_begins_every_connection_anew(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="b" client="b" }
        > CLIENT SETNAME reader
        OK
        > MULTI
        OK
        ```

        ```redis { title="waits" client="worker" }
        > BLPOP waiting 0.05
        (nil)
        ```

        ```redis { title="anew" fresh }
        > PING
        PONG
        ```

        ```redis { title="b anew" client="b" }
        > CLIENT GETNAME
        (nil)
        ```

        ```redis { title="waits anew" client="worker" }
        > BLPOP waiting 0
        1) "waiting"
        2) "job:8"
        ```

        ```redis { title="add" }
        > RPUSH waiting job:8
        (integer) 1
        ```
        """,
    )
    results = results_of()
    assert set(results.values()) == {"passed"}
    assert len(results) == 6


def test_a_reader_may_speak_resp3_while_it_waits(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="waits" client="b" resp=3 }
        > BZPOPMIN waiting 0
        1) "waiting"
        2) "job:8"
        3) (double) 1
        ```

        ```redis { title="add" }
        > ZADD waiting 1 job:8 2 job:9
        (integer) 2
        ```

        ```redis { title="two again" client="b" }
        > BZPOPMIN waiting 0
        1) "waiting"
        2) "job:9"
        3) "2"
        ```
        """,
    )
    assert set(results_of().values()) == {"passed"}
