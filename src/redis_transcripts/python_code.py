"""Python blocks: what a page's code prints and raises, one namespace a page."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType, TracebackType

from redis_transcripts.source import Origin, SourceLine

_NOTHING: Mapping[str, object] = MappingProxyType({})
_FRAME = re.compile(r'File "(?P<file><.+?>)", line (?P<line>\d+)(?:, in <module>)?')


BLOCK_SECONDS = 60.0
"""How long a block may run."""


class OutOfTimeError(BaseException):
    """A block runs too long. Code that catches every ``Exception`` does not catch this."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that left a block.

    ``origin`` is the innermost line of the page that was running. ``last_line`` names the exception, such as
    ``ValueError: no such job``; of a message of several lines it has the first. ``text`` is the traceback below the
    runner, with the places on the page shown as ``page.md:12``.
    """

    origin: Origin
    last_line: str
    text: str


@dataclass(frozen=True, slots=True)
class Printed:
    """What a block printed, and what it raised."""

    lines: tuple[str, ...]
    raised: Raised | None


def judge(printed: Printed, shown: Sequence[SourceLine]) -> tuple[str, ...]:
    """Return the lines to compare with ``shown``: those printed and, where it is meant to raise, the exception's.

    It is meant to raise when the last line shown names the exception, whatever it says behind the name. An exception
    that is not shown is not among the lines.
    """
    last_shown = next((line for line in reversed(shown) if line.strip()), "")
    if printed.raised and _exception_name(last_shown) == _exception_name(printed.raised.last_line):
        return (*printed.lines, printed.raised.last_line)
    return printed.lines


def _exception_name(last_line: str) -> str:
    return last_line.partition(":")[0].rstrip()


class Namespace:
    """The names of a page, which its blocks share as the statements of one script would.

    While a block runs the page is the module ``__main__``, so its classes can be pickled and their annotations
    resolved. ``sys.stdout`` is one object for the whole page: a logging handler made in one block is heard in the next.
    What a subprocess prints goes past ``sys.stdout`` and is not seen.
    """

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._folder = Path.cwd()
        self._module = ModuleType("__main__")
        self._stdout = _Stdout()
        self._blocks: dict[str, tuple[SourceLine, ...]] = {}
        self._entered: list[Path] = []

    def run(self, lines: Sequence[SourceLine], extra: Mapping[str, object] = _NOTHING) -> Printed:
        """Compile and execute a block once; the names in ``extra`` are there from this block on.

        An exception is part of the result, ``SystemExit`` too. Only ``KeyboardInterrupt`` is raised.
        """
        file = self._register(lines)
        vars(self._module).update(extra)
        raised = None
        with self._as_main(), contextlib.redirect_stdout(self._stdout), _time_limit():
            try:
                # Without dont_inherit the block would get this module's `from __future__` imports.
                exec(compile("\n".join(lines), file, "exec", dont_inherit=True), vars(self._module))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raised = self._describe(error, file)
        return Printed(self._stdout.take_lines(), raised)

    def enter(self, folder: Path) -> None:
        """Run what comes in ``folder``, as a program that lies there: its modules can be imported."""
        os.chdir(folder)
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
            self._entered.append(folder)

    def close(self) -> None:
        """Let go of what the page made; variables of the environment and the current folder are as before."""
        if self._blocks:
            os.environ.clear()
            os.environ.update(self._environment)
        if self._blocks or self._entered:
            os.chdir(self._folder)
        for folder in self._entered:
            sys.path.remove(str(folder))
            for name in [name for name, module in sys.modules.items() if _lies_in(module, folder)]:
                del sys.modules[name]
        self._entered.clear()
        for file in self._blocks:
            linecache.cache.pop(file, None)
        self._blocks.clear()
        vars(self._module).clear()

    def _register(self, lines: Sequence[SourceLine]) -> str:
        """Return a file name for the block under which tracebacks and ``inspect`` find its source.

        It depends on the page alone, since a page may print it.
        """
        place = str(lines[0].origin) if lines else "empty"
        names = itertools.chain([f"<{place}>"], (f"<{place} ({number})>" for number in itertools.count(2)))
        file = next(name for name in names if name not in self._blocks and name not in linecache.cache)
        self._blocks[file] = tuple(lines)
        source = [f"{line}\n" for line in lines]
        # Without a time of change it is never checked against the disk.
        linecache.cache[file] = (sum(map(len, source)), None, source, file)
        return file

    @contextlib.contextmanager
    def _as_main(self) -> Iterator[None]:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = self._module
        try:
            yield
        finally:
            sys.modules["__main__"] = main

    def _describe(self, error: BaseException, file: str) -> Raised:
        """Describe what left the block in ``file``."""
        error.__traceback__ = self._below_runner(error.__traceback__)
        described = traceback.TracebackException.from_exception(error)
        # A syntax error's place stands indented above the line that names it, notes stand below.
        naming = next(part for part in described.format_exception_only() if not part.startswith(" "))
        return Raised(
            self._innermost_origin(error, file),
            naming.split("\n")[0],
            _FRAME.sub(self._place_on_page, "".join(described.format()).removesuffix("\n")),
        )

    def _below_runner(self, frames: TracebackType | None) -> TracebackType | None:
        while frames and frames.tb_frame.f_code.co_filename not in self._blocks:
            frames = frames.tb_next
        return frames

    def _innermost_origin(self, error: BaseException, file: str) -> Origin:
        places = [
            (frame.f_code.co_filename, line)
            for frame, line in traceback.walk_tb(error.__traceback__)
            if frame.f_code.co_filename in self._blocks
        ]
        if places:
            return self._origin(*places[-1])
        # It did not compile, and not every such error tells a line.
        return self._origin(file, (error.lineno if isinstance(error, SyntaxError) else None) or 1)

    def _origin(self, file: str, number: int) -> Origin:
        # An error at the end of a block may count one line more.
        lines = self._blocks[file]
        return lines[min(number, len(lines)) - 1].origin

    def _place_on_page(self, frame: re.Match[str]) -> str:
        if frame["file"] not in self._blocks:
            return frame[0]
        return str(self._origin(frame["file"], int(frame["line"])))


def _lies_in(module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).is_relative_to(folder)


class _Stdout(io.TextIOWrapper):
    """A standard output that keeps what is written."""

    def __init__(self) -> None:
        self._kept = io.BytesIO()
        super().__init__(self._kept, encoding="utf-8", newline="\n", write_through=True)

    def take_lines(self) -> tuple[str, ...]:
        """Return the lines written since the last time."""
        text = self._kept.getvalue().decode(errors="backslashreplace")
        self._kept.seek(0)
        self._kept.truncate()
        return tuple(text.removesuffix("\n").split("\n")) if text else ()


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """Raise an OutOfTimeError where the code is after ``BLOCK_SECONDS``: signals reach the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTimeError(f"still running after {BLOCK_SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, BLOCK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
