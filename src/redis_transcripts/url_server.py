"""A server that the run did not start: it is used when it is empty, and left empty."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator

from redis_transcripts.address import FORM, parse
from redis_transcripts.connection import Connection, Endpoint, reach
from redis_transcripts.errors import ProtocolError, ServerError
from redis_transcripts.resp import Kind, Reply

_SECONDS = 2.5
_ANOTHER = "name another with --redis-server or REDIS_URL"
_DATABASE = re.compile(r"db(\d+)")

# What the first word of an error tells, wherever it comes.
_REFUSALS = {
    b"WRONGPASS": "does not accept the user and the password; check those of the address",
    b"NOAUTH": f"wants a password; put it into the address, {FORM}",
    b"DENIED": "is in protected mode, where it answers its own machine alone; give it a password",
    b"LOADING": "is still loading its data; wait until it is up",
}

type Ask = Callable[..., Reply]


class UrlServer:
    """The server at ``url``. The run neither starts nor ends it, and uses it after ``claim`` alone.

    The first of its host's network addresses that answers is used throughout: another one may be another server.

    Raises:
        ServerError: the address is malformed, or no Redis or Valkey server answers there.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        """The address with its password, for the clients of a page."""
        self._address = parse(url)
        self.login = self._address.login
        self._is_claimed = False
        deadline = time.monotonic() + _SECONDS
        with self._explaining():
            self._endpoint = reach(self._address.host, self._address.port, deadline)
        with self._asking(deadline) as ask:
            info = self._info(ask)
        self.product = "Valkey" if "valkey_version" in info else "Redis"
        self.version = info.get("valkey_version") or info["redis_version"]

    def __str__(self) -> str:
        return f"{self.product} {self.version} at {self._address.host_and_port}"

    def address(self) -> Endpoint:
        """Return the network address and the port."""
        return self._endpoint

    def describe_end(self) -> str:
        """Return nothing: how a server of somebody else ended is not known."""
        return ""

    def stop(self) -> None:
        """Leave it running."""

    def claim(self, flush: bool) -> None:
        """Make sure that the server is empty and can be emptied. With ``flush``, what it holds is deleted.

        Raises:
            ServerError: it holds a key in any database or a function, and ``flush`` is false; or it is a replica, a
                node of a cluster, or not up yet: nothing has been written then. Or it does not let itself be emptied.
        """
        with self._asking() as ask:
            info = self._info(ask)
            self._require_single_server(info)
            if not flush:
                self._require_emptiness(info, ask)
            self._empty(ask)
        self._is_claimed = True

    def release(self) -> None:
        """Empty the server again, if it was claimed.

        Raises:
            ServerError: it cannot be emptied now.
        """
        if not self._is_claimed:
            return
        self._is_claimed = False
        try:
            with self._asking() as ask:
                self._empty(ask)
        except ServerError as error:
            raise ServerError(f"a server is not left empty: {error}") from error

    def _require_single_server(self, info: dict[str, str]) -> None:
        mode = info.get("redis_mode") or info.get("server_mode") or "standalone"
        if mode != "standalone":
            kind = "a node of a cluster" if mode == "cluster" else f"a {mode}"
            raise ServerError(f"{self._address} is {kind}, and pages are run on a single server; {_ANOTHER}")
        if info.get("role", "master") != "master":
            master = f"{info.get('master_host')}:{info.get('master_port')}"
            raise ServerError(f"{self._address} is a replica of {master}, which is not written to; {_ANOTHER}")
        if info.get("loading", "0") != "0":
            raise ServerError(f"{self._address} {_REFUSALS[b'LOADING']}")

    def _require_emptiness(self, info: dict[str, str], ask: Ask) -> None:
        if "# Keyspace" not in info:
            raise ServerError(f"{self._address} does not tell in INFO whether it holds keys; {_ANOTHER}")
        found = []
        for name, value in info.items():
            keys = value.partition(",")[0].removeprefix("keys=")
            if (database := _DATABASE.fullmatch(name)) and keys != "0":
                found.append(f"{_count(keys, 'key', 'keys')} in database {database[1]}")
        if libraries := ask(b"FUNCTION", b"LIST").items:
            found.append(_count(str(len(libraries)), "library of functions", "libraries of functions"))
        if found:
            raise ServerError(
                f"{self._address} holds {', '.join(found)}, and pages are run on an empty server; {_ANOTHER}, "
                "or have all of it deleted with --redis-flush"
            )

    @staticmethod
    def _empty(ask: Ask) -> None:
        # Freeing what a big server holds may take minutes; in the background it does not hold back the reply.
        ask(b"FLUSHALL", b"ASYNC")
        ask(b"FUNCTION", b"FLUSH")
        ask(b"SCRIPT", b"FLUSH")

    def _info(self, ask: Ask) -> dict[str, str]:
        """Return the lines of INFO, and its headings, with their values."""
        lines = ask(b"INFO").text.decode(errors="replace").splitlines()
        info = {name: value for name, _, value in (line.partition(":") for line in lines)}
        if "redis_version" not in info:
            raise ProtocolError("an answer to INFO without a version")
        return info

    @contextlib.contextmanager
    def _asking(self, deadline: float | None = None) -> Iterator[Ask]:
        """Connect, log in, and yield what sends a command and returns its reply."""
        until = deadline or time.monotonic() + _SECONDS
        with self._explaining(), contextlib.closing(Connection(self._endpoint, until)) as connection:

            def ask(*command: bytes) -> Reply:
                answer = connection.ask(command, until)
                self._require_consent(command, answer)
                return answer

            for command in self.login:
                ask(*command)
            yield ask

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what goes wrong on the way to the server into an error that names it."""
        try:
            yield
        except TimeoutError:
            raise ServerError(
                f"{self._address} did not answer within {_SECONDS:g} s; start it, or {_ANOTHER}"
            ) from None
        except ProtocolError:
            # It quotes what came, and a server that is none may send back the password.
            raise ServerError(f"{self._address} is not a Redis or Valkey server; {_ANOTHER}") from None
        except ConnectionResetError as error:
            raise ServerError(
                f"{self._address} closes the connection, as a server that speaks TLS alone does; {_ANOTHER}"
            ) from error
        except OSError as error:
            why = error.strerror or error
            raise ServerError(f"{self._address} cannot be reached: {why}; start it, or {_ANOTHER}") from error

    def _require_consent(self, command: tuple[bytes, ...], answer: Reply) -> None:
        """Raise a ServerError if ``answer`` is an error, other than that a server before 7.0 has no functions."""
        if answer.kind is not Kind.ERROR:
            return
        if command[0] == b"FUNCTION" and answer.text.startswith(b"ERR unknown command"):
            return
        code = answer.text.partition(b" ")[0]
        if code in _REFUSALS:
            raise ServerError(f"{self._address} {_REFUSALS[code]}")
        if command[0] == b"AUTH":
            # The text may quote the arguments.
            raise ServerError(
                f"{self._address} does not take the login; check user and password of the address, and leave them out "
                "where the server has none"
            )
        cure = "allow it to the user" if code == b"NOPERM" else _ANOTHER
        asked, told = b" ".join(command).decode(), answer.text.decode(errors="replace")
        raise ServerError(f"{self._address} answers {asked} with {told}; {cure}")


def _count(number: str, one: str, many: str) -> str:
    return f"{number} {one if number == '1' else many}"
