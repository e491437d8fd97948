"""A server that the run did not start is used when it is empty, left empty, and otherwise left alone."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from components import require

from redis_transcripts import resp, server, url_server
from redis_transcripts.address import Address, parse
from redis_transcripts.connection import Connection
from redis_transcripts.errors import ProtocolError, ServerError
from redis_transcripts.resp import Reply
from redis_transcripts.server import Server
from redis_transcripts.url_server import UrlServer

Started = Callable[..., Server]
EndedByTest = Callable[[Server], Server]

PASSWORD = "s3cr3t p@ss/word"
ENCODED = "s3cr3t%20p%40ss%2Fword"
LIBRARY = b"#!lua name=mine\nredis.register_function('mine', function() return 1 end)"
INFO = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n{}# Replication\r\nrole:master\r\n# Keyspace\r\n"


class Admin:
    """A connection beside that of the run."""

    def __init__(self, running: Server, *login: bytes) -> None:
        self.knows_functions = running.binary.version_numbers >= (7,)
        self._connection = Connection(running.address(), time.monotonic() + 5)
        if login:
            self.ask(*login)

    def ask(self, *command: bytes) -> Reply:
        answer = self._connection.ask(command, time.monotonic() + 5)
        assert answer.kind is not resp.Kind.ERROR, answer
        return answer

    def everything(self) -> list[object]:
        """Each key of each database with its value, and each function."""
        found: list[object] = [self.ask(b"FUNCTION", b"LIST", b"WITHCODE")] if self.knows_functions else []
        for database in range(16):
            self.ask(b"SELECT", b"%d" % database)
            keys = sorted(key.text for key in self.ask(b"KEYS", b"*").items)
            found += [(database, key, self.ask(b"DUMP", key).text) for key in keys]
        self.ask(b"SELECT", b"0")
        return found

    def was_told_to_delete(self) -> bool:
        told = self.ask(b"INFO", b"commandstats").text
        return any(name in told for name in (b"cmdstat_flush", b"function|flush", b"script|flush", b"cmdstat_del"))


def url_of(running: Server, login: str = "", database: str = "") -> str:
    return f"redis://{login}127.0.0.1:{running.address()[1]}{database}"


@pytest.fixture
def ended_by_test() -> Iterator[EndedByTest]:
    """Ends a server of any kind with the test."""
    with contextlib.ExitStack() as servers:

        def note(running: Server) -> Server:
            servers.callback(running.stop)
            return running

        yield note


def refusal(url: str) -> str:
    with pytest.raises(ServerError) as caught:
        UrlServer(url).claim(flush=False)
    shown = "".join(str(error) for error in (caught.value, caught.value.__cause__ or ""))
    assert PASSWORD not in shown
    assert ENCODED not in shown
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "named", "login"),
    [
        ("redis://example.org", Address("example.org"), ()),
        ("redis://example.org:7000/", Address("example.org", 7000), ()),
        ("redis://[::1]:7000/3", Address("::1", 7000, database=3), ((b"SELECT", b"3"),)),
        ("REDIS://:pw@h", Address("h", 6379, b"", b"pw"), ((b"AUTH", b"pw"),)),
        ("redis://me@h/12", Address("h", 6379, b"me", database=12), ((b"AUTH", b"me", b""), (b"SELECT", b"12"))),
        (
            f"redis://m%C3%A9:{ENCODED}@h",
            Address("h", 6379, "mé".encode(), PASSWORD.encode()),
            ((b"AUTH", "mé".encode(), PASSWORD.encode()),),
        ),
    ],
)
def test_an_address(url: str, named: Address, login: tuple[tuple[bytes, ...], ...]) -> None:
    assert parse(url) == named
    assert named.login == login


def test_the_text_of_an_address_names_neither_user_nor_password() -> None:
    named = parse("redis://user:password@[::1]/2")
    assert str(named) == "redis://[::1]:6379/2"
    assert repr(named) == "Address(host='::1', port=6379, database=2)"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("rediss://u:secret@h", "the address rediss://...: TLS is not spoken here; name a server as redis://"),
        (
            "unix://u:secret@/run/redis.sock",
            "the address unix://...: a socket file is not used here; name a server as ",
        ),
        ("secret://h", "the address of a server begins with redis://; write redis://"),
        ("redis://u:secret@", "the address redis://... names no host; write redis://"),
        ("redis://:secret", "the address redis://... has no valid host and port; write redis://"),
        ("redis://h:99999", "the address redis://... has no valid host and port; write redis://"),
        ("redis://u:x/secret@h", "the address redis://... has no valid host and port; write redis://"),
        ("redis://u:x@y/secret@h", "the address redis://... names a database that is not a number; write redis://"),
        ("redis://u:1#secret@h", "the address redis://... goes on with ? or # behind the database; write redis://"),
        ("redis://h/0?password=secret", "the address redis://... goes on with ? or # behind the database; write "),
    ],
)
def test_a_malformed_address_is_refused_and_not_shown(url: str, fault: str) -> None:
    with pytest.raises(ServerError) as caught:
        parse(url)
    assert str(caught.value).startswith(fault)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_it_says_what_it_is(started: Started) -> None:
    running = started()
    used = UrlServer(url_of(running))
    assert str(used) == f"{running.binary} at 127.0.0.1:{used.address()[1]}"
    assert (used.product, used.version) == (running.binary.product, running.binary.version)
    assert used.address() == running.address()
    assert used.login == ()


def test_valkey_says_its_own_version(ended_by_test: EndedByTest) -> None:
    running = ended_by_test(Server(server.find(server.EMBEDDED)))
    used = UrlServer(url_of(running))
    assert (used.product, used.version) == ("Valkey", running.binary.version)
    Admin(running).ask(b"SET", b"key", b"value")
    with pytest.raises(ServerError, match="holds 1 key in database 0, and"):
        used.claim(flush=False)
    used.claim(flush=True)
    used.claim(flush=False)


def test_one_on_ipv6(started: Started) -> None:
    running = started()
    Admin(running).ask(b"CONFIG", b"SET", b"bind", b"127.0.0.1 ::1")
    port = running.address()[1]
    used = UrlServer(f"redis://[::1]:{port}")
    assert used.address() == ("::1", port)
    assert str(used) == f"{running.binary} at [::1]:{port}"


def test_it_is_not_ended_and_its_end_is_not_described(started: Started) -> None:
    running = started()
    used = UrlServer(url_of(running))
    used.claim(flush=False)
    used.stop()
    assert used.describe_end() == running.describe_end() == ""


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_name_of_two_hosts_is_the_one_that_answers(
    is_silent: bool, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = started()
    port = running.address()[1]
    real = socket.getaddrinfo

    def look_up(host: str, *options: Any, **more: Any) -> list[Any]:
        hosts = ["127.0.0.2", "127.0.0.1"] if host == "both.example" else [host]
        return [place for each in hosts for place in real(each, *options, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with contextlib.ExitStack() as sockets:
        if is_silent:
            monkeypatch.setattr(url_server, "_SECONDS", 0.5)
            sockets.enter_context(socket.create_server(("127.0.0.2", port), backlog=0))
            # One more than the queue takes: the next connection gets no answer.
            for _ in range(2):
                waiting = sockets.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.2", port))
        used = UrlServer(f"redis://both.example:{port}")
    assert used.address() == ("127.0.0.1", port)
    assert str(used).endswith(f" at both.example:{port}")


def hold_keys(admin: Admin) -> str:
    admin.ask(b"MSET", b"one", b"1", b"two", b"2")
    return "2 keys in database 0"


def hold_a_key_in_another_database(admin: Admin) -> str:
    admin.ask(b"SELECT", b"5")
    admin.ask(b"RPUSH", b"list", b"item")
    return "1 key in database 5"


def hold_a_function(admin: Admin) -> str:
    require(admin.knows_functions, "functions came with 7.0; install a newer redis-server")
    admin.ask(b"FUNCTION", b"LOAD", LIBRARY)
    return "1 library of functions"


def hold_all(admin: Admin) -> str:
    holds = [hold_keys, hold_a_key_in_another_database]
    return ", ".join(hold(admin) for hold in ([*holds, hold_a_function] if admin.knows_functions else holds))


@pytest.mark.parametrize("hold", [hold_keys, hold_a_key_in_another_database, hold_a_function, hold_all])
def test_one_that_holds_something_is_refused_and_left_as_it_is(hold: Callable[[Admin], str], started: Started) -> None:
    running = started()
    admin = Admin(running)
    held = hold(admin)
    before = admin.everything()
    for database in ("", "/1", "/5"):
        url = url_of(running, database=database)
        used = UrlServer(url)
        with pytest.raises(ServerError) as caught:
            used.claim(flush=False)
        assert str(caught.value) == (
            f"{url} holds {held}, and pages are run on an empty server; name another with --redis-server or "
            "REDIS_URL, or have all of it deleted with --redis-flush"
        )
        used.release()
        used.stop()
    assert admin.everything() == before
    assert not admin.was_told_to_delete()


def test_one_that_holds_something_is_emptied_when_told(started: Started) -> None:
    running = started()
    admin = Admin(running)
    empty = admin.everything()
    hold_all(admin)
    UrlServer(url_of(running)).claim(flush=True)
    assert admin.everything() == empty


def test_it_is_left_empty(started: Started) -> None:
    running = started()
    admin = Admin(running)
    empty = admin.everything()
    used = UrlServer(url_of(running))
    used.claim(flush=False)
    hold_all(admin)
    script = admin.ask(b"SCRIPT", b"LOAD", b"return 1").text
    used.release()
    assert admin.everything() == empty
    assert admin.ask(b"SCRIPT", b"EXISTS", script).items[0].text == b"0"
    hold_all(admin)
    held = admin.everything()
    used.release()
    assert admin.everything() == held


def test_one_that_was_not_claimed_is_not_emptied(started: Started) -> None:
    running = started()
    admin = Admin(running)
    hold_keys(admin)
    UrlServer(url_of(running)).release()
    assert not admin.was_told_to_delete()


def test_one_that_has_gone_is_not_left_empty(started: Started) -> None:
    running = started()
    url = url_of(running)
    used = UrlServer(url)
    used.claim(flush=False)
    running.stop()
    with pytest.raises(ServerError, match=f"^a server is not left empty: {url} cannot be reached: "):
        used.release()


@pytest.mark.parametrize("wanted", [None, server.EMBEDDED])
def test_a_node_of_a_cluster_is_refused(wanted: str | None, ended_by_test: EndedByTest) -> None:
    node = ended_by_test(Server(server.find(wanted), {"cluster-enabled": "yes"}))
    used = UrlServer(url_of(node))
    for flush in (False, True):
        with pytest.raises(ServerError, match="is a node of a cluster, and pages are run on a single server; name "):
            used.claim(flush=flush)
    assert not Admin(node).was_told_to_delete()


def test_a_replica_is_refused(started: Started) -> None:
    running = started()
    Admin(running).ask(b"REPLICAOF", b"127.0.0.1", b"1")
    used = UrlServer(url_of(running))
    for flush in (False, True):
        with pytest.raises(ServerError, match=r"is a replica of 127\.0\.0\.1:1, which is not written to; name another"):
            used.claim(flush=flush)
    assert not Admin(running).was_told_to_delete()


@pytest.fixture
def guarded(started: Started) -> Server:
    running = started()
    admin = Admin(running)
    admin.ask(b"SET", b"key", b"value")
    admin.ask(b"ACL", b"SETUSER", b"writer", b"on", b">" + PASSWORD.encode(), b"~*", b"+@all")
    admin.ask(b"ACL", b"SETUSER", b"reader", b"on", b">" + PASSWORD.encode(), b"~*", b"+@all", b"-flushall")
    admin.ask(b"CONFIG", b"SET", b"requirepass", PASSWORD.encode())
    return running


@pytest.mark.parametrize("user", ["", "default", "writer"])
def test_user_and_password_are_sent(user: str, guarded: Server) -> None:
    admin = Admin(guarded, b"AUTH", PASSWORD.encode())
    url = url_of(guarded, f"{user}:{ENCODED}@", "/5")
    shown = url_of(guarded, database="/5")
    used = UrlServer(url)
    assert used.url == url
    with pytest.raises(ServerError, match=f"^{shown} holds 1 key in database 0, and") as caught:
        used.claim(flush=False)
    assert ENCODED not in str(caught.value)
    assert PASSWORD not in str(used)
    used.claim(flush=True)
    hold_all(admin)
    used.release()
    assert admin.ask(b"DBSIZE").text == b"0"


def test_each_connection_begins_in_the_database_of_the_address(guarded: Server) -> None:
    used = UrlServer(url_of(guarded, f"writer:{ENCODED}@", "/5"))
    connection = Connection(used.address(), time.monotonic() + 5)
    for command in (*used.login, (b"SET", b"here", b"1")):
        assert connection.ask(command, time.monotonic() + 5).text == b"OK"
    admin = Admin(guarded, b"AUTH", PASSWORD.encode())
    assert b"db5:keys=1" in admin.ask(b"INFO", b"keyspace").text


@pytest.mark.parametrize(
    ("login", "database", "fault"),
    [
        ("", "", "wants a password; put it into the address, redis://user:password@host:port/database"),
        (":wrong@", "", "does not accept the user and the password; check those of the address"),
        (f"nobody:{ENCODED}@", "", "does not accept the user and the password; check those of the address"),
        (f":{ENCODED}x@", "", "does not accept the user and the password; check those of the address"),
        (f":{ENCODED}@", "/99", "answers SELECT 99 with ERR DB index is out of range; name another with --redis"),
    ],
)
def test_a_login_that_fails(login: str, database: str, fault: str, guarded: Server) -> None:
    assert refusal(url_of(guarded, login, database)).startswith(f"{url_of(guarded, database=database)} {fault}")
    assert Admin(guarded, b"AUTH", PASSWORD.encode()).ask(b"DBSIZE").text == b"1"


def test_a_password_for_a_server_that_has_none(started: Started) -> None:
    running = started()
    url = url_of(running)
    assert refusal(url_of(running, f":{ENCODED}@")).startswith(
        f"{url} does not take the login; check user and password of the address, and leave them out where "
    )


def test_a_user_who_may_not_empty_the_server_is_told_at_once(guarded: Server) -> None:
    admin = Admin(guarded, b"AUTH", PASSWORD.encode())
    used = UrlServer(url_of(guarded, f"reader:{ENCODED}@"))
    with pytest.raises(ServerError, match=r"answers FLUSHALL ASYNC with NOPERM .*; allow it to the user"):
        used.claim(flush=True)
    assert admin.ask(b"DBSIZE").text == b"1"


class Listener:
    """Takes connections on loopback; ``answer`` says what each command gets, and ``greeting`` comes unasked."""

    def __init__(self, answer: Callable[[list[bytes]], bytes], greeting: bytes = b"") -> None:
        self.asked: list[list[bytes]] = []
        self._answer, self._greeting = answer, greeting
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection, contextlib.suppress(ProtocolError, OSError):
                    self._speak(connection)

    def _speak(self, connection: socket.socket) -> None:
        connection.sendall(self._greeting)
        received = resp.Reader(lambda: connection.recv(4096))
        while True:
            self.asked.append([item.text for item in received.read().items])
            connection.sendall(self._answer(self.asked[-1]))

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listening() -> Iterator[Callable[..., Listener]]:
    with contextlib.ExitStack() as listeners:

        def listen(answer: Callable[[list[bytes]], bytes], greeting: bytes = b"") -> Listener:
            listener = Listener(answer, greeting)
            listeners.callback(listener.close)
            return listener

        yield listen


Listening = Callable[..., Listener]


def bulk(text: str) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(text), text.encode())


def test_a_port_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    begin = time.monotonic()
    assert refusal(f"redis://:{ENCODED}@127.0.0.1:{port}") == (
        f"redis://127.0.0.1:{port} cannot be reached: Connection refused; start it, or name another with "
        "--redis-server or REDIS_URL"
    )
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize("login", ["", f"user:{ENCODED}@"])
def test_one_that_never_answers(login: str, listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    if login:
        monkeypatch.setattr(url_server, "_SECONDS", 0.25)
    silent = listening(lambda _: b"")
    begin = time.monotonic()
    told = refusal(silent.url.replace("//", f"//{login}"))
    assert time.monotonic() - begin < 3
    assert told.startswith(f"{silent.url} did not answer within {url_server._SECONDS:g} s; start it, or name another")


def test_one_that_answers_a_byte_at_a_time(listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_server, "_SECONDS", 0.25)

    def answer(_: list[bytes]) -> bytes:
        time.sleep(0.1)
        return b"$"

    dripping = listening(answer, b"$1000\r\n")
    begin = time.monotonic()
    assert "did not answer within 0.25 s" in refusal(dripping.url)
    assert time.monotonic() - begin < 1


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert refusal("redis://nobody.example").startswith(
        "redis://nobody.example:6379 cannot be reached: Name or service not known; start it, or name another"
    )


def test_a_name_that_cannot_be_asked_for() -> None:
    assert refusal(f"redis://{'a' * 70}.example").startswith(f"redis://{'a' * 70}.example:6379 cannot be reached: ")


def test_a_name_that_takes_long_to_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(url_server, "_SECONDS", 0.25)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(5) and [])
    begin = time.monotonic()
    told = refusal("redis://slow.example")
    done.set()
    assert time.monotonic() - begin < 1
    assert told.startswith("redis://slow.example:6379 did not answer within 0.25 s; ")


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"+OK ready\r\n", bulk("hello"), b":1\r\n"],
)
def test_one_that_is_no_server(answer: bytes, listening: Listening) -> None:
    other = listening(lambda _: answer)
    assert refusal(other.url).startswith(f"{other.url} is not a Redis or Valkey server; name another")


@pytest.mark.parametrize("shape", [b"%b\r\n", b"-ERR unknown command 'AUTH', with args beginning with: '%b'\r\n"])
def test_a_password_that_is_sent_back_is_not_shown(shape: bytes, listening: Listening) -> None:
    other = listening(lambda command: shape % command[-1])
    refusal(other.url.replace("//", f"//:{ENCODED}@"))
    refusal(other.url.replace("//", "//:s3cr3t@"))
    assert other.asked == [[b"AUTH", PASSWORD.encode()], [b"AUTH", b"s3cr3t"]]


def test_one_that_hangs_up(listening: Listening) -> None:
    def answer(_: list[bytes]) -> bytes:
        raise OSError

    other = listening(answer)
    assert refusal(other.url).startswith(
        f"{other.url} closes the connection, as a server that speaks TLS alone does; name another"
    )


@pytest.mark.parametrize(
    ("info", "fault"),
    [
        (INFO.format("loading:1\r\n"), "is still loading its data; wait until it is up"),
        (INFO.format("").replace("standalone", "sentinel"), "is a sentinel, and pages are run on a single server; "),
        (INFO.format("").replace("# Keyspace\r\n", ""), "does not tell in INFO whether it holds keys; name another "),
        (INFO.format("") + "db0:unheard=of\r\n", "holds unheard=of keys in database 0, and pages are run on an empty "),
    ],
)
def test_one_that_cannot_be_known_to_be_empty_is_refused(info: str, fault: str, listening: Listening) -> None:
    other = listening(lambda command: bulk(info) if command == [b"INFO"] else b"*0\r\n")
    assert refusal(other.url).startswith(f"{other.url} {fault}")
    assert all(command in ([b"INFO"], [b"FUNCTION", b"LIST"]) for command in other.asked)


def test_one_too_old_for_functions(listening: Listening) -> None:
    answers = {b"INFO": bulk(INFO.format("")), b"FUNCTION": b"-ERR unknown command `FUNCTION`, with args\r\n"}
    old = listening(lambda command: answers.get(command[0], b"+OK\r\n"))
    UrlServer(old.url).claim(flush=False)
    assert [b"FLUSHALL", b"ASYNC"] in old.asked


def test_one_that_answers_its_own_machine_alone(listening: Listening) -> None:
    other = listening(lambda _: b"", b"-DENIED Redis is running in protected mode because ...\r\n")
    assert "is in protected mode, where it answers its own machine alone; give it a password" in refusal(other.url)
