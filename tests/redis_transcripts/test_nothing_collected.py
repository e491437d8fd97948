"""A run over pages that finds no example is not green; a run that has nothing to do with pages is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]

PAGE = "```redis\n> PING\nPONG\n```\n"
TEST = "def test_other() -> None:\n    assert True\n"
NO_EXAMPLES = "---\nexamples: none, because it lists terms\n---\n"


@pytest.fixture(autouse=True)
def other_test(write: Write) -> None:
    write("tests/other/test_other.py", TEST)


@pytest.mark.parametrize("arguments", [(), (".",), ("docs",), ("tests", "docs")], ids=" ".join)
@pytest.mark.parametrize(
    "pages", [{}, {"docs/note.txt": PAGE}, {"docs/terms.md": NO_EXAMPLES}], ids=["none", "text", "terms"]
)
def test_a_run_over_pages_without_an_example_fails_whatever_else_passes(
    arguments: tuple[str, ...], pages: dict[str, str], project: pytest.Pytester, tmp_path: Path, write: Write
) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in pages.items():
        write(name, text)
    result = project.runpytest_inprocess(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: no example was collected from {tmp_path}/docs; check `redis_pages`*"])


def test_a_folder_of_pages_that_is_missing_fails_too(project: pytest.Pytester, tmp_path: Path) -> None:
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: no example was collected from {tmp_path}/docs; *"])


def test_a_page_that_cannot_be_read_is_the_only_complaint(project: pytest.Pytester, write: Write) -> None:
    write("docs/page.md", "```redis { fersh }\n> PING\nPONG\n```\n")
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stderr.no_fnmatch_line("*no example*")


def test_an_error_elsewhere_is_shown_first(project: pytest.Pytester, write: Write) -> None:
    write("tests/other/test_broken.py", "import nothing_of_this_name\n")
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*No module named 'nothing_of_this_name'"])


def test_a_run_of_other_tests_is_left_alone(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess("tests/other")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("redis transcripts:*")


def test_choosing_other_tests_by_name_is_left_alone(project: pytest.Pytester, write: Write) -> None:
    write("docs/page.md", PAGE)
    result = project.runpytest_inprocess("-k", "test_other")
    result.assert_outcomes(passed=1, deselected=1)
    assert result.ret == pytest.ExitCode.OK


def test_running_the_last_failures_is_left_alone(project: pytest.Pytester, write: Write) -> None:
    write("docs/page.md", PAGE)
    write("tests/other/test_false.py", "def test_false() -> None:\n    assert False\n")
    project.runpytest_inprocess().assert_outcomes(passed=2, failed=1)
    result = project.runpytest_inprocess("--last-failed")
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stderr.no_fnmatch_line("*no example*")


@pytest.mark.parametrize("arguments", [(), ("tests",), (".",)], ids=" ".join)
def test_a_project_without_pages_of_its_own_is_not_disturbed(
    arguments: tuple[str, ...], project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    write("pytest.ini", "[pytest]\n")
    write("README.md", "# A title\n\n    indented code\n")
    result = project.runpytest_inprocess(*arguments)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("redis transcripts:*")


def test_a_page_that_is_named_is_run_although_no_folder_is_configured(project: pytest.Pytester, write: Write) -> None:
    write("pytest.ini", "[pytest]\n")
    write("README.md", PAGE)
    result = project.runpytest_inprocess("README.md", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["redis transcripts: *", "README.md::redis[[]PING[]] PASSED*"])
