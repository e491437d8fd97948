"""Files that an example's header puts into its folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from redis_transcripts import examples
from redis_transcripts.errors import PageError
from redis_transcripts.examples import ConsoleExample, PythonExample
from redis_transcripts.markdown import PageReader

Write = Callable[[str, str], Path]
ResultsOf = Callable[..., dict[str, str]]

PAGE = """\
```console { title="shell" files="lua/add.lua data/jobs.json" }
$ ls
add.lua
jobs.json
$ cat add.lua
return redis.call("INCR", KEYS[1])
```

```console { title="next shell" }
$ ls
```

```python { title="code" files="data/jobs.json" }
from pathlib import Path

print(sorted(map(str, Path().iterdir())), Path("jobs.json").read_text())
```

```output
['jobs.json'] [7, 8]
```

```python { title="same folder" files="lua/add.lua" }
print(sorted(map(str, Path().iterdir())))
```

```output
['add.lua', 'jobs.json']
```
"""


@pytest.fixture
def sources(write: Write) -> None:
    write("lua/add.lua", '--- @include "includes/call"\n')
    write("lua/includes/call.lua", 'return redis.call("INCR", KEYS[1])\n')
    write("data/jobs.json", "[7, 8]")


def test_an_example_finds_the_files_of_its_header_and_no_other(
    sources: None, write: Write, results_of: ResultsOf
) -> None:
    write("docs/page.md", PAGE)
    before = Path.cwd()
    results = results_of()
    assert set(results.values()) == {"passed"}
    assert len(results) == 4
    assert Path.cwd() == before


def test_the_next_page_is_back_in_the_folder_of_the_run(
    sources: None, write: Write, results_of: ResultsOf, tmp_path: Path
) -> None:
    write("docs/a.md", PAGE)
    where = '```python { title="where" }\nimport os\n\nprint(os.path.realpath("."))\n```\n\n'
    write("docs/b.md", f"{where}```output\n{tmp_path.resolve()}\n```\n")
    assert set(results_of().values()) == {"passed"}


def test_code_may_import_a_file_beside_it_and_the_next_page_its_own(write: Write, results_of: ResultsOf) -> None:
    for page, number in (("a", 7), ("b", 8)):
        write(f"{page}/jobs.py", f"NUMBER = {number}\n")
        code = f'```python {{ files="{page}/jobs.py" }}\nimport jobs\n\nprint(jobs.NUMBER)\n```\n\n'
        write(f"docs/{page}.md", f"{code}```output\n{number}\n```\n")
    before = list(sys.path)
    assert list(results_of().values()) == ["passed", "passed"]
    assert sys.path == before
    assert "jobs" not in sys.modules


def test_lua_has_its_includes(sources: None, write: Write, reader: PageReader, tmp_path: Path) -> None:
    code, *_ = examples.read(reader, write("page.md", PAGE), tmp_path / "lua")
    assert isinstance(code, ConsoleExample)
    assert [(file.name, file.content) for file in code.files] == [
        ("add.lua", b'return redis.call("INCR", KEYS[1])'),
        ("jobs.json", b"[7, 8]"),
    ]


def test_without_the_key_there_are_none(write: Write, reader: PageReader, tmp_path: Path) -> None:
    (code,) = examples.read(reader, write("page.md", "```python\nx = 1\n```\n"), tmp_path)
    assert isinstance(code, PythonExample)
    assert code.files == ()


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        (
            "lua/gone.lua",
            "lua/gone.lua cannot be read: No such file or directory; check the path and its permissions",
        ),
        (
            "data/gone.json",
            "data/gone.json cannot be read: No such file or directory; correct the path, which is relative to the top "
            "folder",
        ),
        ("data", "data cannot be read: Is a directory; correct the path, which is relative to the top folder"),
        (
            "data/jobs.json docs/jobs.json",
            "two files with the name jobs.json; rename one: both would lie in one folder",
        ),
        ("lua/lost.lua", "lua/includes/lost.lua cannot be read: No such file or directory; correct the path"),
    ],
)
def test_a_file_that_cannot_be_provided_is_named(
    files: str, fault: str, sources: None, write: Write, reader: PageReader, tmp_path: Path
) -> None:
    write("docs/jobs.json", "")
    write("lua/lost.lua", '--- @include "includes/lost"\n')
    page = write("page.md", f'text\n\n```python {{ files="{files}" }}\nx = 1\n```\n')
    with pytest.raises(PageError) as refused:
        examples.read(reader, page, tmp_path / "lua")
    (problem,) = str(refused.value).splitlines()
    assert fault in problem


def test_a_redis_block_has_no_folder(write: Write, reader: PageReader, tmp_path: Path) -> None:
    page = write("page.md", '```redis { files="a" }\n> PING\nPONG\n```\n')
    with pytest.raises(PageError, match="unknown word or key `files`"):
        examples.read(reader, page, tmp_path)
