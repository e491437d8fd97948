"""The servers of a run: the one that pages are run on, and a cluster for the blocks that ask for one."""

from __future__ import annotations

import re
import shutil

from redis_transcripts.cluster import Cluster
from redis_transcripts.console import COMMAND
from redis_transcripts.fence import Block
from redis_transcripts.grammar import meets
from redis_transcripts.server import Binary, Server
from redis_transcripts.session import RunningServer
from redis_transcripts.url_server import UrlServer

_REDIS_CLI = re.compile(r"(?<![\w./-])redis-cli(?![\w./-])")


def uses_redis_cli(block: Block) -> bool:
    """Whether a command of ``block`` is or calls redis-cli."""
    typed = (line for line in block.lines if line.startswith(COMMAND))
    return block.language == "console" and any(map(_REDIS_CLI.search, typed))


class Servers:
    """What one process runs its pages on. Each is started when first needed."""

    def __init__(self, source: Binary | UrlServer) -> None:
        self.single: RunningServer
        self._binary: Binary | None = None
        if isinstance(source, UrlServer):
            self.single = source
        else:
            self._binary = source
            self.single = Server(source)
        self.name = str(source)
        self.where = "running already" if self._binary is None else str(self._binary.path)
        self._product, self._version = source.product, source.version
        self._cluster: Cluster | None = None

    def cluster(self) -> Cluster:
        """Return three masters of the same program.

        Raises:
            ServerError: they do not come up.
        """
        if self._cluster is None:
            assert self._binary is not None, "a block that asks for a cluster is skipped"
            self._cluster = Cluster(self._binary)
        return self._cluster

    def reason_to_skip(self, block: Block) -> str | None:
        """Return why ``block`` cannot be run on these servers, or none."""
        requirement = block.keys.get("requires")
        if requirement and not meets(requirement, self._product, self._version):
            return f"requires {requirement}; this is {self.name}"
        if "cluster" in block.keys and self._binary is None:
            return f"needs a cluster, which the run cannot start beside {self.name}"
        if uses_redis_cli(block) and not shutil.which("redis-cli"):
            return "needs redis-cli, and there is none on PATH; install it (Debian: apt-get install redis-server)"
        return None

    def stop(self) -> None:
        """End what was started, and leave a server that was not as it was found."""
        if self._cluster is not None:
            self._cluster.stop()
        if isinstance(self.single, UrlServer):
            self.single.release()
        self.single.stop()
