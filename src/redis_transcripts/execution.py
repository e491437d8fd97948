"""How each kind of example is run, and what it answers."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from redis_transcripts import console, files, lua, python_code, reply
from redis_transcripts.cluster import ClusterConnection
from redis_transcripts.compare import Judgement
from redis_transcripts.errors import ProtocolError
from redis_transcripts.examples import ConsoleExample, Example, LuaExample, PythonExample, RedisExample
from redis_transcripts.fence import Block
from redis_transcripts.outcome import Answer, ExampleError, SessionLostError
from redis_transcripts.prompt import without_prompt
from redis_transcripts.python_code import Namespace
from redis_transcripts.resp import Kind, Reply
from redis_transcripts.servers import Servers
from redis_transcripts.session import Session, describe_silence, is_lasting
from redis_transcripts.source import without_blank_end
from redis_transcripts.transcript import Step

type Ask = Callable[[list[bytes]], Reply]

# Replies that list a name and its value in turn where they are flat, as those of RESP2 are.
_PAIRED_COMMANDS = {b"config", b"hgetall", b"zpopmax", b"zpopmin"}
_PAIRED_OPTIONS = {b"withscores", b"withvalues"}


class Execution:
    """What the examples of one page share: the session, the cluster connection, and the Python namespace."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._session: Session | None = None
        self._cluster: ClusterConnection | None = None
        self._cluster_is_spent = False
        self._namespace = Namespace()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def session(self) -> Session:
        """The page's session on the single server, which ``prepare`` begins."""
        assert self._session is not None
        return self._session

    def prepare(self, block: Block) -> None:
        """Bring the servers into the state that ``block`` starts from.

        Raises:
            ServerError: the server cannot be started.
            SessionLostError: it runs and cannot be emptied.
        """
        if "cluster" in block.keys:
            if self._cluster is None or "fresh" in block.keys:
                self._leave_cluster()
                self._servers.cluster().empty()
                self._cluster = ClusterConnection(self._servers.cluster())
        elif self._session is None:
            self._session = Session(self._servers.single)
        elif "fresh" in block.keys:
            self._session.start_fresh()

    def give_up(self, lost: SessionLostError) -> SessionLostError:
        """End the server, which may be in any state; return ``lost`` with what is known of how it ended."""
        return lost if self._session is None else self._session.give_up(lost)

    def close(self) -> None:
        """End the connections and the namespace."""
        if self._session is not None:
            self._session.close()
        self._leave_cluster()
        self._namespace.close()
        if self._folder is not None:
            self._folder.cleanup()

    def answers(self, example: Example, names: Mapping[str, object]) -> tuple[Answer, ...]:
        """Run ``example`` and return what it answers; ``names`` are put into the Python namespace before.

        Raises:
            ExampleError: code raised what the page does not show, or a command of a shell did not end.
            SessionLostError: a command got no reply.
        """
        match example:
            case RedisExample():
                with self._asking(example.block) as ask:
                    return tuple(self._step(ask, step, example.block) for step in example.steps)
            case LuaExample():
                with self._asking(example.block) as ask:
                    return (self._script(ask, example),)
            case PythonExample():
                return (self._code(example, names),)
            case ConsoleExample():
                return self._commands(example)

    @contextlib.contextmanager
    def _asking(self, block: Block) -> Iterator[Ask]:
        if "cluster" in block.keys:
            yield self._ask_cluster
            return
        client = self.session.client(block.keys.get("client"))
        with client.speaking(int(block.keys.get("resp") or 2)):
            yield client.ask

    def _step(self, ask: Ask, step: Step, block: Block) -> Answer:
        asked = f"> {without_prompt(step.typed)}"
        arguments = list(step.arguments)
        paired = False
        received = []
        if step.refusal is not None:
            received.append(step.refusal)
        else:
            for _ in range(step.repeat):
                answer = self._ask(ask, arguments, str(step.typed.origin), asked)
                paired = _is_paired(arguments, answer)
                received += reply.lines(answer, arguments)
        judgement = _judgement(block, paired)
        return Answer(self._servers.name, step.typed.origin, asked, step.shown, tuple(received), judgement)

    def _script(self, ask: Ask, example: LuaExample) -> Answer:
        count = b"%d" % len(example.keys)
        command = [b"EVAL", example.script.text.encode(), count, *example.keys, *example.argv]
        asked = f"EVAL {example.block.title}"
        received = reply.lines(self._ask(ask, command, str(example.block.origin), asked), command)
        failed_at = lua.error_origin(example.script, "\n".join(received))
        return Answer(
            self._servers.name,
            example.block.origin,
            asked,
            example.shown,
            tuple(received),
            _judgement(example.block, paired=False),
            f"the script failed at {failed_at}" if failed_at else "",
        )

    def _ask_cluster(self, arguments: list[bytes]) -> Reply:
        assert self._cluster is not None
        self._cluster_is_spent = self._cluster_is_spent or is_lasting(arguments)
        return self._cluster.ask(arguments)

    def _leave_cluster(self) -> None:
        """End the connection, and with it a cluster that the next page cannot use."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
        if self._cluster_is_spent:
            self._servers.cluster().stop()
            self._cluster_is_spent = False

    def _ask(self, ask: Ask, arguments: list[bytes], where: str, asked: str) -> Reply:
        try:
            return ask(arguments)
        except (OSError, ProtocolError) as error:
            raise SessionLostError(f"{where}: {describe_silence(error)}\n{asked}") from error

    def _code(self, example: PythonExample, names: Mapping[str, object]) -> Answer:
        block = example.block
        if example.files:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="redis-transcripts-", ignore_cleanup_errors=True)
            files.write(example.files, Path(self._folder.name))
            self._namespace.enter(Path(self._folder.name))
        with self._environment(block):
            printed = self._namespace.run(block.lines, names)
        received = python_code.judge(printed, example.shown)
        if printed.raised and received[-1:] != (printed.raised.last_line,):
            raise ExampleError(f"{printed.raised.origin}: {printed.raised.last_line}\n{printed.raised.text}")
        judgement = _judgement(block, paired=False)
        return Answer("Python", block.origin, block.title, example.shown, without_blank_end(received), judgement)

    def _commands(self, example: ConsoleExample) -> tuple[Answer, ...]:
        block = example.block
        judgement = _judgement(block, paired=False)
        with tempfile.TemporaryDirectory(prefix="redis-transcripts-") as folder, self._environment(block) as url:
            environment = console.shell_environment(url, Path(folder))
            outputs = console.run(example.commands, Path(folder), environment, example.files)
        return tuple(
            Answer("the shell", command.typed.origin, command.typed, command.shown, output, judgement)
            for command, output in zip(example.commands, outputs, strict=True)
        )

    @contextlib.contextmanager
    def _environment(self, block: Block) -> Iterator[str]:
        """Set ``REDIS_URL`` to the server of the block while an example runs, and yield it."""
        url = self._servers.cluster().url if "cluster" in block.keys else self.session.lend()
        before = os.environ.get("REDIS_URL")
        os.environ["REDIS_URL"] = url
        try:
            yield url
        finally:
            del os.environ["REDIS_URL"]
            if before is not None:
                os.environ["REDIS_URL"] = before


def _is_paired(arguments: Sequence[bytes], answer: Reply) -> bool:
    """Whether each two elements of ``answer`` belong together."""
    words = {argument.lower() for argument in arguments[1:]}
    is_flat = answer.kind is Kind.ARRAY and not any(element.items for element in answer.items)
    return is_flat and (bool(_PAIRED_OPTIONS & words) or b"".join(arguments[:1]).lower() in _PAIRED_COMMANDS)


def _judgement(block: Block, paired: bool) -> Judgement:
    entries = (2 if paired else 1) if "unordered" in block.keys else None
    return Judgement("varies" in block.keys, entries)
