"""pytest runs the redis blocks of pages: their ids, what they share, and how a false reply is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import server

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

COUNTER = """\
    ```redis { title="one" }
    > INCR counter
    (integer) 7
    ```

    ```redis { title="two" }
    > INCR counter
    (integer) 2
    ```

    ```redis
    > INCR counter
    (integer) 3
    ```
    """


@pytest.fixture
def server_name() -> str:
    return str(server.find(None))


def test_a_true_page_passes_and_its_ids_name_page_and_title(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md", '# Title\n\n```redis { title="Two ways" }\n> PING\nPONG\n```\n\n```redis\n> ECHO a\n"a"\n```\n'
    )
    write("docs/deeper/page.md", '!!! note\n\n    ```redis\n    > ECHO \u00e9\n    "\\xc3\\xa9"\n    ```\n')
    assert results_of() == {
        "docs/page.md::redis[Two ways]": "passed",
        "docs/page.md::redis[ECHO a]": "passed",
        "docs/deeper/page.md::redis[ECHO \u00e9]": "passed",
    }


def test_a_run_says_on_which_server(project: pytest.Pytester, write: Write, server_name: str) -> None:
    write("docs/page.md", "```redis\n> PING\nPONG\n```\n")
    result = project.runpytest_inprocess()
    result.stdout.fnmatch_lines([f"redis transcripts: {server_name} (/*)"])


def test_a_page_goes_on_where_its_last_block_ended(write: Write, results_of: ResultsOf, server_name: str) -> None:
    write("docs/page.md", COUNTER)
    assert results_of() == {
        "docs/page.md::redis[one]": f"docs/page.md:3: {server_name} answers otherwise\n"
        "> INCR counter\n--- shown\n+++ received\n@@ -1 +1 @@\n-(integer) 7\n+(integer) 1",
        "docs/page.md::redis[two]": "passed",
        "docs/page.md::redis[INCR counter]": "passed",
    }


def test_a_block_alone_runs_those_above_it_once_and_does_not_judge_them(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", COUNTER)
    assert results_of("docs/page.md::redis[two]") == {"docs/page.md::redis[two]": "passed"}
    assert results_of("-k", "two") == {"docs/page.md::redis[two]": "passed"}
    assert results_of("docs/page.md::redis[INCR counter]", "docs/page.md::redis[two]") == {
        "docs/page.md::redis[INCR counter]": "passed",
        "docs/page.md::redis[two]": "passed",
    }


def test_a_false_block_fails_alone_as_it_does_among_others(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", COUNTER)
    alone = results_of("docs/page.md::redis[one]")
    assert alone.keys() == {"docs/page.md::redis[one]"}
    assert alone.items() <= results_of().items()


def test_every_false_step_is_shown_with_its_line_and_a_diff(
    write: Write, results_of: ResultsOf, server_name: str
) -> None:
    write(
        "docs/page.md",
        """\
        # Title

        === "Tab"

            ```redis { title="Three of five" }
            > RPUSH letters a b c
            (integer) 3
            127.0.0.1:6379> LRANGE letters 0 -1
            1) "a"
            2) "x"
            3) "c"
            4) "d"

            > LLEN letters
            (integer) 3
            > LPOP letters
            "a"
            "b"
            > LRANGE letters 0 -1
            1) "b"
            ```
        """,
    )
    assert results_of() == {
        "docs/page.md::redis[Three of five]": f"""\
docs/page.md:10: {server_name} answers otherwise
> LRANGE letters 0 -1
--- shown
+++ received
@@ -1,4 +1,3 @@
 1) "a"
-2) "x"
+2) "b"
 3) "c"
-4) "d"

docs/page.md:18: {server_name} answers otherwise
> LPOP letters
--- shown
+++ received
@@ -1,2 +1 @@
 "a"
-"b"

docs/page.md:19: {server_name} answers otherwise
> LRANGE letters 0 -1
--- shown
+++ received
@@ -1 +1,2 @@
 1) "b"
+2) "c\""""
    }


def test_a_false_reply_in_an_included_file_names_that_file(
    project: pytest.Pytester, write: Write, server_name: str
) -> None:
    write("parts/ping.txt", "> PING\nPANG")
    write("parts/fence.md", '\n```redis\n> ECHO a\n"b"\n```\n')
    write("docs/page.md", '```redis\n--8<-- "parts/ping.txt"\n```\n\n--8<-- "parts/fence.md"\n')
    result = project.runpytest_inprocess("-vv")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "docs/page.md::redis[[]PING[]] FAILED*",
            "docs/page.md::redis[[]ECHO a[]] <- parts/fence.md FAILED*",
            f"parts/ping.txt:2: {server_name} answers otherwise",
            f"parts/fence.md:4: {server_name} answers otherwise",
        ]
    )


def test_the_summary_names_file_and_line(project: pytest.Pytester, write: Write, server_name: str) -> None:
    write("docs/page.md", "```redis\n> PING\nPANG\n```\n")
    result = project.runpytest_inprocess()
    result.stdout.fnmatch_lines([f"FAILED docs/page.md::redis[[]PING[]] - docs/page.md:3: {server_name} answers*"])


def test_spaces_at_the_end_of_a_line_and_empty_lines_around_a_reply_are_not_compared(
    write: Write, results_of: ResultsOf
) -> None:
    write("docs/page.md", '```redis { title="x" }\n\n> PING\n\nPONG  \n\n> ECHO a\n"a"\t\n\n```\n')
    assert results_of() == {"docs/page.md::redis[x]": "passed"}


def test_a_typed_line_is_what_one_types_in_redis_cli(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="forms" }
        > 3 INCR counter
        (integer) 1
        (integer) 2
        (integer) 3
        redis> ECHO "not closed
        Invalid argument(s)
        redis> 0 PING
        Invalid redis-cli repeat command option value.
        redis> 99999999999999999999 PING
        Invalid redis-cli repeat command option value.
        127.0.0.1:6379> SET 'a key' "two\\x20words"
        OK
        127.0.0.1:6379> MULTI
        OK
        127.0.0.1:6379(TX)> GET "a key"
        QUEUED
        valkey(TX)> EXEC
        1) "two words"
        127.0.0.1:6379[3]> CLIENT GETNAME
        (nil)
        ```
        """,
    )
    assert results_of() == {"docs/page.md::redis[forms]": "passed"}


def test_fresh_starts_from_an_empty_server(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis
        > SET key value
        OK
        > CONFIG SET zset-max-listpack-entries 5
        OK
        > SELECT 2
        OK
        ```

        ```redis { fresh title="again" }
        > SET other 1
        OK
        > KEYS *
        1) "other"
        > CONFIG GET zset-max-listpack-entries
        1) "zset-max-listpack-entries"
        2) "128"
        ```
        """,
    )
    assert set(results_of().values()) == {"passed"}


def test_resp_3_holds_for_its_block_alone(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```redis
        > HSET job id 7
        (integer) 1
        ```

        ```redis { resp=3 title="three" }
        > HGETALL job
        1# "id" => "7"
        ```

        ```redis { title="two" }
        > HGETALL job
        1) "id"
        2) "7"
        ```
        """,
    )
    assert set(results_of().values()) == {"passed"}


TRACKING = """\
```redis
> MSET job:7 first job:8 second
OK
```

```redis { resp=3 }
> CLIENT TRACKING ON
OK
> MGET job:7 job:8
1) "first"
2) "second"
> TTL job:7
(integer) -1
```
"""

# How a key comes to change that a client tracks. Between its blocks in RESP3 it speaks RESP2, and is told nothing.
CHANGES = {
    "by itself": "```redis { resp=3 }\n> SET job:7 changed\nOK\n```\n",
    "by itself, in RESP2": "```redis\n> SET job:7 changed\nOK\n```\n",
    "by another connection": '```redis { client="b" }\n> SET job:7 changed\nOK\n```\n',
    "by a script": "```lua { resp=3 }\nreturn redis.call('SET', 'job:7', 'changed')\n```\n\n```reply\nOK\n```\n",
    "in a transaction": (
        "```redis { resp=3 }\n> MULTI\nOK\n> SET job:7 changed\nQUEUED\n> GET job:7\nQUEUED\n> EXEC\n"
        '1) OK\n2) "changed"\n```\n'
    ),
}

TRACKED = """\
```redis { resp=3 title="after" }
> GET job:7
"changed"
> CLIENT TRACKINGINFO
1# "flags" => 1~ "on"
2# "redirect" => (integer) 0
3# "prefixes" => (empty array)
> ECHO "in step"
"in step"
```
"""


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_the_server_tells_of_a_tracked_key_is_no_reply(change: str, write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", "\n".join([TRACKING, change, TRACKED]))
    results = results_of()
    assert set(results.values()) == {"passed"}
    assert len(results) == 4


def test_what_another_connection_changes_while_a_client_goes_on_in_resp_3_is_no_reply(
    write: Write, results_of: ResultsOf
) -> None:
    write(
        "docs/page.md",
        """\
        ```redis { title="tracks" }
        > HELLO 3
        its reply, not judged
        > CLIENT TRACKING ON BCAST
        OK
        ```

        ```redis { title="changes" client="b" }
        > 3 INCR counter
        (integer) 1
        (integer) 2
        (integer) 3
        > FLUSHALL
        OK
        ```

        ```redis { title="goes on" }
        > GET counter
        (nil)
        > HGETALL job:7
        (empty hash)
        ```
        """,
    )
    assert results_of("-k", "changes or goes") == {
        "docs/page.md::redis[changes]": "passed",
        "docs/page.md::redis[goes on]": "passed",
    }


def test_a_title_and_arguments_may_stand_between_single_quotes(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """        ```lua { title='A "script"' keys='"a key"' argv='"two\\x20words" 7' }
        return {KEYS, ARGV}
        ```

        ```reply
        1) 1) "a key"
        2) 1) "two words"
           2) "7"
        ```
        """,
    )
    assert results_of() == {'docs/page.md::lua[A "script"]': "passed"}


def test_empty_lines_at_the_end_of_what_code_prints_are_not_compared(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """        ```python
        print("job 7\\n\\n  ")
        ```

        ```output
        job 7
        ```

        ```python
        print()
        ```
        """,
    )
    assert set(results_of().values()) == {"passed"}


# What a page leaves behind, and what the next page would see of it.
LEFT_BEHIND = {
    "key": ("> SET key value\nOK", "> DBSIZE\n(integer) 0"),
    "key of another database": ("> SELECT 3\nOK\n> SET key value\nOK", "> SELECT 3\nOK\n> DBSIZE\n(integer) 0"),
    "selected database": ("> SELECT 3\nOK", '> SET key 1\nOK\n> SELECT 0\nOK\n> GET key\n"1"'),
    "script": (
        '> SCRIPT LOAD "return 1"\n"e0e1f9fabfc9d4800c877a703b823ac0578ff8db"',
        "> SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db\n1) (integer) 0",
    ),
    "function": (
        '> FUNCTION LOAD "#!lua name=mylib\\n redis.register_function(\'f\', function() return 1 end)"\n"mylib"',
        "> FUNCTION LIST\n(empty array)",
    ),
    "transaction": ("> MULTI\nOK\n> PING\nQUEUED", "> PING\nPONG"),
    "configuration": (
        "> CONFIG SET maxmemory 100mb\nOK",
        '> CONFIG GET maxmemory\n1) "maxmemory"\n2) "0"',
    ),
    "password": ("> CONFIG SET requirepass secret\nOK", "> PING\nPONG"),
    "user": ("> ACL SETUSER ann\nOK", '> ACL USERS\n1) "default"'),
    "pause": ("> CLIENT PAUSE 60000\nOK", "> SET key 1\nOK"),
}


def test_nothing_of_a_page_reaches_the_next(write: Write, results_of: ResultsOf) -> None:
    for number, (left, seen) in enumerate(LEFT_BEHIND.values()):
        write(f"docs/{number:02}-a.md", f'```redis {{ title="leaves" }}\n{left}\n```\n')
        write(f"docs/{number:02}-b.md", f'```redis {{ title="sees" }}\n{seen}\n```\n')
    results = results_of()
    assert set(results.values()) == {"passed"}
    assert len(results) == 2 * len(LEFT_BEHIND)


def test_the_protocol_of_a_page_does_not_reach_the_next(write: Write, results_of: ResultsOf) -> None:
    hash_of_one = "> HSET job id 7\n(integer) 1\n> HGETALL job\n"
    write(
        "docs/a.md",
        f'```redis {{ title="leaves" }}\n> HELLO 3\nits reply, not judged\n```\n\n'
        f'```redis {{ title="sees" }}\n{hash_of_one}1# "id" => "7"\n```\n',
    )
    write("docs/b.md", f'```redis {{ title="sees" }}\n{hash_of_one}1) "id"\n2) "7"\n```\n')
    assert results_of("-k", "sees") == {"docs/a.md::redis[sees]": "passed", "docs/b.md::redis[sees]": "passed"}


@pytest.mark.parametrize("folder", ["build", "dist", "venv", "node_modules", "some.egg"])
def test_a_page_in_a_folder_that_pytest_passes_over_elsewhere_is_run(
    project: pytest.Pytester, write: Write, folder: str
) -> None:
    write(f"docs/{folder}/page.md", '```redis { title="x" }\n> PING\nPANG\n```\n')
    result = project.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"docs/{folder}/page.md:3: * answers otherwise"])
