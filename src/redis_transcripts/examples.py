"""A page's examples, and one run through them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redis_transcripts import fence, transcript
from redis_transcripts.errors import PageError, Problem
from redis_transcripts.fence import Block
from redis_transcripts.markdown import Page, PageReader
from redis_transcripts.server import Server
from redis_transcripts.session import Session, SessionLostError, StepOutcome
from redis_transcripts.source import Origin
from redis_transcripts.transcript import Step

_NO_EXAMPLES = re.compile(r"none\W+\w.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """A block and what is to be run of it."""

    block: Block
    steps: tuple[Step, ...]


def read(reader: PageReader, path: Path) -> tuple[Example, ...]:
    """Return the examples of the page at ``path`` in order.

    Raises:
        PageError: the page cannot be run as it is written, or has no example and does not say why in its front matter
            (``examples: none, because ...``).
    """
    page = reader.read(path)
    problems: list[Problem] = []
    found: list[Example] = []
    blocks = fence.blocks(page.fences)
    for block in blocks:
        try:
            found.append(Example(block, transcript.parse(block)))
        except PageError as error:
            problems += error.problems
    problems += _said_of_examples(page, blocks)
    if problems:
        raise PageError(problems)
    return tuple(found)


def _said_of_examples(page: Page, blocks: Sequence[Block]) -> list[Problem]:
    said = page.metadata.get("examples")
    top = Origin(page.path, 1)
    if said is None:
        if blocks:
            return []
        cure = "add a redis block, or say in the front matter `examples: none, because ...`"
        return [Problem(top, "a page with no example", cure)]
    if not _NO_EXAMPLES.fullmatch(str(said)):
        return [Problem(top, f"`examples: {said}` gives no reason", "write `examples: none, because ...`")]
    if blocks:
        return [Problem(top, f"`examples: {said}`, but there is one at {blocks[0].origin}", "delete the line")]
    return []


class PageRun:
    """One run through a page, in one session, which begins with the first block that is asked for.

    A block is run once, whatever is asked for, and after all the blocks above it.
    """

    def __init__(self, server: Server, examples: Sequence[Example]) -> None:
        self._server = server
        self._examples = tuple(examples)
        self._session: Session | None = None
        self._outcomes: list[tuple[StepOutcome, ...] | SessionLostError] = []
        self._lost: SessionLostError | None = None

    def outcome(self, index: int) -> tuple[StepOutcome, ...]:
        """Return what the steps of the block at ``index`` answered; runs what is above it first.

        Raises:
            SessionLostError: a step of the block got no reply, or one before it did not.
            ServerError: the server cannot be started.
        """
        while len(self._outcomes) <= index:
            self._outcomes.append(self._run(self._examples[len(self._outcomes)]))
        outcome = self._outcomes[index]
        if isinstance(outcome, SessionLostError):
            raise outcome
        return outcome

    def close(self) -> None:
        """End the session."""
        if self._session:
            self._session.close()

    def _run(self, example: Example) -> tuple[StepOutcome, ...] | SessionLostError:
        if self._lost:
            return SessionLostError(f"{example.block.origin}: not run, since the session is lost\n{self._lost}")
        try:
            if self._session is None:
                self._session = Session(self._server)
            elif "fresh" in example.block.keys:
                self._session.start_fresh()
            with self._session.speaking(int(example.block.keys.get("resp") or 2)):
                return self._session.run(example.steps)
        except SessionLostError as lost:
            self._lost = lost
            return lost
