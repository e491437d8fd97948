"""One run through a page: its examples in order, each once, in one session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from redis_transcripts.examples import Example, RedisExample
from redis_transcripts.execution import Execution
from redis_transcripts.fence import Block
from redis_transcripts.outcome import Answer, ExampleError, SessionLostError
from redis_transcripts.servers import Servers
from redis_transcripts.transcript import Step

type Answers = tuple[Answer, ...]
type Outcome = Answers | ExampleError

_BLOCKING_COMMANDS = {
    b"blmove",
    b"blmpop",
    b"blpop",
    b"brpop",
    b"brpoplpush",
    b"bzmpop",
    b"bzpopmax",
    b"bzpopmin",
    b"wait",
    b"xread",
    b"xreadgroup",
}


class PageRun:
    """One run through a page, which begins with the first example that is asked for.

    An example is run once, whatever is asked for, and after all those above it that these servers can run.
    """

    def __init__(self, servers: Servers, examples: Sequence[Example]) -> None:
        self._servers = servers
        self._examples = tuple(examples)
        self._outcomes: list[Outcome | Future[Answers]] = []
        self._execution = Execution(servers)
        self._waiting: dict[str, int] = {}
        self._threads = ThreadPoolExecutor(thread_name_prefix="client")
        self._lost: SessionLostError | None = None

    def outcome(self, index: int, names: Mapping[str, object] | None = None) -> Answers:
        """Return what the example at ``index`` answered; runs what is above it first, and what unblocks it.

        ``names`` are put into the page's Python namespace before the example is run.

        Raises:
            ExampleError: the example came to no end.
            ServerError: the server cannot be started.
        """
        while len(self._outcomes) < index:
            self._run_next()
        if len(self._outcomes) == index:
            self._run_next(names)
        while self._is_waiting(index) and len(self._outcomes) < len(self._examples):
            self._run_next()
        outcome = self._result(index)
        if isinstance(outcome, ExampleError):
            raise outcome
        return outcome

    def close(self) -> None:
        """End the session, and what still waits for a reply."""
        self._execution.close()
        self._threads.shutdown()

    def _run_next(self, names: Mapping[str, object] | None = None) -> None:
        example = self._examples[len(self._outcomes)]
        self._outcomes.append(self._run(example, names or {}))

    def _run(self, example: Example, names: Mapping[str, object]) -> Outcome | Future[Answers]:
        block = example.block
        if self._servers.reason_to_skip(block):
            return ()
        for name in [name for name in self._waiting if "fresh" in block.keys or name == block.keys.get("client")]:
            self._result(self._waiting.pop(name))
        if self._lost:
            return ExampleError(f"{block.origin}: not run, since the session is lost\n{self._lost}")
        return self._guarded(block, lambda: self._start(example, names))

    def _start(self, example: Example, names: Mapping[str, object]) -> Answers | Future[Answers]:
        """Run ``example``; one that the server holds back goes on beside those below it."""
        with _naming(example.block):
            self._execution.prepare(example.block)
        name = example.block.keys.get("client")
        if name is None or not isinstance(example, RedisExample) or not any(map(_may_block, example.steps)):
            return self._execution.answers(example, names)
        session = self._execution.session
        with _naming(example.block):
            session.client(name)
            answers = self._threads.submit(self._execution.answers, example, {})
            session.wait_until_blocked(name, answers.done)
        self._waiting[name] = len(self._outcomes)
        return answers

    def _is_waiting(self, index: int) -> bool:
        outcome = self._outcomes[index]
        return isinstance(outcome, Future) and not outcome.done()

    def _result(self, index: int) -> Outcome:
        """Return what came of the example at ``index``, which may still have to wait for a reply."""
        outcome = self._outcomes[index]
        if not isinstance(outcome, Future):
            return outcome
        ended = self._guarded(self._examples[index].block, outcome.result)
        self._outcomes[index] = ended
        return ended

    def _guarded[T](self, block: Block, run: Callable[[], T]) -> T | ExampleError:
        """Return what ``run`` returns, or the error that kept ``block`` from its end."""
        try:
            return run()
        except SessionLostError as lost:
            if self._lost:
                return ExampleError(f"{block.origin}: not run to its end, since the session is lost\n{self._lost}")
            self._lost = self._execution.give_up(lost)
            return self._lost
        except ExampleError as error:
            return error


@contextlib.contextmanager
def _naming(block: Block) -> Iterator[None]:
    """Add to a loss the place of the block for whose sake the server was asked."""
    try:
        yield
    except SessionLostError as lost:
        raise SessionLostError(f"{block.origin}: {lost}") from lost


def _may_block(step: Step) -> bool:
    return b"".join(step.arguments[:1]).lower() in _BLOCKING_COMMANDS
