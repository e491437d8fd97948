"""A script's includes are resolved, and a server's error is found at the line of the page or file it came from."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from redis_transcripts import lua, resp, server
from redis_transcripts.errors import PageError
from redis_transcripts.lua import Script
from redis_transcripts.server import Server
from redis_transcripts.source import Origin, SourceLine

Write = Callable[[str, str], Path]
Evaluate = Callable[[str], resp.Reply]

# The files of a project, and the lines of the script that `--- @include "first"` on a page becomes.
INCLUDES: dict[str, tuple[dict[str, str], str]] = {
    "a file": (
        {"lua/first.lua": "local a = 1\n\nlocal b = 2\n"},
        "first.lua:1 local a = 1|first.lua:2 |first.lua:3 local b = 2",
    ),
    "no line end at its end": ({"lua/first.lua": "local a = 1"}, "first.lua:1 local a = 1"),
    "line ends of Windows, and a byte order mark": (
        {"lua/first.lua": "\ufefflocal a = 1\r\nlocal b = 2\r\n"},
        "first.lua:1 local a = 1|first.lua:2 local b = 2",
    ),
    "relative to the file that asks": (
        {
            "lua/first.lua": '--- @include "includes/second"\n',
            "lua/includes/second.lua": '--- @include "third"\n--- @include "../fourth.lua"\n',
            "lua/includes/third.lua": "third()\n",
            "lua/fourth.lua": "fourth()\n",
        },
        "includes/third.lua:1 third()|fourth.lua:1 fourth()",
    ),
    "where it is asked for first, and not again": (
        {
            "lua/first.lua": 'one()\n--- @include "second"\n--- @include "third"\ntwo()\n--- @include "./second.lua"\n',
            "lua/second.lua": '--- @include "third"\nsecond()\n',
            "lua/third.lua": "third()\n",
        },
        "first.lua:1 one()|third.lua:1 third()|second.lua:2 second()|first.lua:4 two()",
    ),
    "a comment about includes is a comment": (
        {"lua/first.lua": "-- see @include\n--- @included\n"},
        "first.lua:1 -- see @include|first.lua:2 --- @included",
    ),
}

# The files of a project, and what is said when `--- @include "first"` stands on line 2 of a page.
FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "missing": (
        {},
        "page.md:2: lua/first.lua cannot be read: No such file or directory; "
        "correct the path, which is relative to lua",
    ),
    "missing for a file": (
        {
            "lua/first.lua": '--- @include "includes/second"\n',
            "lua/includes/second.lua": '\n--- @include "includes/third"\n',
        },
        "lua/includes/second.lua:2: lua/includes/includes/third.lua cannot be read: No such file or directory; "
        "correct the path, which is relative to lua/includes",
    ),
    "a folder": (
        {"lua/first.lua/second.lua": ""},
        "page.md:2: lua/first.lua cannot be read: Is a directory; correct the path, which is relative to lua",
    ),
    "itself": (
        {"lua/first.lua": 'one()\n--- @include "first"\n'},
        "lua/first.lua:2: files include each other in a circle: lua/first.lua, lua/first.lua; "
        "move what they share into a file that includes none of them",
    ),
    "a circle": (
        {
            "lua/first.lua": '--- @include "second"\n',
            "lua/second.lua": '--- @include "third"\n',
            "lua/third.lua": '--- @include "second"\n',
        },
        "lua/third.lua:1: files include each other in a circle: lua/second.lua, lua/third.lua, lua/second.lua; "
        "move what they share into a file that includes none of them",
    ),
    "every one of several": (
        {"lua/first.lua": '--- @include "second"\n-- @include "third"\n'},
        "lua/first.lua:1: lua/second.lua cannot be read: No such file or directory; "
        "correct the path, which is relative to lua\n"
        'lua/first.lua:2: `-- @include "third"` includes nothing; '
        'write --- @include "includes/name" alone on its line, from the first column on',
    ),
}

MISWRITTEN = [
    '  --- @include "first"',
    '-- @include "first"',
    '---@include "first"',
    "--- @include 'first'",
    "--- @include first",
    '--- @include ""',
    '--- @include "first" -- again',
    "--- @include",
]

# What servers answer when line 3 fails, measured; the sha is that of some script.
_SHA = "98c12ad8ad3a78d49b94c78ee9e7e3b0490b41c4"
ERRORS = {
    "compiling": "ERR Error compiling script (new function): user_script:3: unexpected symbol near 'return'",
    "compiling, as redis-cli prints it": (
        "(error) ERR Error compiling script (new function): user_script:3: '=' expected near 'x'"
    ),
    "6.2.14": (
        f"ERR Error running script (call to f_{_SHA}): @user_script:3: "
        "user_script:3: attempt to index local 'a' (a nil value)"
    ),
    "6.2.14, a command it cannot send": (
        f"ERR Error running script (call to f_{_SHA}): @user_script:3: "
        "@user_script: 3: Wrong number of args calling Redis command From Lua script"
    ),
    "6.2.14, a command that fails": (
        f"ERR Error running script (call to f_{_SHA}): @user_script:3: ERR value is not an integer or out of range"
    ),
    "6.2.14, caught and returned": "@user_script: 3: Wrong number of args calling Redis command From Lua script",
    "6.2.14, caught and returned, as redis-cli prints it": (
        "(error) @user_script: 3: Unknown Redis command called from Lua script"
    ),
    "6.2.14, which quotes another line": (
        f"ERR Error running script (call to f_{_SHA}): @user_script:3: user_script:1: said by the script"
    ),
    "7.0.15": f"ERR user_script:3: attempt to index local 'a' (a nil value) script: {_SHA}, on @user_script:3.",
    "7.0.15, a command that fails": (f"ERR value is not an integer or out of range script: {_SHA}, on @user_script:3."),
    "7.0.15, which quotes another line": f"ERR user_script:1: said by the script script: {_SHA}, on @user_script:3.",
    "7.0.15, which quotes another error": (
        f"ERR mine script: {_SHA}, on @user_script:1. script: {_SHA}, on @user_script:3."
    ),
    "Valkey 9.1.2": "ERR user_script:3: attempt to index local 'a' (a nil value) script: on @user_script:3.",
    "Valkey 9.1.2, a command that fails": "ERR value is not an integer or out of range script: on @user_script:3.",
}
WITHOUT_LINE = {
    "returned": "ERR value is not an integer or out of range",
    "returned, with a line that the script made up": "user_script:3: said by the script",
    "raised inside loadstring": f'ERR [string "..."]:3: 1 script: {_SHA}, on   error(1):3.',
    "a line that this script does not have": "ERR Error compiling script (new function): user_script:9: '=' expected",
}

# On a page, line 2 includes a file whose function fails on its line 3 when called; the script goes on at line 3.
FAILING = {
    "compiling, on the page": ("local f\nlocal x = = 1", "page.md:4"),
    "compiling, at the end": ("local function f()\n  local x = 1", "page.md:4"),
    "running, on the page": ("local x\n\nreturn x.y", "page.md:5"),
    "running, in the file": ('return failing("PING", {})', "includes/failing.lua:3"),
    "a command that fails": ('redis.call("SET", "k", "x")\nreturn failing("INCR", "k")', "includes/failing.lua:3"),
    "a command with too few arguments": ('return failing("GET")', "includes/failing.lua:3"),
    "no such command": ('\nredis.call("NOSUCH")', "page.md:4"),
    "its own error": ('\n\n\nerror("user_script:1: mine")', "page.md:6"),
    "its own error without a line": ('\nerror("mine", 0)', "page.md:4"),
    "caught and raised again": ('local ok, e = pcall(failing, "GET")\nerror(e)', "page.md:4"),
}


def page_lines(text: str, first: int = 1) -> list[SourceLine]:
    return [SourceLine(line, Origin("page.md", number)) for number, line in enumerate(text.split("\n"), first)]


def listing(script: Script) -> str:
    return "|".join(f"{line.origin} {line}" for line in script.lines)


@pytest.fixture(scope="module", params=[None, server.EMBEDDED], ids=["default", "embedded"])
def evaluate(request: pytest.FixtureRequest) -> Iterator[Evaluate]:
    """Runs a script without keys and arguments on a server of the default kind, and on the embedded one."""
    running = Server(server.find(request.param))
    try:
        with socket.create_connection(running.address(), timeout=10) as connection:
            reader = resp.Reader(lambda: connection.recv(65536))

            def run(script: str) -> resp.Reply:
                connection.sendall(resp.encode([b"EVAL", script.encode(), b"0"]))
                return reader.read()

            yield run
    finally:
        running.stop()


@pytest.mark.parametrize(("files", "expected"), INCLUDES.values(), ids=INCLUDES)
def test_an_include_gives_way_to_the_lines_of_the_file(
    files: dict[str, str], expected: str, write: Write, tmp_path: Path
) -> None:
    for name, text in files.items():
        write(name, text)
    script = lua.flatten(page_lines('before()\n--- @include "first"\nafter()'), tmp_path / "lua", tmp_path)
    inside = "|".join(f"lua/{line}" for line in expected.split("|"))
    assert listing(script) == f"page.md:1 before()|{inside}|page.md:3 after()"
    assert script.text == "\n".join(line.split(" ", 1)[1] for line in listing(script).split("|"))


@pytest.mark.parametrize(("files", "message"), FAULTS.values(), ids=FAULTS)
def test_an_include_that_cannot_be_resolved(files: dict[str, str], message: str, write: Write, tmp_path: Path) -> None:
    for name, text in files.items():
        write(name, text)
    with pytest.raises(PageError) as caught:
        lua.flatten(page_lines('before()\n--- @include "first"'), tmp_path / "lua", tmp_path)
    assert str(caught.value) == message


@pytest.mark.parametrize("line", MISWRITTEN)
def test_a_miswritten_include(line: str, write: Write, tmp_path: Path) -> None:
    write("lua/first.lua", "")
    with pytest.raises(PageError) as caught:
        lua.flatten(page_lines(line, first=7), tmp_path / "lua", tmp_path)
    assert str(caught.value) == (
        f"page.md:7: `{line.strip()}` includes nothing; "
        'write --- @include "includes/name" alone on its line, from the first column on'
    )


def test_a_file_that_is_not_text(write: Write, tmp_path: Path) -> None:
    write("lua/first.lua", "").write_bytes(b"local a = '\xe9'\n")
    with pytest.raises(PageError) as caught:
        lua.flatten(page_lines('--- @include "first"'), tmp_path / "lua", tmp_path)
    assert str(caught.value) == "lua/first.lua:1: not UTF-8: invalid continuation byte at byte 11; save it as UTF-8"


def test_a_line_that_the_page_took_from_a_lua_file_asks_relative_to_that_file(write: Write, tmp_path: Path) -> None:
    write("lua/queue/add.lua", "")
    write("lua/queue/score.lua", "score()\n")
    line = SourceLine('--- @include "score"', Origin("lua/queue/add.lua", 5))
    assert listing(lua.flatten([line], tmp_path / "lua", tmp_path)) == "lua/queue/score.lua:1 score()"


def test_a_file_is_a_script(write: Write, tmp_path: Path) -> None:
    path = write("lua/add.lua", '--- @include "includes/score"\nreturn score()\n')
    write("lua/includes/score.lua", "local function score() end\n")
    expected = "lua/includes/score.lua:1 local function score() end|lua/add.lua:2 return score()"
    assert listing(lua.read(path, tmp_path)) == expected


def test_a_file_that_is_asked_for_again_by_its_own_include(write: Write, tmp_path: Path) -> None:
    path = write("lua/add.lua", '--- @include "includes/score"\n')
    write("lua/includes/score.lua", '--- @include "../add"\n')
    with pytest.raises(
        PageError, match=r"lua/includes/score\.lua:1: .* lua/add.lua, lua/includes/score.lua, lua/add.lua;"
    ):
        lua.read(path, tmp_path)


def test_a_script_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(PageError) as caught:
        lua.read(tmp_path / "lua/add.lua", tmp_path)
    assert str(caught.value) == (
        "lua/add.lua:1: lua/add.lua cannot be read: No such file or directory; check the path and its permissions"
    )


@pytest.mark.parametrize("message", ERRORS.values(), ids=ERRORS)
def test_the_line_in_an_error(message: str) -> None:
    assert lua.error_origin(Script(tuple(page_lines("a\nb\nc", first=11))), message) == Origin("page.md", 13)


@pytest.mark.parametrize("message", WITHOUT_LINE.values(), ids=WITHOUT_LINE)
def test_an_error_without_a_line(message: str) -> None:
    assert lua.error_origin(Script(tuple(page_lines("a\nb\nc"))), message) is None


@pytest.mark.parametrize(("text", "origin"), FAILING.values(), ids=FAILING)
def test_the_line_at_which_a_server_fails(
    text: str, origin: str, evaluate: Evaluate, write: Write, tmp_path: Path
) -> None:
    write("includes/failing.lua", "-- Fails.\nlocal function failing(...)\n  return redis.call(...)\nend\n")
    script = lua.flatten(page_lines(f'--- @include "includes/failing"\n{text}', first=2), tmp_path, tmp_path)
    reply = evaluate(script.text)
    assert reply.kind is resp.Kind.ERROR
    assert str(lua.error_origin(script, reply.text.decode())) == origin, reply.text


def test_an_error_that_a_script_returns_has_no_line(evaluate: Evaluate) -> None:
    script = Script(tuple(page_lines('return redis.error_reply("MINE user_script:1: made up")')))
    reply = evaluate(script.text)
    assert reply.kind is resp.Kind.ERROR
    assert lua.error_origin(script, reply.text.decode()) is None
