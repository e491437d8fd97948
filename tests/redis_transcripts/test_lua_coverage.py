"""An instrumented script answers as the script does, and its log tells the lines that were reached, and only those."""

from __future__ import annotations

import random
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pygments.lexers import LuaLexer
from pygments.token import Comment, String

from redis_transcripts import lua, lua_coverage, resp, server
from redis_transcripts.lua import Script
from redis_transcripts.server import Server
from redis_transcripts.source import Origin, SourceLine

# Each line of a script behind its mark: `+` is reached, `-` is not, and a line without a mark does not count.
# KEYS are a, b; ARGV are 3, three; the server is empty.
SCRIPTS = {
    "branches": """\
        + local n = tonumber(ARGV[1])
        + if n > 3 then
        -   return "more"
          elseif n == 3 then
        +   n = n + 1
          else
        -   return "less"
          end
        + return n
        """,
    "branches on one line": """\
        + if ARGV[1] == "4" then
        -   return 4 elseif ARGV[1] == "3" then
        +   return 3 else
        -   return 0 end
        """,
    "statements behind else and elseif": """\
        + if ARGV[1] == "4" then return 4
        + elseif ARGV[1] == "3" then return 3
        - else return 0 end
        """,
    "loops": """\
        + local seen = {}
        + for i = 1, 3 do
        +   if i == 2 then
        +     seen[#seen + 1] = i
            end
          end
        + for _, name in ipairs({}) do
        -   seen[name] = true
          end
        + while #seen > 5 do
        -   table.remove(seen)
          end
        + repeat
        +   local last = #seen
        + ; seen[last + 1] = 9
          until last > 2
        + while true do
        +   break
          end
        + do
        +   seen[1] = 0
          end
        + return seen
        """,
    "functions": """\
        + local function called(x) return x end
        + local function never(x)
        -   return x
          end
        + local t = {}
        + function t.a(x)
        +   local y = x
        +   return y
          end
        + function t:b() return self.n end
        + t.c =
            function()
        -     return 1
            end
        + t.n = 5
        + return {
            called(1), t.a(2), t:b(),
        +   (function() return 7 end)(),
          }
        """,
    "functions in a table": """\
        + local t = {
        +   called = function() return 1 end,
        -   never = function() return 2 end,
            n = 3; m = 4;
        +   nested = function() do repeat until true end end; o = 5;
            p = 6;
          }
        + return { t.called(), t.n, t.m, t.nested(), t.o, t.p }
        """,
    "callbacks": """\
        + local text = string.gsub("abc", "%w", function(letter)
        +   if letter == "b" then
        +     return "-"
            elseif letter == "z" then
        -     return "?"
            end
          end)
        + local ok = pcall(function()
        +   error("no")
          end, function()
        -   return 1
          end)
        + return { text, tostring(ok) }
        """,
    "statements over several lines": """\
        + redis.call(
            "SET",
            KEYS[1],
            "x"
          )
        + local t = {
            1,
            ["two"] = "two",
            { 3 },
          }
        + local sum = t[1]
            + #t.two
            - t[2][1]
        + local text = ("x"):rep(3)
            :upper()
            .. t.two
        + return
            { sum, text,
              redis.call("GET",
                KEYS[1]) }
        """,
    "several statements on a line": """\
        + local a = 1; local b = 2 local c = 3
        + a = a + b b = a; c = c + b;
        + local x, y = a
        +   x, y = y, x
        + if a == 0 then return a end return { a, b, c, tostring(x), y }
        """,
    "assignments": """\
        + local t = { u = {} }
        + t.a = 1
        + t["b"] = 2
        + t.u.v, t.w = 3, 4
        + t.u[
            "x"] = 5
        + t
            .z = 6
        + return { t.a, t.b, t.u.v, t.w, t.u.x, t.z }
        """,
    "calls": """\
        + local t = { n = 1, add = function(self, x) self.n = self.n + (tonumber(x) or #x) return self end }
        + t:add(1)
        + t:add "2":add "3"
        + t:add { 1, 2 }
            :add [[
          4]]
        + t.add(t, 1)
        + return t.n
        """,
    "lines that begin with a parenthesis": """\
        + local n = 1
        + (redis.call)("INCR", KEYS[1])
        + local s = "text"
        + (redis.call)("INCR", KEYS[1])
        + local t = { 1 }
        + --[[ again ]] (redis.call)("INCR", KEYS[1])
        + local none = nil
        + ; (redis.call)("INCR", KEYS[1])
        + local f = function(...)
        +   (redis.call)("INCR", KEYS[1])
        +   local all = ...
        +   (redis.call)("INCR", KEYS[1])
          end
        + (f)()
        + do (f)() end
        + pcall(
        +   function() (f)() end)
        + if n then
        +   (f)()
        + end (f)()
        + return
            (redis.call)("GET", KEYS[1]) .. s .. #t .. tostring(none)
        """,
    "a parenthesis that goes on": """\
        + local f = function
            (a, b)
        +   return a and
              (a + b)
          end
        + local x = 1 +
            (2)
        + return f(x,
            (3))
        """,
    "conditions over several lines": """\
        + if ARGV[1]
            and (function()
        +     return true
            end)()
          then
        +   redis.call("INCR", KEYS[1])
          end
        + while
            redis.call("GET", KEYS[1])
            == "1"
          do
        +   redis.call("DEL", KEYS[1])
          end
        + for i
            = 1,
            2
          do
        +   redis.call("INCR", KEYS[1])
          end
        + return redis.call("GET", KEYS[1])
        """,
    "comments": """\
          -- return 1
          --[[ long
          return 2 ]]
          --[==[ longer ]]
          return 3
          ]==] --
        + local a = 4 -- then return
          --- return 5
        +  --[[ before ]] return --[[ inside
          ]] a
        """,
    "strings": """\
        + local a = [[
          return 1
        + ]] local b = [==[ ]] return 2
        + ]==] local c = "return \\" 3 \\
        + return 4" local d = 'end " then \\' \\\\'
        + local e = "--[[" local f = "x" -- ]]
        + return { a, b, c, d, e, f, "]]" }
        """,
    "numbers": """\
        + local a, b = 0x100000000, 1e3
        + local c = .5 local d = 3. local e = 1e-2
        + return { a, b, tostring(c), d, tostring(1 ..2), tostring(e), 7 % 4 }
        """,
    "variable arguments": """\
        + local function count(...)
        +   local n = select("#", ...)
        +   return n
          end
        + local function all(...)
        +   local t = { ... } return unpack(t)
          end
        + return { count(1, nil, 3), all(1, 2) }
        """,
    "nested blocks": """\
        + for i = 1, 2 do
        +   repeat
        +     if i == 1 then
        +       do break end
              else
        +       redis.call("INCR", KEYS[2])
              end
        +     if i > 2 then
        -       return i
              end
            until true
          end
        + return redis.call("GET", KEYS[2])
        """,
    "names like keywords": """\
        + local ending, dofile_, _if, If = 1, 2, 3, 4
        + local t = { ["end"] = 5, returned = 6 }
        + ending = If return { ending, dofile_, _if, t["end"], t.returned }
        """,
    "a command that fails": """\
        + redis.call("SET", KEYS[1], "x")
        + local caught = redis.pcall("INCR", KEYS[1])
        + if caught.err then
        +   redis.call("INCR",
              KEYS[1])
        -   return 1
          end
        - return 2
        """,
    "an error in a function": """\
        + local function fail()
        +   local t
        +   return t.x
          end
        + local ok = pcall(fail)
        + if not ok then
        +   fail()
          end
        - return 1
        """,
    "its own error": """\
        + local function fail() error("mine", 2) end
        + fail()
        - return 1
        """,
    "nothing": "",
    "nothing returned": """\
        + redis.call("SET", KEYS[1], 1)
        """,
    "a status and nil": """\
        + return { redis.call("SET", KEYS[1], 1), false, { ok = "FINE" }, redis.call("GET", KEYS[2]) }
        """,
}
"""Scripts with marks."""

REFUSED = {
    "a value is missing": "local a = 1\nlocal b =\nreturn a",
    "an end is missing": "if true then\n  return 1\n",
    "an end too many": "end end\nreturn 1",
    "an open string": "local a = 'abc\nreturn a",
    "an open long string": "local a = [[\nreturn a",
    "an open comment": "return 1 --[[\nnot closed",
    "a bracket too many": "local a = 1)\nreturn a",
    "no Lua": "> GET key\n\u00e9 ? !",
}
"""Texts that no server accepts."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """A server, and the file it logs to."""

    connection: socket.socket
    reader: resp.Reader
    log: Path

    def reply(self, text: str) -> resp.Reply:
        """What the script answers on an empty server; the sha of its text, which an error names, is left out."""
        self._ask([b"FLUSHALL"])
        reply = self._ask([b"EVAL", text.encode(), b"2", b"a", b"b", b"3", b"three"])
        return resp.Reply(reply.kind, re.sub(rb"[0-9a-f]{40}", b"", reply.text), reply.items)

    def logged(self, text: str) -> str:
        """What the server logs while the script runs."""
        before = self.log.stat().st_size
        self.reply(text)
        return self.log.read_bytes()[before:].decode()

    def _ask(self, arguments: list[bytes]) -> resp.Reply:
        self.connection.sendall(resp.encode(arguments))
        return self.reader.read()


@pytest.fixture(scope="module", params=[None, server.EMBEDDED], ids=["default", "embedded"])
def evaluator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluator]:
    log = tmp_path_factory.mktemp("server") / "server.log"
    running = Server(server.find(request.param), {"logfile": str(log)})
    try:
        with socket.create_connection(running.address(), timeout=10) as connection:
            yield Evaluator(connection, resp.Reader(lambda: connection.recv(65536)), log)
    finally:
        running.stop()


def as_script(text: str, path: str = "page.md") -> Script:
    return Script(tuple(SourceLine(line, Origin(path, number)) for number, line in enumerate(text.split("\n"), 1)))


def unmarked(marked: str) -> Script:
    return as_script("\n".join(line[10:] for line in marked.splitlines()))


def lines_marked(marked: str, marks: str) -> list[int]:
    return [number for number, line in enumerate(marked.splitlines(), 1) if line[8:9].strip() and line[8] in marks]


def laid_out_anew(text: str, rng: random.Random) -> str:
    """The script with other line ends between its tokens, and without comments, by a lexer that is not ours.

    What stands before a parenthesis is left as it is: a line end there is a new statement or an error.
    """
    tokens = [(kind, part) for kind, part in LuaLexer().get_tokens(text) if kind not in Comment]
    parts = []
    for index, (kind, part) in enumerate(tokens):
        following = next((later for _, later in tokens[index + 1 :] if not later.isspace()), "")
        is_free = part.isspace() and kind not in String and not following.startswith("(")
        parts.append(rng.choice([" ", "\n", " \n\n "]) if is_free else part)
    return "".join(parts)


@pytest.mark.parametrize("marked", SCRIPTS.values(), ids=SCRIPTS)
def test_the_lines_that_count(marked: str) -> None:
    assert [origin.line for origin in lua_coverage.statement_lines(unmarked(marked))] == lines_marked(marked, "+-")


@pytest.mark.parametrize("marked", SCRIPTS.values(), ids=SCRIPTS)
def test_the_lines_that_are_reached(marked: str, evaluator: Evaluator) -> None:
    script = unmarked(marked)
    found = lua_coverage.reached(evaluator.logged(lua_coverage.instrument(script)), script)
    assert sorted(origin.line for origin in found) == lines_marked(marked, "+")


@pytest.mark.parametrize("marked", SCRIPTS.values(), ids=SCRIPTS)
def test_an_instrumented_script_answers_the_same(marked: str, evaluator: Evaluator) -> None:
    script = unmarked(marked)
    expected = evaluator.reply(script.text)
    assert not expected.text.startswith(b"ERR Error compiling")
    assert evaluator.reply(lua_coverage.instrument(script)) == expected


@pytest.mark.parametrize("marked", SCRIPTS.values(), ids=SCRIPTS)
def test_an_instrumented_script_answers_the_same_however_it_is_laid_out(marked: str, evaluator: Evaluator) -> None:
    rng = random.Random(0)
    for _ in range(20):
        script = as_script(laid_out_anew(unmarked(marked).text, rng))
        expected = evaluator.reply(script.text)
        assert not expected.text.startswith(b"ERR Error compiling"), script.text
        assert evaluator.reply(lua_coverage.instrument(script)) == expected, script.text


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_a_server_refuses_stays_refused_for_the_same_reason(text: str, evaluator: Evaluator) -> None:
    expected = evaluator.reply(text)
    assert expected.text.startswith(b"ERR Error compiling")
    assert evaluator.reply(lua_coverage.instrument(as_script(text))) == expected


def test_the_line_that_declares_a_scripts_flags_stays_the_first(evaluator: Evaluator) -> None:
    script = as_script("#!lua flags=no-writes\nlocal t\nreturn t.x")
    assert evaluator.reply(lua_coverage.instrument(script)) == evaluator.reply(script.text)
    assert [origin.line for origin in lua_coverage.statement_lines(script)] == [2, 3]


def test_a_file_is_reached_by_all_scripts_that_include_it_together(evaluator: Evaluator, tmp_path: Path) -> None:
    shared = tmp_path / "lua/sign.lua"
    shared.parent.mkdir()
    shared.write_text("local function sign(n)\n  if n < 0 then\n    return -1\n  end\n  return 1\nend\n")
    log, scripts = "", []
    for number in (-5, 5):
        page = (
            SourceLine('--- @include "sign"', Origin("page.md", 1)),
            SourceLine(f"return sign({number})", Origin("page.md", 2)),
        )
        scripts.append(lua.flatten(page, shared.parent, tmp_path))
        log += evaluator.logged(lua_coverage.instrument(scripts[-1]))
    file = lua.read(shared, tmp_path)
    assert lua_coverage.reached(log, file) == set(lua_coverage.statement_lines(file))
    assert Origin("page.md", 2) in lua_coverage.reached(log, scripts[0])


def test_a_line_that_only_another_script_has_is_not_reached(evaluator: Evaluator) -> None:
    log = evaluator.logged(lua_coverage.instrument(as_script("return 1", "a.md")))
    assert lua_coverage.reached(log, as_script("return 1", "b.md")) == set()
    assert lua_coverage.reached(log, as_script("\nreturn 1", "a.md")) == set()


@pytest.mark.parametrize(
    "path", ["docs/a b.md", 'docs/"quoted".md', r"docs\windows.md", "docs/\u00fc:7.md", "docs/1 # x: 2.md"]
)
def test_any_path_is_found_again(path: str, evaluator: Evaluator) -> None:
    script = as_script("local a = 1\nreturn a", path)
    log = evaluator.logged(lua_coverage.instrument(script))
    assert lua_coverage.reached(log, script) == {Origin(path, 1), Origin(path, 2)}
