"""``make serve``: shows the site on loopback and follows edits."""

from __future__ import annotations

import argparse
import contextlib
import logging
import socket
import sys
from pathlib import Path

from mkdocs.commands.serve import serve

from priority_site.notebooks import SOURCES

HOST = "127.0.0.1"


def main() -> None:
    """Serve the site in the current folder until Ctrl-C; a taken port ends it with one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    port: int = parser.parse_args().port
    if not _is_free(port):
        sys.exit(f"Port {port} is taken: end what listens there, or run make serve PORT={port + 1}.")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    watched = [folder for folder in SOURCES if Path(folder).is_dir()]
    with contextlib.suppress(KeyboardInterrupt):
        serve(dev_addr=f"{HOST}:{port}", watch=watched)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    main()
