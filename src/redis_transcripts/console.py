"""Console blocks: what a reader types in a shell, and what is printed below it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts import files
from redis_transcripts.errors import PageError, Problem
from redis_transcripts.fence import Block
from redis_transcripts.files import ProvidedFile
from redis_transcripts.outcome import ExampleError
from redis_transcripts.source import SourceLine, without_blank_end

COMMAND_SECONDS = 60.0
"""How long a command may take."""

MOST_BYTES = 1_000_000
"""How much a command may print."""

COMMAND = "$ "
"""How a typed line begins."""

_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")

# The block's output, whatever a command makes of its own; the redis-cli of `shell_environment` looks there too.
_TERMINAL = 9

# How often a shell is asked whether it has ended, when what it left in the background keeps its output open.
_POLL_SECONDS = 0.05

# They change what bash or a program prints, or what a name means.
_UNWANTED = {
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "CLICOLOR_FORCE",
    "ENV",
    "FORCE_COLOR",
    "LANGUAGE",
    "LINES",
    "REDISCLI_AUTH",
    "SHELLOPTS",
}
_EXPORTED_FUNCTION = "BASH_FUNC_"


class ConsoleError(ExampleError):
    """A command did not end, printed without end, or could not be run."""


@dataclass(frozen=True, slots=True)
class Command:
    """A typed line and the output shown for it, which may be none."""

    typed: SourceLine
    shown: tuple[SourceLine, ...]

    @property
    def text(self) -> str:
        """What is typed after the prompt."""
        return self.typed.removeprefix(COMMAND)


def parse(block: Block) -> tuple[Command, ...]:
    """Return the commands of a console block.

    Blank lines at the end of an output separate commands and belong to none.

    Raises:
        PageError: the block has no typed line, text above the first, a prompt with nothing behind it, or a typed line
            that goes on in the next.
    """
    problems: list[Problem] = []
    typed_lines: list[tuple[SourceLine, list[SourceLine]]] = []
    for line in block.lines:
        if line.startswith(COMMAND) or line.rstrip() == COMMAND.rstrip():
            typed_lines.append((line, []))
        elif typed_lines:
            typed_lines[-1][1].append(line)
        elif line.strip() and not problems:
            fault = f"text above the first typed line: `{line.strip()}`"
            problems.append(Problem(line.origin, fault, "begin a typed line with `$ ` (the space counts)"))
    if not typed_lines and not problems:
        fault = "a console block without a typed line"
        problems.append(Problem(block.origin, fault, "begin one with `$ `, or delete the block"))
    problems += [problem for line, _ in typed_lines for problem in _faults(line)]
    if problems:
        raise PageError(problems)
    return tuple(Command(line, without_blank_end(shown)) for line, shown in typed_lines)


def _faults(typed: SourceLine) -> list[Problem]:
    if typed.rstrip() == COMMAND.rstrip():
        return [Problem(typed.origin, "nothing is typed after the prompt", "type a command or delete the line")]
    if _CONTINUED.search(typed):
        return [Problem(typed.origin, f"`{typed}` goes on in the next line", "write the command in one line")]
    return []


def shell_environment(redis_url: str, folder: Path) -> dict[str, str]:
    """Return the variables with which a block's commands find this Python environment and the server at ``redis_url``.

    Into ``folder``, which is made when it is missing, goes a ``redis-cli`` that asks that server; not where no
    ``redis-cli`` is on PATH. What it prints to the block is what it prints to a terminal, ``(integer) 1`` say; into a
    pipe or a file it prints ``1``, as it does for a reader. Nothing else takes the block for a terminal.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _UNWANTED and not name.startswith(_EXPORTED_FUNCTION)
    }
    own_path = kept.get("PATH", os.defpath)
    folder.mkdir(parents=True, exist_ok=True)
    redis_cli = shutil.which("redis-cli", path=own_path)
    if redis_cli:
        _write_redis_cli(folder / "redis-cli", Path(redis_cli).absolute(), redis_url)
    return kept | {
        "PATH": os.pathsep.join([str(folder.absolute()), str(Path(sys.prefix, "bin")), own_path]),
        "REDIS_URL": redis_url,
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "COLUMNS": "80",
        # A Python program's two outputs come in the order of a terminal.
        "PYTHONUNBUFFERED": "1",
    }


def _write_redis_cli(path: Path, real: Path, redis_url: str) -> None:
    asking = f"{shlex.quote(str(real))} -u {shlex.quote(redis_url)} --no-auth-warning"
    path.write_text(
        "#!/usr/bin/env bash\n"
        f"if [ /dev/stdout -ef /dev/fd/{_TERMINAL} ]; then\n"
        f'  exec {asking} --no-raw "$@"\n'
        "fi\n"
        f'exec {asking} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)


def run(
    commands: Sequence[Command],
    folder: Path,
    environment: Mapping[str, str],
    provided: tuple[ProvidedFile, ...] = (),
) -> tuple[tuple[str, ...], ...]:
    """Run the commands of a block in one bash and return what each printed.

    The shell begins in a folder that holds the ``provided`` files alone; it is made in ``folder`` and removed
    afterwards. Standard output and standard error come in order, without blank lines at their end; standard input is
    empty. Bash's own messages are those of a shell that a reader types in. When the last command ends, so do all that
    run in the background.

    Raises:
        ConsoleError: a command did not end, or printed too much, or ended the shell before the last one; or there is no
            bash.
    """
    with (
        # What is being ended may still write there for a moment.
        tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own,
        contextlib.closing(_shell(commands, Path(own), environment, provided)) as shell,
    ):
        return tuple(without_blank_end(shell.output(command).split("\n")) for command in commands)


def _shell(
    commands: Sequence[Command], folder: Path, environment: Mapping[str, str], provided: tuple[ProvidedFile, ...]
) -> _Shell:
    files.write(provided, folder)
    return _Shell(commands, folder, environment)


class _Shell:
    """A bash that runs ``commands`` in order and prints a mark behind each."""

    def __init__(self, commands: Sequence[Command], folder: Path, environment: Mapping[str, str]) -> None:
        mark = uuid.uuid4().hex
        self._mark = mark.encode()
        self._unread = b""
        self._ended_by: Command | None = None
        try:
            self._process = subprocess.Popen(
                # Interactive, or it would say `bash: line 3: foo: command not found`, which no reader sees.
                ["bash", "--noprofile", "--norc", "-i", "-c", _script(commands, mark)],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                # It first says that it has no terminal.
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            where = commands[0].typed.origin
            raise ConsoleError(f"{where}: bash cannot be run: {error.strerror}; install it") from error
        assert self._process.stdout is not None
        self._output = self._process.stdout

    def output(self, command: Command) -> str:
        """Return what the next command, which is ``command``, prints."""
        if self._ended_by:
            by = self._ended_by
            fault = f"not run, since the shell ended at {by.typed.origin}"
            raise ConsoleError(f"{command.typed.origin}: {fault}\n{by.typed}")
        deadline = time.monotonic() + COMMAND_SECONDS
        while self._mark not in self._unread:
            if len(self._unread) > MOST_BYTES:
                raise self._endless(command, f"printed more than {MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise self._endless(command, f"did not end within {COMMAND_SECONDS:g} s")
            if not self._read():
                self._ended_by = command
                break
        printed, _, self._unread = self._unread.partition(self._mark)
        return printed.decode(errors="backslashreplace")

    def close(self) -> None:
        """End the shell and what it started."""
        # Its group may be gone already, which macOS calls a lack of permission.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()

    def _read(self) -> bool:
        """Read what there is, waiting for it a moment; false when there will be nothing more."""
        has_ended = self._process.poll() is not None
        if select.select([self._output], [], [], _POLL_SECONDS)[0]:
            chunk = os.read(self._output.fileno(), 65536)
            self._unread += chunk
            return bool(chunk)
        return not has_ended

    def _endless(self, command: Command, fault: str) -> ConsoleError:
        last_lines = self._unread[-1000:].decode(errors="backslashreplace").splitlines()[-10:]
        return ConsoleError("\n".join([f"{command.typed.origin}: {fault}", command.typed, *last_lines]))


def _script(commands: Sequence[Command], mark: str) -> str:
    # The mark is printed in two parts, so that a trace (`set -x`) does not show it. The status of the command before is
    # kept for a command that asks for it.
    parts = f"{mark[:16]} {mark[16:]}"
    print_mark = f"local status=$?; builtin printf %s%s {parts} >&{_TERMINAL}; return $status"
    return "\n".join(
        [
            f"exec 2>&1 {_TERMINAL}>&1",
            f"__end() {{ {print_mark}; }}",
            *(f"eval -- {shlex.quote(command.text)}\n__end" for command in commands),
        ]
    )
