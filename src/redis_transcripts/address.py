"""The address of a server as clients take it: redis://user:password@host:port/database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urlsplit

from redis_transcripts.errors import ServerError

FORM = "redis://user:password@host:port/database"
"""What an address looks like."""

DEFAULT_PORT = 6379
"""The port of an address that names none."""

_OTHER_SCHEMES = {
    "rediss": "TLS is not spoken here",
    "unix": "a socket file is not used here",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, who logs in, and the database that is selected. Its text hides user and password."""

    host: str
    port: int = DEFAULT_PORT
    user: bytes = field(default=b"", repr=False)
    password: bytes = field(default=b"", repr=False)
    database: int = 0

    def __str__(self) -> str:
        return f"redis://{self.host_and_port}" + (f"/{self.database}" if self.database else "")

    @property
    def host_and_port(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def login(self) -> tuple[tuple[bytes, ...], ...]:
        """The commands that each new connection sends first."""
        commands: list[tuple[bytes, ...]] = []
        if self.user:
            commands.append((b"AUTH", self.user, self.password))
        elif self.password:
            commands.append((b"AUTH", self.password))
        if self.database:
            commands.append((b"SELECT", b"%d" % self.database))
        return tuple(commands)


def parse(url: str) -> Address:
    """Return what ``url``, ``redis://[[user]:password@]host[:port][/database]``, names.

    User and password are percent-decoded. A character that is not encoded may put a part of a password anywhere, so
    that an error shows nothing of the text but its scheme.

    Raises:
        ServerError: it does not have that form, or needs TLS or a socket file.
    """
    scheme = url.partition("://")[0].lower()
    if scheme in _OTHER_SCHEMES:
        raise ServerError(f"the address {scheme}://...: {_OTHER_SCHEMES[scheme]}; name a server as {FORM}")
    if scheme != "redis":
        raise ServerError(f"the address of a server begins with redis://; write {FORM}")
    try:
        parts = urlsplit(url)
        host, port = unquote(parts.hostname or ""), parts.port
    except ValueError:
        # Its text quotes what should have been the port.
        raise _malformed("has no valid host and port") from None
    if fault := _fault(parts):
        raise _malformed(fault)
    return Address(
        host,
        DEFAULT_PORT if port is None else port,
        unquote_to_bytes(parts.username or ""),
        unquote_to_bytes(parts.password or ""),
        int(parts.path[1:] or 0),
    )


def _fault(parts: SplitResult) -> str:
    """Return what is wrong with an address, or the empty string."""
    if not parts.hostname:
        return "names no host"
    if parts.query or parts.fragment:
        return "goes on with ? or # behind the database"
    if not re.fullmatch(r"(/[0-9]{0,9})?", parts.path):
        return "names a database that is not a number"
    return ""


def _malformed(fault: str) -> ServerError:
    return ServerError(
        f"the address redis://... {fault}; write {FORM}, with characters such as / ? # @ in user and password "
        "percent-encoded"
    )
