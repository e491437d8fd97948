"""Runs a server and ends it together with the process that asked for it, even after a SIGKILL of that process.

Started as ``python -I -S server_guard.py DIRECTORY COMMAND...`` with a pipe as standard input. The guard ends the
server and removes DIRECTORY when the other end of the pipe closes, which happens whatever way the asking process ends.
When the server exits by itself, the guard prints its exit status and keeps DIRECTORY, which holds the log, until then.

Only the standard library, and little of it: the guard has to be up before the server can be.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys


def main(directory: str, command: list[str]) -> None:
    """Run ``command`` in ``directory`` until standard input ends."""
    server_lives, held_by_server = os.pipe()
    os.set_inheritable(held_by_server, True)
    server = os.fork()
    if server == 0:
        _become(command, directory)
    os.close(held_by_server)
    _lead_own_group(server)
    ready, _, _ = select.select([sys.stdin, server_lives], [], [])
    if server_lives in ready:
        _, status = os.waitpid(server, 0)
        with contextlib.suppress(BrokenPipeError):
            os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
        select.select([sys.stdin], [], [])
    else:
        os.killpg(server, signal.SIGKILL)
        os.waitpid(server, 0)
    _remove(directory)


def _lead_own_group(process: int) -> None:
    """Let what ``process`` starts end with it: the command may be a script around the server.

    The new process and the guard both see to this, since either may be first.
    """
    with contextlib.suppress(PermissionError):
        os.setpgid(process, process)


def _become(command: list[str], directory: str) -> None:
    _lead_own_group(os.getpid())
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(os.path.join(directory, "server.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(directory)
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def _remove(directory: str) -> None:
    for folder, folders, files in os.walk(directory, topdown=False):
        for name in files:
            os.unlink(os.path.join(folder, name))
        for name in folders:
            os.rmdir(os.path.join(folder, name))
    os.rmdir(directory)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
