"""Three masters on this machine that share the keys, and a client that goes to the one that has a key."""

from __future__ import annotations

import binascii
import contextlib
import itertools
import re
import time

from redis_transcripts.connection import Connection, Endpoint
from redis_transcripts.errors import ProtocolError, ServerError
from redis_transcripts.resp import Kind, Reply
from redis_transcripts.server import Binary, Server
from redis_transcripts.session import REPLY_SECONDS

_NODES = 3
_SLOTS = 16384
_SETTINGS = {"cluster-enabled": "yes", "cluster-config-file": "nodes.conf"}
_JOIN_SECONDS = 12.0
_MEMBER_SECONDS = 3.0
_MAX_REDIRECTS = 5
_REDIRECT = re.compile(rb"(?P<how>MOVED|ASK) \d+ (?P<host>.*):(?P<port>\d+)")


def key_slot(key: bytes) -> int:
    """Return the slot of ``key``: the CRC16 of its hash tag, or of all of it, modulo 16384.

    By the cluster specification: CRC16 is the variant called XMODEM, which ``binascii`` has; the tag is what stands
    between the first ``{`` and the first ``}`` behind it, unless that is nothing.
    """
    tag, closed, _ = key.partition(b"{")[2].partition(b"}")
    return binascii.crc_hqx(tag if closed and tag else key, 0) % _SLOTS


class Cluster:
    """Three masters of ``binary``. They are started when first needed, which takes about two seconds."""

    def __init__(self, binary: Binary) -> None:
        self._nodes = tuple(Server(binary, _SETTINGS) for _ in range(_NODES))
        self._addresses: tuple[Endpoint, ...] = ()
        self._failure: ServerError | None = None

    def addresses(self) -> tuple[Endpoint, ...]:
        """Return host and port of each node, in the order of their slots; starts the cluster when it does not run.

        Raises:
            ServerError: it did not come up, now or before; the text names the node.
        """
        if self._failure is not None:
            raise self._failure
        if not self._addresses:
            try:
                self._addresses = self._form()
            except ServerError as failure:
                self._failure = failure
                self.stop()
                raise
        return self._addresses

    @property
    def url(self) -> str:
        """The address of the first node, from which a client learns of the others."""
        host, port = self.addresses()[0]
        return f"redis://{host}:{port}"

    def node_for(self, key: bytes) -> Endpoint:
        """Return host and port of the node that has ``key``."""
        slot = key_slot(key)
        return next(address for number, address in enumerate(self.addresses()) if slot in _slots(number))

    def empty(self) -> None:
        """Delete keys, functions and scripts; a cluster that is no longer as it was formed makes way for a new one.

        Raises:
            ServerError: that one does not come up.
        """
        addresses = self.addresses()
        try:
            for number, (node, address) in enumerate(zip(self._nodes, addresses, strict=True)):
                with contextlib.closing(_Member(node, address)) as member:
                    member.require_slots(_slots(number))
                    member.ask(b"FLUSHALL")
                    member.ask(b"FUNCTION", b"FLUSH")
                    member.ask(b"SCRIPT", b"FLUSH")
        except ServerError:
            self.stop()
            self.addresses()

    def stop(self) -> None:
        """End the nodes and remove their folders; does nothing when they do not run."""
        self._addresses = ()
        for node in self._nodes:
            node.stop()

    def _form(self) -> tuple[Endpoint, ...]:
        addresses = tuple(node.address() for node in self._nodes)
        with contextlib.ExitStack() as connections:
            members = [
                connections.enter_context(contextlib.closing(_Member(node, address)))
                for node, address in zip(self._nodes, addresses, strict=True)
            ]
            for number, member in enumerate(members):
                member.ask(b"CLUSTER", b"ADDSLOTS", *(b"%d" % slot for slot in _slots(number)))
                # Masters that begin with one epoch would have to agree first on who changes it.
                member.ask(b"CLUSTER", b"SET-CONFIG-EPOCH", b"%d" % (number + 1))
            for (member, _), (_, (host, port)) in itertools.combinations(zip(members, addresses, strict=True), 2):
                member.ask(b"CLUSTER", b"MEET", host.encode(), b"%d" % port)
            deadline = time.monotonic() + _JOIN_SECONDS
            for member in members:
                member.wait_until_joined(deadline)
        return addresses


class ClusterConnection:
    """A client of ``cluster``, with a connection to each node that it was sent to.

    Like ``redis-cli -c`` it begins at the first node and stays where it was sent last.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._connections: dict[Endpoint, Connection] = {}
        self._at: Endpoint | None = None

    def ask(self, arguments: list[bytes]) -> Reply:
        """Send a command and return its reply, going on to the node that the reply names up to five times.

        Raises:
            OSError, ProtocolError: there is none.
            ServerError: the cluster does not come up.
        """
        deadline = time.monotonic() + REPLY_SECONDS
        nodes = self._cluster.addresses()
        # One that was formed anew is somewhere else.
        at = self._at if self._at in nodes else nodes[0]
        answer = self._ask(at, arguments, deadline)
        for _ in range(_MAX_REDIRECTS):
            redirect = _REDIRECT.fullmatch(answer.text)
            if answer.kind is not Kind.ERROR or not redirect:
                break
            # A node that does not know its own host leaves it out.
            at = redirect["host"].decode() or at[0], int(redirect["port"])
            if redirect["how"] == b"ASK":
                self._ask(at, [b"ASKING"], deadline)
            answer = self._ask(at, arguments, deadline)
        self._at = at
        return answer

    def close(self) -> None:
        """End the connections."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _ask(self, node: Endpoint, arguments: list[bytes], deadline: float) -> Reply:
        if node not in self._connections:
            self._connections[node] = Connection(node, deadline)
        return self._connections[node].ask(arguments, deadline)


class _Member:
    """A node of a cluster and a connection to it, for what is not part of a page.

    Raises:
        ServerError: the node does not answer, or with an error; the text names it.
    """

    def __init__(self, node: Server, address: Endpoint) -> None:
        self._node = node
        self._address = address
        try:
            self._connection = Connection(address, time.monotonic() + _MEMBER_SECONDS)
        except OSError as error:
            raise self._failure(f"cannot be reached: {error}") from error

    def ask(self, *command: bytes) -> Reply:
        """Send ``command`` and return its reply, which may be that a server before 7.0 has no functions."""
        name = b" ".join(command[:2]).decode()
        try:
            answer = self._connection.ask(command, time.monotonic() + _MEMBER_SECONDS)
        except (OSError, ProtocolError) as error:
            raise self._failure(f"does not answer {name}: {error}") from error
        if answer.kind is Kind.ERROR and not answer.text.startswith(b"ERR unknown command"):
            raise self._failure(f"answers {name} with {answer.text.decode(errors='replace')!r}")
        return answer

    def wait_until_joined(self, deadline: float) -> None:
        """Return when the node finds that all slots are served, and knows the other nodes."""
        while (state := self._state()) != ("ok", str(_NODES)):
            if time.monotonic() > deadline:
                raise self._failure("says cluster_state:{} and knows {} of {} nodes".format(*state, _NODES))
            time.sleep(0.01)

    def require_slots(self, slots: range) -> None:
        """Raise an error if the node has not joined, or not just ``slots`` or one that is about to move."""
        nodes = self.ask(b"CLUSTER", b"NODES").text.decode().splitlines()
        has = next((line.split()[8:] for line in nodes if "myself" in line), [])
        if self._state() != ("ok", str(_NODES)) or has != [f"{slots[0]}-{slots[-1]}"]:
            raise self._failure(f"is no longer as it was: {nodes}")

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _state(self) -> tuple[str, str]:
        """Return what CLUSTER INFO says of the cluster's state and of the number of nodes."""
        lines = self.ask(b"CLUSTER", b"INFO").text.decode().splitlines()
        info = {name: value for name, _, value in (line.partition(":") for line in lines)}
        return info.get("cluster_state", ""), info.get("cluster_known_nodes", "")

    def _failure(self, fault: str) -> ServerError:
        host, port = self._address
        end = self._node.describe_end()
        return ServerError(
            f"the cluster of {self._node.binary} does not work: the node at {host}:{port} {fault}"
            + (f"\n{end}" if end else "")
        )


def _slots(number: int) -> range:
    """Return the slots of the node with that number, which are those that ``redis-cli --cluster create`` gives it."""
    return range(round(number * _SLOTS / _NODES), round((number + 1) * _SLOTS / _NODES))
