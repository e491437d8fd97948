"""Python blocks as the items of pytest-markdown-docs, run by a runner that knows the page.

The plugin's own collector would run the blocks apart from the page's other examples, would leave their output
unchecked, and names them by line; its items, fixtures and hooks are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pytest_markdown_docs._runners import DefaultRunner, register_runner
from pytest_markdown_docs.definitions import FenceTestDefinition
from pytest_markdown_docs.plugin import MarkdownInlinePythonItem, MarkdownTextFile

from redis_transcripts.errors import TranscriptsError
from redis_transcripts.fence import Block

_FIXTURE = "fixture:"


@dataclass(frozen=True, kw_only=True)
class PageFence(FenceTestDefinition):
    """A fence of a page whose run knows how to run it; ``run`` is given the names of the fence's fixtures."""

    run: Callable[[Mapping[str, object]], None]


@register_runner(default=True)
class PageRunner(DefaultRunner):
    """Runs a page's fences as part of the page, and any other fence as the plugin does."""

    def runtest(self, test: FenceTestDefinition, args: dict[str, Any], *, asyncio_runner: Any = None) -> None:
        if isinstance(test, PageFence):
            test.run({name: value for name, value in args.items() if not name.startswith("__")})
        else:
            super().runtest(test, args, asyncio_runner=asyncio_runner)

    def repr_failure(
        self, test: FenceTestDefinition, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str:
        if isinstance(excinfo.value, TranscriptsError):
            return str(excinfo.value)
        text: str = super().repr_failure(test, excinfo, style)
        return text


def is_its_own(collector: pytest.Collector) -> bool:
    """Whether this is the plugin's own collector of a Markdown file."""
    return isinstance(collector, MarkdownTextFile)


def item(parent: pytest.Collector, block: Block, run: Callable[[Mapping[str, object]], None]) -> pytest.Item:
    """Return the test of a python ``block``, which calls ``run``."""
    definition = PageFence(
        source="\n".join(block.lines),
        fixture_names=tuple(name.removeprefix(_FIXTURE) for name in block.keys if name.startswith(_FIXTURE)),
        start_line=block.origin.line,
        source_path=parent.path,
        # By its name, since a project may have a default runner of its own.
        runner_name=PageRunner.__name__,
        run=run,
    )
    created: pytest.Item = MarkdownInlinePythonItem.from_parent(parent, name=block.name, test_definition=definition)
    return created
