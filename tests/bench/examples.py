"""``make bench``: what an example costs, as ratios from one run.

Each round runs pytest as a process of its own over the same number of tests, one variant after the other, with the same
plugins loaded. The figures are medians of the rounds; only the ratios carry over to another machine.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts.markdown import PageReader
from redis_transcripts.site_config import markdown_extensions

PAGES = 20

# A process of its own that reports the peak memory of the pytest run it waits for, in kB (in bytes on macOS).
_PEAK = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to run a number of tests: what writes them into a folder, and pytest's settings for them."""

    name: str
    write: Callable[[Path, int], None]
    settings: str = ""


def plain_tests(folder: Path, count: int) -> None:
    """Tests that do nothing."""
    test = "import pytest\n\n\n@pytest.mark.parametrize('number', range({}))\ndef test_nothing(number):\n    pass\n"
    (folder / "test_plain.py").write_text(test.format(count))


def checked_examples(folder: Path, count: int, word: str = "") -> None:
    """Redis examples on 20 pages, each with a reply that is compared."""
    for page in range(PAGES):
        blocks = [
            f'```redis {{ title="Example {number}" {word} }}\n> SET key:{number} {number}\nOK\n```\n'
            for number in range(count // PAGES)
        ]
        (folder / f"page{page:02}.md").write_text("# A page\n\n" + "\n".join(blocks))


def fresh_examples(folder: Path, count: int) -> None:
    """The same, each on an empty server."""
    checked_examples(folder, count, "fresh")


def python_fences(folder: Path, count: int) -> None:
    """Trivial fences for pytest-markdown-docs."""
    for page in range(PAGES):
        (folder / f"page{page:02}.md").write_text("# A page\n\n" + "```python\nx = 1\n```\n\n" * (count // PAGES))


PLAIN = Variant("plain pytest", plain_tests)
EXAMPLES = Variant("redis examples", checked_examples, "redis_pages = .")
MARKDOWN_DOCS = Variant("pytest-markdown-docs", python_fences, "addopts = --markdown-docs")
VARIANTS = (
    PLAIN,
    EXAMPLES,
    Variant("redis examples, each fresh", fresh_examples, "redis_pages = ."),
    MARKDOWN_DOCS,
)


def run(variant: Variant, count: int) -> tuple[float, int]:
    """Return the seconds and the peak memory in kB of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variant.write(folder, count)
        (folder / "pytest.ini").write_text(f"[pytest]\n{variant.settings}\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:valkey", "-p", "no:cacheprovider"]
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", _PEAK, *command], cwd=folder, capture_output=True, check=True)
        return time.perf_counter() - begin, int(done.stdout)


def compare_times(rounds: int, count: int) -> None:
    """Print each variant's median time and its ratio to plain pytest."""
    seconds: dict[str, list[float]] = {variant.name: [] for variant in VARIANTS}
    for _ in range(rounds):
        for variant in VARIANTS:
            seconds[variant.name].append(run(variant, count)[0])
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    print(f"{count} tests, medians of {rounds} interleaved rounds")
    for name, median in medians.items():
        print(f"  {name:28} {median:6.2f} s  {median / medians[PLAIN.name]:5.2f} x plain pytest")
    print(f"  {EXAMPLES.name}: {medians[EXAMPLES.name] / medians[MARKDOWN_DOCS.name]:.2f} x {MARKDOWN_DOCS.name}")


def compare_growth(count: int) -> None:
    """Print how time and peak memory grow from ``count`` tests to ten times as many."""
    print(f"from {count} tests to {10 * count}, one run each")
    growth: dict[str, float] = {}
    for variant in (PLAIN, EXAMPLES):
        few_seconds, few_memory = run(variant, count)
        many_seconds, many_memory = run(variant, 10 * count)
        growth[variant.name] = (many_memory - few_memory) / (9 * count)
        print(f"  {variant.name:28} {many_seconds / few_seconds:5.1f} x the time")
    print(f"  memory per redis example     {growth[EXAMPLES.name] / growth[PLAIN.name]:5.2f} x that of a plain test")


def extraction(rounds: int) -> None:
    """Print how long the site's own pages take to read."""
    root = Path(__file__).parents[2]
    reader = PageReader(root, *markdown_extensions(root, root / "mkdocs.yml"))
    pages = sorted((root / "docs").rglob("*.md"))
    print(f"extraction, medians of {rounds} rounds")
    for page in pages:
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            reader.read(page)
            times.append(time.perf_counter() - begin)
        print(f"  {page.relative_to(root).as_posix():28} {statistics.median(times) * 1000:6.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=1000, help="tests a run; a multiple of 20")
    options = parser.parse_args()
    compare_times(options.rounds, options.count)
    compare_growth(options.count)
    extraction(options.rounds)
