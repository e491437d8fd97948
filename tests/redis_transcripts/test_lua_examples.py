"""Lua blocks with a reply: what they are given, what they include, and where a script says that it failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import server

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

GET_SCORE = """\
-- The score of a job.
local function getScore(tier, counter)
  return tier * 1000 + counter
end
"""

FAILING = """\
-- --8<-- [start:fails]
local function fails(key)
  return redis.call("LPUSH", key)
end
-- --8<-- [end:fails]
"""


@pytest.fixture
def server_name() -> str:
    return str(server.find(None))


def test_a_script_gets_its_keys_and_arguments(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```lua { title="add" keys="waiting jobs:8" argv="3 'a job'" }
        redis.call("ZADD", KEYS[1], ARGV[1], KEYS[2])
        redis.call("SET", KEYS[2], ARGV[2])
        return {#KEYS, #ARGV}
        ```

        ```reply
        1) (integer) 2
        2) (integer) 2
        ```

        ```redis { title="sees" }
        > ZRANGE waiting 0 -1 WITHSCORES
        1) "jobs:8"
        2) "3"
        > GET jobs:8
        "a job"
        ```
        """,
    )
    assert results_of() == {"docs/page.md::lua[add]": "passed", "docs/page.md::redis[sees]": "passed"}


@pytest.mark.parametrize("include", ['--- @include "includes/getScore"', '--8<-- "lua/includes/getScore.lua"'])
def test_an_included_function_is_called_by_a_return_on_the_page(
    include: str, write: Write, results_of: ResultsOf
) -> None:
    write("lua/includes/getScore.lua", GET_SCORE)
    write(
        "docs/page.md",
        f'```lua {{ title="score" argv="3 7" }}\n{include}\n\nreturn getScore(ARGV[1], ARGV[2])\n```\n\n'
        "```reply\n(integer) 3007\n```\n",
    )
    assert results_of() == {"docs/page.md::lua[score]": "passed"}


def test_includes_are_found_in_the_folder_that_the_project_names(write: Write, results_of: ResultsOf) -> None:
    write("pytest.ini", "[pytest]\naddopts = -p no:valkey\nredis_pages = docs\nredis_lua = scripts\n")
    write("scripts/getScore.lua", GET_SCORE)
    write(
        "docs/page.md",
        '```lua { title="score" }\n--- @include "getScore"\nreturn getScore(3, 7)\n```\n\n'
        "```reply\n(integer) 3007\n```\n",
    )
    assert results_of() == {"docs/page.md::lua[score]": "passed"}


def test_a_part_of_a_lua_file_that_is_only_shown_is_not_run(write: Write, results_of: ResultsOf) -> None:
    write("lua/fails.lua", FAILING)
    write(
        "docs/page.md",
        '```lua { title="shown" }\n--8<-- "lua/fails.lua:fails"\n```\n\n'
        '```lua { title="run" }\nreturn redis.call("DBSIZE")\n```\n\n```reply\n(integer) 0\n```\n',
    )
    assert results_of() == {"docs/page.md::lua[run]": "passed"}


def test_a_script_that_fails_names_the_line_of_the_page_or_of_the_file(
    write: Write, results_of: ResultsOf, server_name: str
) -> None:
    write("lua/fails.lua", FAILING)
    write(
        "docs/page.md",
        """\
        ```lua { title="page" keys="waiting" }
        local key = KEYS[1]

        return redis.call("NOSUCH", key)
        ```

        ```reply
        OK
        ```

        ```lua { title="file" keys="waiting" }
        --- @include "fails"

        return fails(KEYS[1])
        ```

        ```reply
        OK
        ```

        ```lua { title="shown file" keys="waiting" }
        --8<-- "lua/fails.lua:fails"
        return fails(KEYS[1])
        ```

        ```reply
        OK
        ```

        ```lua { title="not Lua" }
        --- @include "fails"
        return 1 +
        ```

        ```reply
        OK
        ```
        """,
    )
    results = results_of()
    places = {
        "page": ("docs/page.md:8", "docs/page.md:4"),
        "file": ("docs/page.md:18", "lua/fails.lua:3"),
        "shown file": ("docs/page.md:27", "lua/fails.lua:3"),
        "not Lua": ("docs/page.md:36", "docs/page.md:32"),
    }
    for title, (shown, failed) in places.items():
        first, asked, *_, received, note = results[f"docs/page.md::lua[{title}]"].splitlines()
        assert (first, asked) == (f"{shown}: {server_name} answers otherwise", f"EVAL {title}")
        assert received.startswith("+(error) ")
        assert note == f"the script failed at {failed}"


def test_an_error_can_be_the_reply_that_is_shown(write: Write, results_of: ResultsOf) -> None:
    """Its text holds the digest of the script, which no page should spell out."""
    write(
        "docs/page.md",
        """\
        ```lua { title="varies" varies="id" }
        return redis.call("INCRBY", "counter", "x")
        ```

        ```reply
        (error) ERR ...
        ```

        ```lua { title="raised by hand" }
        return redis.error_reply("EMPTY no job waits")
        ```

        ```reply
        (error) EMPTY no job waits
        ```

        ```lua { title="another error" varies="id" }
        return redis.call("INCRBY", "counter", "x")
        ```

        ```reply
        (error) WRONGTYPE ...
        ```
        """,
    )
    results = results_of()
    assert results["docs/page.md::lua[varies]"] == "passed"
    assert results["docs/page.md::lua[raised by hand]"] == "passed"
    another = results["docs/page.md::lua[another error]"].splitlines()
    assert another[-3] == "-(error) WRONGTYPE ..."
    assert another[-2].startswith("+(error) ERR ")
    assert another[-1] == "the script failed at docs/page.md:18"


def test_nil_and_what_lua_makes_of_values_is_shown_as_the_server_sends_it(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```lua { title="nil" }
        return redis.call("GET", "nothing")
        ```

        ```reply
        (nil)
        ```

        ```lua { title="values" }
        return {3.99, true, "text", {1, {}}, redis.status_reply("FINE"), nil, 5}
        ```

        ```reply
        1) (integer) 3
        2) (integer) 1
        3) "text"
        4) 1) (integer) 1
           2) (empty array)
        5) FINE
        ```
        """,
    )
    assert results_of() == {"docs/page.md::lua[nil]": "passed", "docs/page.md::lua[values]": "passed"}


def test_the_order_of_a_reply_counts(write: Write, results_of: ResultsOf, server_name: str) -> None:
    script = 'return {"a", "b"}\n```\n\n```reply\n1) "b"\n2) "a"\n```\n'
    write("docs/page.md", f'```lua {{ title="x" }}\n{script}')
    assert results_of() == {
        "docs/page.md::lua[x]": f"docs/page.md:6: {server_name} answers otherwise\nEVAL x\n--- shown\n+++ received\n"
        '@@ -1,2 +1,2 @@\n-1) "b"\n-2) "a"\n+1) "a"\n+2) "b"',
    }
