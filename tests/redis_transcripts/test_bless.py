"""``--bless`` writes the real answers into the pages, and touches nothing that is true."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def blessed(project: pytest.Pytester) -> Callable[..., list[str]]:
    """Blesses the project's pages, and returns what the run says that it changed. Then the pages are true."""

    def bless(*arguments: str) -> list[str]:
        result = project.runpytest_inprocess("--bless", *arguments)
        assert result.ret == pytest.ExitCode.OK
        told = section(result)
        assert project.runpytest_inprocess(*arguments).ret == pytest.ExitCode.OK
        return told

    return bless


def section(result: pytest.RunResult) -> list[str]:
    """Return the lines between the heading of what was blessed and the summary."""
    headings = [number for number, line in enumerate(result.outlines) if line.strip("= ") == "blessed"]
    return result.outlines[headings[0] + 1 : -2] if headings else []


@pytest.mark.parametrize(
    "block",
    [
        '```console { title="x" }\n$ echo "\\$ touch it"\nit\n```\n',
        '```python { title="x" }\nprint("```")\n```\n\n```output\nx\n```\n',
        '```python { title="x" }\nprint(\'--8<-- "LICENSE"\')\n```\n\n```output\nx\n```\n',
        '```python { title="x" }\nprint("a\\tb")\n```\n\n```output\na b\n```\n',
        '```redis { title="x" }\n> EVAL "return redis.status_reply(\'> PING\')" 0\nx\n```\n',
    ],
    ids=["a typed line of a shell", "a fence", "an include", "a tab", "a typed line"],
)
def test_a_line_that_a_page_would_read_as_something_else_is_not_written(
    project: pytest.Pytester, write: Write, block: str
) -> None:
    page = write("docs/page.md", block)
    result = project.runpytest_inprocess("--bless")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["docs/page.md:*: a page cannot show `*`, which would be read as something else"])
    assert page.read_text() == block


def test_a_page_that_cannot_be_written_to_keeps_the_others_as_they_are(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [write(f"docs/{name}.md", "```redis\n> PING\nPANG\n```\n") for name in "abc"]
    really_open = Path.open

    def refuse(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if path == pages[1] and mode == "r+b":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        return really_open(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    result = project.runpytest_inprocess("--bless")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result)[0] == "nothing was written:"
    assert section(result)[1].endswith("b.md: Operation not permitted; make it writable")
    assert {page.read_text() for page in pages} == {"```redis\n> PING\nPANG\n```\n"}


KINDS = """\
# Every kind of answer  \n
Text that stays.\t

```redis { title="redis" }
> RPUSH jobs 7 8 9
(integer) 1
> LRANGE jobs 0 -1
1) "7"
2) "10"
3) "9"
> LLEN jobs
(integer) 3
```

```lua { title="lua" keys="jobs" }
return redis.call("LLEN", KEYS[1])
```

```reply
(integer) 7
```

```python { title="python" }
print("a")
print("b")
```

```output
a
c
```

```console { title="console" }
$ echo a
b
$ echo b
b
```
"""

KINDS_TOLD = """\
docs/page.md:7
-(integer) 1
+(integer) 3
docs/page.md:10
-2) "10"
+2) "8"
docs/page.md:21
-(integer) 7
+(integer) 3
docs/page.md:31
-c
+b
docs/page.md:36
-b
+a
"""


def test_just_the_lines_that_differ_are_rewritten_and_told(
    blessed: Callable[..., list[str]], write: Write, tmp_path: Path
) -> None:
    page = write("docs/page.md", KINDS)
    before = page.read_text().splitlines()
    assert blessed() == KINDS_TOLD.splitlines()
    changed = {7: "(integer) 3", 10: '2) "8"', 21: "(integer) 3", 31: "b", 36: "a"}
    assert page.read_text().splitlines() == [changed.get(number, line) for number, line in enumerate(before, 1)]


def test_lines_are_added_and_removed(blessed: Callable[..., list[str]], write: Write) -> None:
    page = write(
        "docs/page.md",
        '```redis { title="x" }\n> RPUSH jobs 7 8 9\n(integer) 3\n> LRANGE jobs 0 -1\n1) "7"\n'
        '> LRANGE jobs 1 1\n1) "8"\n2) "9"\n3) "10"\n\n> LLEN jobs\n(integer) 3\n```\n\n'
        '```console { title="y" }\n$ printf "a\\nb\\nc"\nb\nd\n```\n',
    )
    assert blessed() == [
        *("docs/page.md:6", '+2) "8"', '+3) "9"'),
        *("docs/page.md:8", '-2) "9"', '-3) "10"'),
        *("docs/page.md:17", "+a"),
        *("docs/page.md:18", "-d", "+c"),
    ]
    assert page.read_text() == (
        '```redis { title="x" }\n> RPUSH jobs 7 8 9\n(integer) 3\n> LRANGE jobs 0 -1\n1) "7"\n2) "8"\n3) "9"\n'
        '> LRANGE jobs 1 1\n1) "8"\n\n> LLEN jobs\n(integer) 3\n```\n\n'
        '```console { title="y" }\n$ printf "a\\nb\\nc"\na\nb\nc\n```\n'
    )


def test_new_lines_are_indented_as_those_around_them(blessed: Callable[..., list[str]], write: Write) -> None:
    template = """\
        !!! note

            === "Tab"

                ```python
                print("first")
                print()
                print("  last")
                ```

                ```output
{output}
                ```

        - a list

            ```redis
            > RPUSH jobs 7 8
            {count}
            ```

        > ```redis
        > > LRANGE jobs 0 -1
{jobs}
        > ```
        """
    space = " " * 8
    page = write(
        "docs/page.md",
        template.format(output=f"{space}        second", count="(integer) 9", jobs=f'{space}> 1) "9"'),
    )
    assert len(blessed()) > 0
    wanted = write(
        "wanted.md",
        template.format(
            output=f"{space}        first\n\n{space}          last",
            count="(integer) 2",
            jobs=f'{space}> 1) "7"\n{space}> 2) "8"',
        ),
    )
    assert page.read_text() == wanted.read_text()


def test_what_an_included_file_shows_is_rewritten_there(
    blessed: Callable[..., list[str]], write: Write, tmp_path: Path
) -> None:
    whole = write("parts/fence.md", 'A text.\n\n  ```redis\n  > ECHO a\n  "b"\n  ```\n')
    lines = write("parts/lines.txt", '# --8<-- [start:answer]\n> ECHO c\n"d"\n# --8<-- [end:answer]\n')
    short = write("parts/short.txt", '> RPUSH jobs 7 8\n(integer) 2\n> LRANGE jobs 0 -1\n1) "7"')
    page = write(
        "docs/page.md",
        '--8<-- "parts/fence.md"\n\n```redis\n--8<-- "parts/lines.txt:answer"\n```\n\n'
        '!!! note\n\n    ```redis\n    --8<-- "parts/short.txt"\n    ```\n',
    )
    before = page.read_text()
    assert blessed() == [
        *("parts/fence.md:5", '-"b"', '+"a"'),
        *("parts/lines.txt:3", '-"d"', '+"c"'),
        *("parts/short.txt:5", '+2) "8"'),
    ]
    assert page.read_text() == before
    assert whole.read_text() == 'A text.\n\n  ```redis\n  > ECHO a\n  "a"\n  ```\n'
    assert lines.read_text() == '# --8<-- [start:answer]\n> ECHO c\n"c"\n# --8<-- [end:answer]\n'
    assert short.read_text() == '> RPUSH jobs 7 8\n(integer) 2\n> LRANGE jobs 0 -1\n1) "7"\n2) "8"'


def test_the_line_ends_and_the_encoding_of_a_file_stay(
    blessed: Callable[..., list[str]], project: pytest.Pytester, write: Write
) -> None:
    page = write("docs/page.md", "")
    text = '\ufeff# Caf\u00e9\n\n```redis\n> RPUSH jobs 7 8\n(integer) 2\n> LRANGE jobs 0 -1\n1) "9"\n```\n'
    text = text.replace("\n", "\r\n")
    page.write_bytes(text.encode())
    blessed()
    assert page.read_bytes() == text.replace('1) "9"', '1) "7"\r\n2) "8"').encode()


def test_lines_that_vary_stay_where_they_agree(blessed: Callable[..., list[str]], write: Write) -> None:
    page = write(
        "docs/page.md",
        '```redis { title="x" varies="id" }\n> RPUSH jobs id:7 tier id:8 end\n(integer) ...\n'
        '> LRANGE jobs 0 -1\n1) "id:...\n2) "id:...\n3) "end"\n```\n\n'
        '```redis { title="y" varies="id" }\n> LRANGE jobs 0 2\n1) "id:...\n2) "job...\n3) "id:...\n```\n\n'
        '```python { title="z" varies="time" }\nimport time\n\n'
        'print("begin", time.time())\nprint("new")\nprint("end", time.time())\n```\n\n'
        "```output\nbegin ...\nend ...\n```\n",
    )
    assert blessed() == [
        *("docs/page.md:6", '-2) "id:...', '-3) "end"', '+2) "tier"', '+3) "id:8"', '+4) "end"'),
        *("docs/page.md:13", '-2) "job...', '+2) "tier"'),
        *("docs/page.md:27", "+new"),
    ]
    assert "begin ...\nnew\nend ...\n" in page.read_text()


def test_entries_without_an_order_stay_where_they_are(blessed: Callable[..., list[str]], write: Write) -> None:
    page = write(
        "docs/page.md",
        '```redis { title="x" unordered }\n> ZADD waiting 1 a 2 b 3 c 4 d\n(integer) 4\n'
        '> ZRANGE waiting 0 -1 WITHSCORES\n1) "d"\n2) "4"\n3) "b"\n4) "3"\n5) "a"\n6) "1"\n```\n',
    )
    blessed()
    assert page.read_text() == (
        '```redis { title="x" unordered }\n> ZADD waiting 1 a 2 b 3 c 4 d\n(integer) 4\n'
        '> ZRANGE waiting 0 -1 WITHSCORES\n1) "d"\n2) "4"\n3) "b"\n4) "2"\n5) "a"\n6) "1"\n7) "c"\n8) "3"\n```\n'
    )


def test_a_fault_that_is_expected_is_not_blessed(blessed: Callable[..., list[str]], write: Write) -> None:
    page = write(
        "docs/page.md",
        '```redis { title="x" xfail="a known fault" }\n> PING\nPANG\n```\n\n'
        '```redis { title="y" }\n> PING\nPANG\n```\n',
    )
    assert blessed() == ["docs/page.md:8", "-PANG", "+PONG"]
    assert page.read_text().count("PANG") == 1


def test_one_block_alone_is_blessed_alone(blessed: Callable[..., list[str]], write: Write) -> None:
    page = write(
        "docs/page.md",
        '```redis { title="x" }\n> INCR a\n(integer) 7\n```\n\n```redis { title="y" }\n> INCR a\n(integer) 7\n```\n',
    )
    assert blessed("docs/page.md::redis[y]") == ["docs/page.md:8", "-(integer) 7", "+(integer) 2"]
    assert page.read_text().count("(integer) 7") == 1


def test_a_true_page_is_left_as_it_is(project: pytest.Pytester, write: Write) -> None:
    page = write("docs/page.md", '```redis { title="x" varies="id" }\n> ECHO a  \n"a"  \n> ECHO b\n"...\n\n```\n')
    before = page.stat().st_mtime_ns, page.read_bytes()
    result = project.runpytest_inprocess("--bless")
    assert result.ret == pytest.ExitCode.OK
    assert section(result) == []
    assert (page.stat().st_mtime_ns, page.read_bytes()) == before


def test_without_the_option_nothing_is_written(project: pytest.Pytester, write: Write) -> None:
    page = write("docs/page.md", KINDS)
    before = page.read_bytes()
    assert project.runpytest_inprocess().ret == pytest.ExitCode.TESTS_FAILED
    assert page.read_bytes() == before


NO_PLACE = {
    "nothing is shown": (
        '```python { title="x" }\nprint("a")\n```\n',
        "docs/page.md:1: no place to write the answer of `x` to; add it by hand",
    ),
    "nothing is shown below a command": (
        '```console { title="x" }\n$ true\n$ echo a\n```\n',
        "docs/page.md:3: no place to write the answer of `$ echo a` to; add it by hand",
    ),
    "nothing came": (
        '```python { title="x" }\npass\n```\n\n```output\na\n```\n',
        "docs/page.md:1: nothing came from `x`; delete what is shown by hand",
    ),
    "lines of two files": (
        '```redis { title="x" }\n> MGET a b\n1) "1"\n--8<-- "part.txt"\n```\n',
        "docs/page.md:3: what is shown comes from more than one place; edit it by hand",
    ),
}


@pytest.mark.parametrize(("text", "says"), NO_PLACE.values(), ids=NO_PLACE)
def test_where_nothing_can_be_written_the_block_fails_and_says_so(
    text: str, says: str, project: pytest.Pytester, write: Write
) -> None:
    write("part.txt", "2) (nil)\n")
    page = write("docs/page.md", text)
    (report,) = project.inline_run("--bless").getreports("pytest_runtest_logreport")[1:2]
    assert str(report.longrepr) == says
    assert page.read_text() == text


def test_an_example_that_came_to_no_end_fails_and_is_not_blessed(project: pytest.Pytester, write: Write) -> None:
    text = '```python { title="x" }\nprint("a")\nraise ValueError("no job")\n```\n\n```output\nb\n```\n'
    page = write("docs/page.md", text)
    result = project.runpytest_inprocess("--bless")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["docs/page.md:3: ValueError: no job"])
    assert page.read_text() == text


SHARED = '```redis {{ title="x" }}\n> SET counter {counter}\nOK\n--8<-- "shown.txt"\n```\n'


@pytest.mark.parametrize("others", [("2", "3"), ("1", "2"), ("2", "1")], ids=["both differ", "second", "first"])
def test_two_pages_that_show_one_file_and_answer_differently_leave_all_as_it_is(
    others: tuple[str, str], project: pytest.Pytester, write: Write
) -> None:
    files = [
        write("shown.txt", '> GET counter\n"1"\n'),
        write("docs/a.md", "```redis\n> PING\nPANG\n```\n\n" + SHARED.format(counter=others[0])),
        write("docs/b.md", SHARED.format(counter=others[1])),
    ]
    before = [file.read_text() for file in files]
    result = project.runpytest_inprocess("--bless")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result) == [
        "nothing was written:",
        "shown.txt:2: two examples show this and answer differently; edit it by hand",
    ]
    assert [file.read_text() for file in files] == before


def test_two_pages_that_show_one_file_and_agree_rewrite_it_once(
    blessed: Callable[..., list[str]], write: Write
) -> None:
    shown = write("shown.txt", '> GET counter\n"1"\n')
    write("docs/a.md", SHARED.format(counter="2"))
    write("docs/b.md", SHARED.format(counter="2"))
    assert blessed() == ["shown.txt:2", '-"1"', '+"2"']
    assert shown.read_text() == '> GET counter\n"2"\n'


def test_a_file_that_changed_during_the_run_is_left_as_it_is(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write(
        "docs/page.md",
        '```redis { title="x" }\n> PING\nPANG\n```\n\n'
        '```console { title="y" }\n$ sed -i s/PANG/PUNG/ "$PAGES/page.md"\n```\n',
    )
    monkeypatch.setenv("PAGES", str(page.parent))
    result = project.runpytest_inprocess("--bless")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result) == [
        "nothing was written:",
        "docs/page.md:3: this line is not what the page shows; edit it by hand, or run again",
    ]
    assert "\nPUNG\n" in page.read_text()


REFUSED = "ERROR: --bless rewrites pages: run it on your machine, without CI=true and in one process"


def test_it_is_refused_where_ci_is_set(project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    page = write("docs/page.md", KINDS)
    before = page.read_bytes()
    monkeypatch.setenv("CI", "true")
    result = project.runpytest_inprocess("--bless")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([REFUSED])
    assert page.read_bytes() == before


def test_it_is_refused_in_several_processes(project: pytest.Pytester, write: Write) -> None:
    page = write("docs/page.md", KINDS)
    before = page.read_bytes()
    result = project.runpytest_inprocess("--bless", "-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([REFUSED])
    assert page.read_bytes() == before
