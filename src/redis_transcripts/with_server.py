"""Runs a command beside a server of its own: ``python -m redis_transcripts.with_server -- COMMAND...``.

The command finds the server's address in ``REDIS_URL``. The server is the default one, empty, and ends with the
command. The exit status is the command's: 128 plus the number of the signal when one ended it, as in a shell.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from redis_transcripts.errors import ServerError
from redis_transcripts.server import Server, find

_USAGE = "usage: python -m redis_transcripts.with_server -- COMMAND..."


def main(arguments: list[str]) -> int:
    """Return the exit status of the command behind ``--``; 127 when it cannot be started, 1 without a server."""
    if len(arguments) < 2 or arguments[0] != "--":
        print(_USAGE, file=sys.stderr)
        return 2
    try:
        server = Server(find(None))
        address = server.url
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        return _run(arguments[1:], address)
    finally:
        server.stop()


def _run(command: list[str], address: str) -> int:
    # Ctrl-C reaches the command from the terminal, and this program waits until the command has dealt with it. The
    # handler has to be a function: one that ignores would be inherited by the command.
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        child = subprocess.Popen(command, env={**os.environ, "REDIS_URL": address})
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    status = child.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
