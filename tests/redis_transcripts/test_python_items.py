"""Python blocks as items of pytest-markdown-docs: their order and ids, what they share, and what they are judged by."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_markdown_docs import _runners
from pytest_markdown_docs.plugin import MarkdownInlinePythonItem

from redis_transcripts import server

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

CONNECT = """\
import os

import redis

r = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
"""

SHARED = f"""\
```redis {{ title="first" }}
> SET counter 5
OK
```

```python {{ title="client" }}
{CONNECT}print(r.incr("counter"))
```

```output
6
```

```redis {{ title="between" }}
> INCR counter
(integer) 7
```

!!! note

    ```python
    def add(by):
        return r.incr("counter", by)


    print(add(10))
    ```

    ```output
    17
    ```
"""

SHARED_IDS = [
    "docs/page.md::redis[first]",
    "docs/page.md::python[client]",
    "docs/page.md::redis[between]",
    "docs/page.md::python[def add(by):]",
]


def test_python_blocks_are_items_of_pytest_markdown_docs_among_the_others(
    project: pytest.Pytester, write: Write
) -> None:
    write("docs/page.md", SHARED)
    (called,) = project.inline_run("--collect-only").getcalls("pytest_collection_finish")
    assert [item.nodeid for item in called.session.items] == SHARED_IDS
    assert [isinstance(item, MarkdownInlinePythonItem) for item in called.session.items] == [False, True, False, True]


def test_a_page_has_one_namespace_and_one_server_with_its_other_blocks(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", SHARED)
    write("docs/z.md", '```python { title="apart" }\nprint("r" in globals())\n```\n\n```output\nFalse\n```\n')
    assert results_of() == dict.fromkeys([*SHARED_IDS, "docs/z.md::python[apart]"], "passed")


def test_a_page_that_begins_with_python_finds_an_empty_server(write: Write, results_of: ResultsOf) -> None:
    write("docs/a.md", '```redis { title="left" }\n> SET counter 5\nOK\n```\n')
    write(
        "docs/b.md",
        f'```python {{ title="first" }}\n{CONNECT}print(r.incr("counter"))\n```\n\n```output\n1\n```\n\n'
        '```redis { title="second" }\n> INCR counter\n(integer) 2\n```\n',
    )
    results = results_of()
    assert results["docs/b.md::python[first]"] == "passed"
    assert results["docs/b.md::redis[second]"] == "passed"


def test_what_code_does_to_the_server_does_not_reach_the_next_page(write: Write, results_of: ResultsOf) -> None:
    code = f'{CONNECT}r.config_set("maxmemory", "100mb")'
    one_line = "; ".join(line for line in code.split("\n") if line)
    shell = f"$ python -c '{one_line}'"
    seen = '> CONFIG GET maxmemory\n1) "maxmemory"\n2) "0"'
    write("docs/a.md", f'```python {{ title="leaves" }}\n{code}\n```\n')
    write("docs/b.md", f'```redis {{ title="sees" }}\n{seen}\n```\n\n```console {{ title="leaves" }}\n{shell}\n```\n')
    write("docs/c.md", f'```redis {{ title="sees" }}\n{seen}\n```\n')
    results = results_of()
    assert set(results.values()) == {"passed"}
    assert len(results) == 4


ONCE = f"""\
```python {{ title="client" }}
{CONNECT}```

```python {{ title="raises" }}
r.incr("raises")
raise ValueError("no such job")
```

```python {{ title="has a wrong type" }}
r.incr("wrong type")
len(1)
```

```python {{ title="prints something else" }}
print(r.incr("other"))
```

```output
2
```

```redis {{ title="times" }}
> MGET raises "wrong type" other
1) "1"
2) "1"
3) "1"
```
"""


def test_a_block_is_executed_once_also_when_it_fails(write: Write, results_of: ResultsOf) -> None:
    """pytest-markdown-docs by itself runs a block again that raises a TypeError."""
    write("docs/page.md", ONCE)
    names = ("raises", "has a wrong type", "prints something else")
    client, times = "docs/page.md::python[client]", "docs/page.md::redis[times]"
    failing = [f"docs/page.md::python[{name}]" for name in names]
    whole = results_of()
    assert whole[client] == whole[times] == "passed"
    assert not [name for name in failing if whole[name] == "passed"]
    assert results_of(failing[1]) == {failing[1]: whole[failing[1]]}
    assert results_of(times, failing[0]) == {times: "passed", failing[0]: whole[failing[0]]}


def test_what_is_printed_is_compared_with_the_output_below(write: Write, results_of: ResultsOf) -> None:
    write(
        "docs/page.md",
        """\
        ```python { title="other" }
        for job in (7, 8, 9):
            print("job", job)
        ```

        ```output
        job 7
        job 10
        job 9
        ```

        ```python { title="missing" }
        print("a")
        print("b")
        ```

        ```output
        a
        ```

        ```python { title="extra" }
        print("a")
        ```

        ```output
        a
        b
        ```

        ```python { title="nothing shown" }
        print("a")
        ```

        ```python { title="nothing printed" }
        pass
        ```

        ```output
        a
        ```
        """,
    )
    diff = "--- shown\n+++ received\n"
    assert results_of() == {
        "docs/page.md::python[other]": "docs/page.md:8: Python answers otherwise\nother\n"
        f"{diff}@@ -1,3 +1,3 @@\n job 7\n-job 10\n+job 8\n job 9",
        "docs/page.md::python[missing]": "docs/page.md:12: Python answers otherwise\nmissing\n"
        f"{diff}@@ -1 +1,2 @@\n a\n+b",
        "docs/page.md::python[extra]": f"docs/page.md:27: Python answers otherwise\nextra\n{diff}@@ -1,2 +1 @@\n a\n-b",
        "docs/page.md::python[nothing shown]": "docs/page.md:30: Python answers otherwise\nnothing shown\n"
        f"{diff}@@ -0,0 +1 @@\n+a",
        "docs/page.md::python[nothing printed]": "docs/page.md:39: Python answers otherwise\nnothing printed\n"
        f"{diff}@@ -1 +0,0 @@\n-a",
    }


def test_an_uncaught_error_is_shown_at_its_own_line(project: pytest.Pytester, write: Write) -> None:
    write(
        "snippets/score.py",
        "# --8<-- [start:unpack]\ndef unpack(score):\n    return score // 0\n# --8<-- [end:unpack]\n",
    )
    write(
        "docs/page.md",
        """\
        ```python { title="raises" }
        jobs = {}

        jobs["8"]
        ```

        ```python { title="included" }
        --8<-- "snippets/score.py:unpack"


        unpack(1)
        ```

        ```python { title="text" }
        jobs = (
        ```
        """,
    )
    result = project.runpytest_inprocess("-v")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "docs/page.md:4: KeyError: '8'",
            "Traceback (most recent call last):",
            "  docs/page.md:4",
            "snippets/score.py:3: ZeroDivisionError: *",
            "Traceback (most recent call last):",
            "  docs/page.md:11",
            "  snippets/score.py:3, in unpack",
            "docs/page.md:15: SyntaxError: '(' was never closed",
            "FAILED docs/page.md::python[[]raises[]] - docs/page.md:4: KeyError: '8'",
            "FAILED docs/page.md::python[[]included[]] - snippets/score.py:3: ZeroDivi*",
        ]
    )


def test_an_example_that_is_meant_to_raise_shows_the_last_line_of_its_traceback(
    write: Write, results_of: ResultsOf
) -> None:
    write(
        "docs/page.md",
        """\
        ```python { title="raises" }
        print("packing")
        raise ValueError("priority 2097152 has no exact score")
        ```

        ```output
        packing
        ValueError: priority 2097152 has no exact score
        ```

        ```python { title="says something else" }
        raise ValueError("too large")
        ```

        ```output
        ValueError: too small
        ```

        ```python { title="raises another" }
        raise TypeError("text")
        ```

        ```output
        ValueError: text
        ```

        ```python { title="does not raise" }
        pass
        ```

        ```output
        ValueError: text
        ```
        """,
    )
    results = results_of()
    assert results.pop("docs/page.md::python[raises]") == "passed"
    another = results.pop("docs/page.md::python[raises another]")
    assert another.splitlines()[:3] == [
        "docs/page.md:20: TypeError: text",
        "Traceback (most recent call last):",
        "  docs/page.md:20",
    ]
    assert results == {
        "docs/page.md::python[says something else]": "docs/page.md:16: Python answers otherwise\nsays something else\n"
        "--- shown\n+++ received\n@@ -1 +1 @@\n-ValueError: too small\n+ValueError: too large",
        "docs/page.md::python[does not raise]": "docs/page.md:32: Python answers otherwise\ndoes not raise\n"
        "--- shown\n+++ received\n@@ -1 +0,0 @@\n-ValueError: text",
    }


SHOWS_URL = """\
```python { title="python" }
import os
import re

print(re.sub("[0-9]+$", "PORT", os.environ["REDIS_URL"]))
```

```output
redis://127.0.0.1:PORT
```

```console { title="console" }
$ echo ${REDIS_URL%:*}
redis://127.0.0.1
```

```python { title="raises" }
raise SystemExit(1)
```

```output
SystemExit: 1
```
"""


@pytest.mark.parametrize("before", [None, "redis://192.0.2.1:1/9"])
def test_an_example_finds_the_server_in_redis_url_and_nothing_else_does(
    before: str | None, write: Write, results_of: ResultsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before:
        monkeypatch.setenv("REDIS_URL", before)
    else:
        monkeypatch.delenv("REDIS_URL", raising=False)
    write("docs/page.md", SHOWS_URL)
    results = results_of(f"--redis-server={server.find(None).path}")
    assert set(results.values()) == {"passed"}
    assert os.environ.get("REDIS_URL") == before


def test_a_block_gets_the_fixtures_that_its_header_names(write: Write, results_of: ResultsOf) -> None:
    write(
        "conftest.py",
        """\
        import pytest


        @pytest.fixture
        def job():
            return "job:8"


        @pytest.fixture
        def broken():
            raise LookupError("no job at all")


        def pytest_markdown_docs_globals():
            return {"tier": 1}
        """,
    )
    write(
        "docs/page.md",
        """\
        ```python { title="named" fixture:job }
        print(job, tier)
        ```

        ```output
        job:8 1
        ```

        ```python { title="broken" fixture:broken }
        print(broken)
        ```

        ```output
        job:8
        ```
        """,
    )
    results = results_of()
    assert results["docs/page.md::python[named]"] == "passed"
    assert "LookupError: no job at all" in results["docs/page.md::python[broken]"]
    assert results_of("docs/page.md::python[named]") == {"docs/page.md::python[named]": "passed"}


def test_with_markdown_docs_on_a_page_is_still_collected_once(write: Write, results_of: ResultsOf) -> None:
    write("docs/page.md", SHARED)
    write("README.md", '```python { title="named" }\nprint("a")\n```\n\n```output\na\n```\n')
    write("notes.md", "```python\nassert True\n```\n")
    write("tests/jobs.py", '"""Jobs.\n\n```python\nassert True\n```\n"""\n')
    assert results_of("--markdown-docs", "README.md") == {"README.md::python[named]": "passed"}
    whole = results_of("--markdown-docs")
    assert set(whole.values()) == {"passed"}
    assert set(SHARED_IDS) < set(whole)
    others = sorted(set(whole) - set(SHARED_IDS))
    assert others == [
        "README.md::[CodeFence#1][line:1]",
        "notes.md::[CodeFence#1][line:1]",
        "tests/jobs.py::jobs[CodeFence#1][line:3]",
    ]


UNTOUCHED = """\
```python { title="Two members tie" }
import collections

tie = collections.Counter(["8", "10"])
```

```python { title="is continued" continuation }
assert tie["8"] == 1
```

```python { title="has a fixture" fixture:job hl_lines="1" }
assert job == "job:8"
```

```python { title="is false" }
assert "8" < "10"
```
"""


def test_the_untouched_plugin_runs_our_fences(write: Write, tmp_path: Path) -> None:
    """They stay its fences, for whoever reads the pages without this package."""
    write("pytest.ini", "[pytest]\naddopts = -p no:valkey -p no:redis_transcripts --markdown-docs -rA\n")
    write("conftest.py", 'import pytest\n\n\n@pytest.fixture\ndef job():\n    return "job:8"\n')
    write("page.md", UNTOUCHED)
    command = [sys.executable, "-m", "pytest", "--markdown-docs-syntax=superfences"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert [line for line in result.stdout.splitlines() if "::" in line] == [
        "PASSED page.md::[CodeFence#1][line:1]",
        "PASSED page.md::[CodeFence#2][line:7]",
        "PASSED page.md::[CodeFence#3][line:11]",
        "FAILED page.md::[CodeFence#4][line:15] - Error in code block:",
    ]


def test_a_project_that_uses_pytest_markdown_docs_alone_is_left_alone(project: pytest.Pytester, write: Write) -> None:
    write("pytest.ini", "[pytest]\naddopts = -p no:valkey --markdown-docs\n")
    write(
        "notes.md",
        "# Notes\n\n    indented\n\n```python notest\nnot python\n```\n\n```python\nassert 1 == 2, 'ties'\n```\n",
    )
    result = project.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("redis transcripts:*")
    result.stdout.fnmatch_lines(
        ["10   assert 1 == 2, 'ties'", "FAILED notes.md::[[]CodeFence#1[]][[]line:9[]] - Error in code block:"]
    )


OWN_RUNNER = """\
import pathlib

import pytest_markdown_docs._runners as runners


@runners.register_runner(default=True)
class OwnRunner(runners.DefaultRunner):
    def runtest(self, test, args):
        with pathlib.Path("ran.txt").open("a") as ran:
            ran.write(f"{test.source_path.name}\\n")
        super().runtest(test, args)
"""


def test_a_runner_that_a_project_makes_the_default_runs_its_own_fences_and_not_ours(
    results_of: ResultsOf, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_runners, "_default_runner", _runners._default_runner)
    write("conftest.py", OWN_RUNNER)
    write("docs/page.md", SHARED)
    write("notes.md", "```python\npass\n```\n")
    passed = [*SHARED_IDS, "notes.md::[CodeFence#1][line:1]"]
    assert results_of("--markdown-docs") == dict.fromkeys(passed, "passed")
    assert (tmp_path / "ran.txt").read_text() == "notes.md\n"
