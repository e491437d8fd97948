"""A page's Python runs as one script would, and an error in it is found at its own line."""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from redis_transcripts import python_code
from redis_transcripts.markdown import PageReader
from redis_transcripts.python_code import Namespace, Printed, Raised
from redis_transcripts.server import Server
from redis_transcripts.source import Origin, SourceLine

Write = Callable[[str, str], Path]


@pytest.fixture
def page() -> Iterator[Namespace]:
    namespace = Namespace()
    yield namespace
    namespace.close()


def lines(code: str, path: str = "page.md", first: int = 1) -> list[SourceLine]:
    """The lines of a block that begins in the line ``first`` of the file ``path``."""
    text = textwrap.dedent(code).strip("\n")
    return [SourceLine(line, Origin(path, number)) for number, line in enumerate(text.split("\n"), first)]


def raised(printed: Printed) -> Raised:
    assert printed.raised is not None
    return printed.raised


def found_at(printed: Printed) -> str:
    return f"{raised(printed).origin} {raised(printed).last_line}"


def traceback_of(printed: Printed) -> list[str]:
    """The lines of the traceback, without the marks below them, which each version of Python sets otherwise."""
    return [line for line in raised(printed).text.split("\n") if not line or line.strip(" ~^")]


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("x = 1", ()),
        ("print('a')", ("a",)),
        ("print('a', end='')", ("a",)),
        ("print('a\\n\\nb')", ("a", "", "b")),
        ("print()", ("",)),
        ("print('a\\n')", ("a", "")),
        ("print('ä → 😀')", ("ä → 😀",)),
        ("print('a\\x0bb\\u2028c')", ("a\x0bb\u2028c",)),
        ("import sys; sys.stdout.write('a'); sys.stdout.buffer.write(b'b')", ("ab",)),
        ("import sys; print('b', file=sys.stderr); print('a')", ("a",)),
    ],
)
def test_what_a_block_prints_is_returned_line_by_line(code: str, printed: tuple[str, ...], page: Namespace) -> None:
    assert page.run(lines(code)) == Printed(printed, None)


def test_an_empty_block_prints_nothing(page: Namespace) -> None:
    assert page.run([]) == Printed((), None)


def test_a_block_uses_what_the_blocks_above_it_defined(page: Namespace) -> None:
    page.run(lines("import math\nqueue = [8]\ndef add(job):\n    queue.append(job)"))
    page.run(lines("queue.append(9)\nadd(10)", first=7))
    assert page.run(lines("print(queue, math.pi > 3)", first=10)) == Printed(("[8, 9, 10] True",), None)


def test_two_pages_share_nothing(page: Namespace) -> None:
    page.run(lines("jobs = []"))
    other = Namespace()
    assert found_at(other.run(lines("jobs"))) == "page.md:1 NameError: name 'jobs' is not defined"
    other.close()


def test_each_block_is_executed_once(page: Namespace) -> None:
    """Also one that raises what a runner might take for its own."""
    runs: list[int] = []
    page.run(lines("runs.append(1)"), {"runs": runs})
    page.run(lines("runs.append(2)\nlen(3)", first=3))
    page.run(lines("runs.append(3)\nraise KeyError(runs)", first=6))
    assert runs == [1, 2, 3]


def test_names_given_to_a_block_are_there_from_then_on(page: Namespace) -> None:
    assert page.run(lines("print(worker)"), {"worker": "a"}).lines == ("a",)
    assert page.run(lines("print(worker)")).lines == ("a",)


def test_output_of_a_subprocess_is_not_captured(page: Namespace, capfd: pytest.CaptureFixture[str]) -> None:
    block = "import subprocess\nsubprocess.run(['echo', 'from outside'])\nprint('from inside')"
    assert page.run(lines(block)).lines == ("from inside",)
    assert capfd.readouterr().out == "from outside\n"


def test_a_logging_handler_of_one_block_is_heard_in_the_next(page: Namespace) -> None:
    page.run(
        lines("""
            import logging, sys
            log = logging.Logger("page")
            log.addHandler(logging.StreamHandler(sys.stdout))
        """)
    )
    assert page.run(lines("log.warning('late')")).lines == ("late",)


def test_standard_output_and_the_main_module_are_those_of_before(page: Namespace) -> None:
    before = sys.stdout, sys.modules["__main__"]
    for code in ("x = 1", "raise ValueError", "raise KeyboardInterrupt", "import io, sys; sys.stdout = io.StringIO()"):
        try:
            page.run(lines(code))
        except KeyboardInterrupt:
            assert "Keyboard" in code
        assert (sys.stdout, sys.modules["__main__"]) == before


def test_an_imported_future_ends_with_its_block(page: Namespace) -> None:
    ask = "def f(a: int): ...\nprint(f.__annotations__['a'])"
    assert page.run(lines(ask)).lines == ("<class 'int'>",), "not that of the runner's own modules either"
    assert page.run(lines(f"from __future__ import annotations\n{ask}")).lines == ("int",)
    assert page.run(lines(ask)).lines == ("<class 'int'>",)


def test_classes_of_a_page_are_those_of_a_script(page: Namespace) -> None:
    page.run(
        lines("""
            from __future__ import annotations
            import dataclasses, pickle, typing

            @dataclasses.dataclass(slots=True)
            class Job:
                number: int
                after: Job | None = None
                limit: typing.ClassVar[int] = 5
        """)
    )
    assert page.run(
        lines("""
            print(pickle.loads(pickle.dumps(Job(8, Job(10)))))
            print(typing.get_type_hints(Job)["after"])
            print(__name__, Job)
        """)
    ) == Printed(
        (
            "Job(number=8, after=Job(number=10, after=None))",
            "__main__.Job | None",
            "__main__ <class '__main__.Job'>",
        ),
        None,
    )


def test_asyncio_is_run_by_the_block(page: Namespace) -> None:
    block = "import asyncio\nasync def f():\n    print('a')\n    missing\nasyncio.run(f())"
    printed = page.run(lines(block))
    assert printed.lines == ("a",)
    assert found_at(printed) == "page.md:4 NameError: name 'missing' is not defined"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = 1\n\nraise ValueError('no such job')", "page.md:3 ValueError: no such job"),
        ("raise ValueError", "page.md:1 ValueError"),
        ("prin('a')", "page.md:1 NameError: name 'prin' is not defined. Did you mean: 'print'?"),
        ("x = [\n    1,\n    1 / 0,\n]", "page.md:3 ZeroDivisionError: division by zero"),
        ("def f():\n    raise KeyError('a')\n\nf()", "page.md:2 KeyError: 'a'"),
        ("import json\n\njson.loads('')", "page.md:3 json.decoder.JSONDecodeError: Expecting value: "),
        ("class Empty(Exception): ...\nraise Empty('all')", "page.md:2 Empty: all"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('a')", "page.md:4 ValueError: a"),
        ("raise ValueError('first\\nsecond')", "page.md:1 ValueError: first"),
        ("x = ValueError('a')\nx.add_note('note')\nraise x", "page.md:3 ValueError: a"),
        ("raise ExceptionGroup('several', [ValueError('a')])", "page.md:1 ExceptionGroup: several (1 sub-exception)"),
        ("import sys\nsys.exit(3)", "page.md:2 SystemExit: 3"),
        ("import asyncio\nraise asyncio.CancelledError", "page.md:2 asyncio.exceptions.CancelledError"),
        ("def f():\n    f()\nf()", "page.md:2 RecursionError: maximum recursion depth exceeded"),
        ("x = 1\nx = = 2", "page.md:2 SyntaxError: invalid syntax"),
        ("x = 1\nif x:", "page.md:2 IndentationError: expected an indented block after 'if' statement on line 2"),
        ("x = 1\nprint(\n", "page.md:2 SyntaxError: '(' was never closed"),
        ("x = '''\n\na", "page.md:1 SyntaxError: unterminated triple-quoted string literal"),
        ("x = 1\nreturn x", "page.md:2 SyntaxError: 'return' outside function"),
        ("x = 1\ny = '\x00'", "page.md:1 SyntaxError: source code string cannot contain null bytes"),
        ("x = 1\nawait x", "page.md:2 SyntaxError: 'await' outside function"),
        ("x = 1\ncompile('a\\nb = = 2', 'page.md', 'exec')", "page.md:2 SyntaxError: invalid syntax"),
    ],
)
def test_an_error_is_found_at_the_innermost_line_of_the_page(code: str, found: str, page: Namespace) -> None:
    assert found_at(page.run(lines(code))).startswith(found)


def test_an_error_in_a_function_of_an_earlier_block_is_found_there(page: Namespace) -> None:
    page.run(lines("def take(jobs):\n    return jobs.pop()", first=10))
    page.run(lines("def take_all(jobs):\n    while True:\n        take(jobs)", first=20))
    assert found_at(page.run(lines("x = [8]\ntake_all(x)", first=30))) == "page.md:11 IndexError: pop from empty list"


def test_an_error_in_an_included_file_is_found_there(write: Write, reader: PageReader, page: Namespace) -> None:
    write("snippets/take.py", "def take(jobs):\n    return jobs.pop()\n\n\nprint(take([8]))\ntake([])\n")
    path = write(
        "docs/page.md",
        """\
        # Page

        === "Python"

            ```python
            --8<-- "snippets/take.py:1:2"
            ```

        ```python
        print(take([9]))
        --8<-- "snippets/take.py:5:6"
        ```

        ```python
        --8<-- "snippets/take.py:1:2"
        jobs = []
        jobs.missing
        ```
        """,
    )
    first, second, third = reader.read(path).fences
    assert page.run(first.lines) == Printed((), None)
    printed = page.run(second.lines)
    assert printed.lines == ("9", "8")
    assert traceback_of(printed) == [
        "Traceback (most recent call last):",
        "  snippets/take.py:6",
        "    take([])",
        "  snippets/take.py:2, in take",
        "    return jobs.pop()",
        "IndexError: pop from empty list",
    ]
    # Its first line is also that of the first block.
    assert found_at(page.run(third.lines)) == "docs/page.md:17 AttributeError: 'list' object has no attribute 'missing'"


def test_a_traceback_shows_the_page_and_the_library_below_it_alone(
    write: Write, monkeypatch: pytest.MonkeyPatch, page: Namespace
) -> None:
    library = write("retrying_for_a_test.py", "def retry(call):\n    return call()\n")
    monkeypatch.syspath_prepend(library.parent)
    page.run(lines("import retrying_for_a_test\n\ndef take():\n    raise ValueError('no job')", first=10))
    block = """
        try:
            retrying_for_a_test.retry(take)
        except ValueError as error:
            raise KeyError from error
    """
    assert traceback_of(page.run(lines(block, first=20))) == [
        "Traceback (most recent call last):",
        "  page.md:21",
        "    retrying_for_a_test.retry(take)",
        f'  File "{library}", line 2, in retry',
        "    return call()",
        "  page.md:13, in take",
        "    raise ValueError('no job')",
        "ValueError: no job",
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        "Traceback (most recent call last):",
        "  page.md:23",
        "    raise KeyError from error",
        "KeyError",
    ]


def test_the_traceback_of_a_syntax_error_shows_its_line(page: Namespace) -> None:
    assert traceback_of(page.run(lines("x = 1\ny = = 2", first=10))) == [
        "  page.md:11",
        "    y = = 2",
        "SyntaxError: invalid syntax",
    ]


def test_only_an_interrupt_ends_the_run_of_the_page(page: Namespace) -> None:
    with pytest.raises(KeyboardInterrupt):
        page.run(lines("raise KeyboardInterrupt"))
    assert found_at(page.run(lines("import pytest\npytest.skip('not for me')"))) == "page.md:2 Skipped: not for me"


def test_a_block_can_read_its_source(page: Namespace) -> None:
    page.run(lines("def take(jobs):\n    return jobs.pop()"))
    ask = "import inspect\nprint(inspect.getsource(take))"
    assert page.run(lines(ask)).lines == ("def take(jobs):", "    return jobs.pop()", "")


def test_what_a_page_prints_of_its_places_is_the_same_in_each_run() -> None:
    def printed() -> Sequence[str]:
        page = Namespace()
        page.run(lines("def take():\n    raise ValueError"))
        block = lines(
            "import sys, traceback\ntry:\n    take()\nexcept ValueError:\n    traceback.print_exc(None, sys.stdout)"
        )
        shown = page.run(block).lines
        page.close()
        return shown

    assert printed() == printed()
    assert "ValueError" in printed()


def test_a_closed_page_leaves_nothing_behind() -> None:
    class Connection:
        closed = 0

        def __del__(self) -> None:
            Connection.closed += 1

    page = Namespace()
    page.run(lines("def use():\n    return connection\nconnection = make()"), {"make": Connection})
    page.close()
    assert Connection.closed == 1


def test_redis_py_reaches_the_server_that_the_environment_names(
    page: Namespace, started: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, port = started().address()
    monkeypatch.setenv("REDIS_URL", f"redis://{host}:{port}")
    page.run(lines("import os\nimport redis\n\nclient = redis.Redis.from_url(os.environ['REDIS_URL'], protocol=2)"))
    printed = page.run(
        lines("""
            print(client.zadd("wait", {"8": 1.5}), client.zpopmin("wait"))
            client.set("text", "a")
            client.zadd("text", {"8": 1})
        """)
    )
    assert printed.lines == ("1 [(b'8', 1.5)]",)
    assert found_at(printed) == (
        "page.md:3 redis.exceptions.ResponseError: WRONGTYPE Operation against a key holding the wrong kind of value"
    )


MEANT = lines("print('a', end='')\nraise ValueError('no such job')")


@pytest.mark.parametrize(
    ("shown", "compared"),
    [
        ("a\nValueError: no such job", ("a", "ValueError: no such job")),
        ("a\nValueError: no such job\n\n", ("a", "ValueError: no such job")),
        ("a\nValueError: another message", ("a", "ValueError: no such job")),
        ("ValueError", ("a", "ValueError: no such job")),
        ("a\nKeyError: no such job", ("a",)),
        ("a\nValueErrors happen", ("a",)),
        ("ValueError: no such job\na", ("a",)),
        ("a", ("a",)),
        ("", ("a",)),
    ],
)
def test_an_exception_is_output_where_its_name_is_the_last_line_shown(
    shown: str, compared: tuple[str, ...], page: Namespace
) -> None:
    assert python_code.judge(page.run(MEANT), lines(f"{shown}\n#")[:-1]) == compared


def test_a_line_that_names_an_exception_stays_untrue_when_none_is_raised(page: Namespace) -> None:
    assert python_code.judge(page.run(lines("print('a')")), lines("a\nValueError: no such job")) == ("a",)


def test_output_shown_without_lines_is_compared_too(page: Namespace) -> None:
    assert python_code.judge(page.run(lines("print('a')")), []) == ("a",)


def test_the_output_of_a_page_does_not_reach_the_one_who_runs_it(page: Namespace) -> None:
    heard = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", heard)
        page.run(lines("print('a')"))
    assert heard.getvalue() == ""


def test_code_that_does_not_end_is_an_error_at_the_line_where_it_was(
    page: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_code, "BLOCK_SECONDS", 0.1)
    endless = """
        while True:
            try:
                pass
            except Exception:
                pass
    """
    where, _, what = found_at(page.run(lines(endless))).partition(" ")
    assert where in [f"page.md:{number}" for number in range(1, 6)]
    assert what.endswith("OutOfTimeError: still running after 0.1 s")
    assert page.run(lines("print(1)")).lines == ("1",)


def test_a_page_leaves_environment_and_folder_as_they_were(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEPT", "before")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    page = Namespace()
    page.run(lines("import os; os.environ['KEPT'] = 'after'; os.environ['NEW'] = 'x'; os.chdir('inner')"))
    page.close()
    assert os.environ["KEPT"] == "before"
    assert "NEW" not in os.environ
    assert Path.cwd() == tmp_path
