"""The figure of the first page: what it draws is what a server answers, and a reader can use it."""

from __future__ import annotations

import gzip
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pymdownx.superfences import SuperFencesException

from priority_site import six_jobs
from redis_transcripts import lua, reply
from redis_transcripts.connection import Connection
from redis_transcripts.resp import Kind, Reply
from redis_transcripts.server import Server, find

ROOT = Path(__file__).parents[2]
TIER = 2**32
FIRST_JOB = 7

type OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, site_url: str) -> Iterator[OpenPage]:
    """Opens the first page, ``query`` behind its address, in a window of its own."""
    contexts = []

    def opened(query: str = "", width: int = 1280, height: int = 900, **settings: Any) -> Page:
        settings = {"reduced_motion": "reduce", "viewport": {"width": width, "height": height}} | settings
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(5000)
        page.goto(site_url + query)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def shared_page(browser: Browser, site_url: str) -> Iterator[Page]:
    """The first page, for tests that leave nothing behind but what ``visit`` undoes."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(5000)
    page.goto(site_url)
    yield page
    context.close()


@pytest.fixture
def visit(shared_page: Page) -> OpenPage:
    """Shows what the figure makes of ``query``, without loading the page again."""

    def visited(query: str = "", width: int = 1280, height: int = 900, scheme: Any = "light") -> Page:
        shared_page.set_viewport_size({"width": width, "height": height})
        shared_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        shared_page.evaluate(
            """query => {
              history.replaceState(null, '', location.pathname + query);
              const figure = document.querySelector('six-jobs');
              figure.query = null;
              figure.read();
              figure.querySelector('form').reset();
              scrollTo(0, 0);
            }""",
            query,
        )
        return shared_page

    return visited


def guess(page: Page, job: int) -> None:
    page.get_by_role("button", name=f"job {job} ").click()


def cards(page: Page) -> list[str]:
    """The jobs in the order in which they stand, and the turn of those that have come out."""
    parts = "items => items.map(item => [...item.querySelectorAll('b:first-child, small')]"
    names: list[str] = page.locator("ol.jobs li").evaluate_all(
        parts + ".filter(part => !part.matches('.score *')).map(part => part.textContent).join(' '))"
    )
    return names


def texts(page: Page) -> list[str]:
    return page.locator("ol.jobs li").all_text_contents()


def told(page: Page) -> str:
    return page.get_by_role("status").inner_text()


def shown_reply(page: Page) -> list[str]:
    return page.locator(".reply samp span").all_text_contents()


def query(page: Page) -> str:
    found: str = page.evaluate("location.search")
    return found


# What it draws, and what a server answers


@dataclass(frozen=True, slots=True)
class Case:
    """Jobs of these priorities are added after ``counter`` others, and popped from these ends."""

    counter: int
    priorities: tuple[int, ...]
    pops: tuple[str, ...]
    alone: bool

    @property
    def link(self) -> str:
        """The query string that leads to all jobs but the last, which is typed."""
        score = "&score=priority" if self.alone else ""
        return f"?jobs={','.join(map(str, self.priorities[:-1]))}&counter={self.counter}{score}"


_EDGE_COUNTERS = (0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1, 2**32, 2**32 + 1)
_EDGE_PRIORITIES = (1, 2, 23282, 23283, 23284, 2097150, 2097151)


def edges() -> Iterator[Case]:
    """The counter passes each edge on the first job and in the midst, in every edge of a tier, from both ends."""
    for edge in _EDGE_COUNTERS:
        for turn in range(len(_EDGE_PRIORITIES)):
            priorities = _EDGE_PRIORITIES[turn:] + _EDGE_PRIORITIES[:turn]
            pops = (("min",) * 9, ("max",) * 9, ("min", "max") * 4)[turn % 3]
            yield Case(max(edge - 1 - turn, 0), priorities + priorities[:1], pops, alone=False)
    for priority in _EDGE_PRIORITIES:
        # Members 7 to 18 tie: their bytes decide.
        for end in ("min", "max"):
            yield Case(0, (priority,) * 12, (end,) * 13, alone=True)
            yield Case(TIER - 7, (priority,) * 12, (end,) * 13, alone=False)
    for counter in _EDGE_COUNTERS:
        yield Case(counter, (3, 1, 2, 1, 3, 2), ("min", "max", "min", "max", "min", "max", "max"), alone=True)
        yield Case(counter, (3, 1, 2, 1, 3, 2), ("min",) * 7, alone=False)


def others(count: int) -> Iterator[Case]:
    chance = random.Random(1)
    for _ in range(count):
        last = chance.choice([2, 3, 10, 23300, 2097151])
        priorities = tuple(chance.randint(1, last) for _ in range(chance.randint(2, 24)))
        pops = tuple(chance.choice(["min", "max"]) for _ in range(chance.randint(1, 8)))
        yield Case(chance.choice([0, chance.randrange(2**33)]), priorities, pops, alone=chance.random() < 0.3)


EDGES = list(edges())
CASES = EDGES + list(others(len(EDGES)))

_ADD = f"""{lua.read(ROOT / "lua/includes/getPriorityScore.lua", ROOT).text}
for index, priority in ipairs(ARGV) do
  redis.call("ZADD", KEYS[1], getPriorityScore(tonumber(priority), KEYS[2]), {FIRST_JOB - 1} + index)
end"""
_ADD_ALONE = f"""for index, priority in ipairs(ARGV) do
  redis.call("ZADD", KEYS[1], priority, {FIRST_JOB - 1} + index)
end"""


@dataclass(frozen=True, slots=True)
class Seen:
    """The members with their scores in order, and the lines of each pop's reply."""

    scores: list[tuple[str, str]]
    replies: list[list[str]]


def answered(connection: Connection, case: Case) -> Seen:
    """What the server answers to a case."""

    def ask(*words: str | int) -> Reply:
        answer = connection.ask([str(word).encode() for word in words], time.monotonic() + 5)
        assert answer.kind is not Kind.ERROR, answer.text
        return answer

    ask("FLUSHALL")
    ask("SET", "pc", case.counter)
    ask("EVAL", _ADD_ALONE if case.alone else _ADD, 2, "jobs", "pc", *case.priorities)
    items = [item.text.decode() for item in ask("ZRANGE", "jobs", 0, -1, "WITHSCORES").items]
    replies = [reply.lines(ask(f"ZPOP{end.upper()}", "jobs"), []) for end in case.pops]
    return Seen(list(zip(items[::2], items[1::2], strict=True)), replies)


_DRAW = """async cases => {
  const { fromQuery } = await import(new URL('assets/six-jobs/model.js', location.href));
  // A browser holds up a page that rewrites its address a thousand times.
  history.replaceState = () => {};
  const figure = document.querySelector('six-jobs');
  const form = figure.querySelector('form');
  const text = (item, part) => item.querySelector(part)?.lastChild.textContent ?? null;
  const items = () => [...figure.querySelectorAll('ol.jobs li')];
  return cases.map(({ link, last, pops }) => {
    figure.draw(fromQuery(link, figure.start));
    form.querySelector('input').value = last;
    form.requestSubmit();
    const drawn = items().map(item =>
      [text(item, 'div > b').slice(4), text(item, '.score > span'), text(item, '.tier'), text(item, '.counter')]);
    const replies = pops.map(end => {
      figure.querySelector(`button[value=${end}]`).click();
      return [...figure.querySelectorAll('.reply samp span')].slice(1).map(line => line.textContent);
    });
    const out = items().filter(item => item.matches('.taken'))
      .map(item => [parseInt(text(item, 'small')), text(item, 'div > b').slice(4)])
      .sort(([a], [b]) => a - b).map(([, member]) => member);
    return { drawn, replies, out };
  });
}"""


def test_it_draws_what_a_server_answers(open_page: OpenPage) -> None:
    assert len(CASES) == 2 * len(EDGES) >= 200
    asked = [{"link": case.link, "last": str(case.priorities[-1]), "pops": case.pops} for case in CASES]
    drawings = open_page().evaluate(_DRAW, asked)
    server = Server(find(None))
    connection = Connection(server.address(), time.monotonic() + 5)
    try:
        for case, drawing in zip(CASES, drawings, strict=True):
            truth = answered(connection, case)
            assert [(member, score) for member, score, _, _ in drawing["drawn"]] == truth.scores, case
            assert drawing["replies"] == truth.replies, case
            popped = [lines[0].split('"')[1] for lines in truth.replies if len(lines) == 2]
            assert drawing["out"] == popped, case
            for member, score, tier, counter in drawing["drawn"]:
                arrival = int(member) - FIRST_JOB
                assert int(tier) == case.priorities[arrival]
                if case.alone:
                    assert counter is None
                else:
                    assert (int(tier), int(counter)) == divmod(int(score), TIER)
    finally:
        connection.close()
        server.stop()


# The guess

_ORDER = ["job 8 1st out", "job 10", "job 9", "job 12", "job 7", "job 11"]


@pytest.mark.parametrize("job", six_jobs.JOBS, ids=lambda job: f"job {job.number}")
def test_a_guess_is_answered_in_a_sentence_and_the_reply(visit: OpenPage, job: six_jobs.Job) -> None:
    page = visit()
    assert cards(page) == ["job 7", "job 8", "job 9", "job 10", "job 11", "job 12"]
    assert "4294967298" not in page.locator("six-jobs").inner_text()
    guess(page, job.number)
    assert told(page) == f"{'Yes' if job.number == 8 else 'No'}, job 8 comes out. {job.answer}"
    assert cards(page) == _ORDER
    assert shown_reply(page) == ["> ZPOPMIN emq:{orders}:prioritized", '1) "8"', '2) "4294967298"']
    formula = page.locator(".formula").inner_text()
    assert " ".join(formula.split()) == "tier counter priority * 232 + counter % 232"


def shown_order(page: Page) -> str:
    order: str = page.evaluate("getComputedStyle(document.querySelector('ol.jobs'), '::before').content")
    return order


def test_the_order_in_which_the_cards_stand_is_shown(visit: OpenPage) -> None:
    page = visit()
    assert shown_order(page) == '"Jobs in order of arrival"'
    guess(page, 8)
    assert shown_order(page) == '"Jobs in order of score"'
    page.get_by_role("button", name="Start again").click()
    assert shown_order(page) == '"Jobs in order of arrival"'


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ("1,min,min,1", "One job waits."),
        ("1,min,min,1,2", "2 jobs wait, in the order of their scores."),
        ("1,2,min", "Job 7 comes out: its score is the smallest of 2."),
        ("1,min,min", "The set is empty, and nothing comes out."),
    ],
)
def test_what_is_said_is_of_the_last_step(visit: OpenPage, steps: str, says: str) -> None:
    page = visit(f"?jobs={steps}")
    assert told(page) == says
    page.get_by_label("Priority alone as score").check()
    assert told(page) == f"With the priority alone as score, {says[0].lower()}{says[1:]}"


def test_each_pop_is_numbered(visit: OpenPage) -> None:
    page = visit(f"?jobs={','.join(['1'] * 24)}{',min' * 24}")
    turns = [card.partition(" out")[0].rpartition(" ")[2] for card in cards(page)]
    assert turns[:4] == ["1st", "2nd", "3rd", "4th"]
    assert turns[9:14] == ["10th", "11th", "12th", "13th", "14th"]
    assert turns[19:] == ["20th", "21st", "22nd", "23rd", "24th"]


def test_of_jobs_that_tie_the_text_decides_at_either_end(visit: OpenPage) -> None:
    page = visit("?jobs=1,1,1,1&score=priority")
    page.get_by_role("button", name="ZPOPMAX").click()
    assert told(page) == "Job 9 comes out: of 4 jobs with score 1, its text sorts last."
    page.get_by_role("button", name="ZPOPMIN").click()
    assert told(page) == "Job 10 comes out: of 3 jobs with score 1, its text sorts first."


def test_what_a_pop_says_is_its_reason(visit: OpenPage) -> None:
    page = visit("?jobs=1,2,3")
    assert told(page) == "3 jobs wait, in the order of their scores."
    assert not page.locator(".reply").is_visible()
    page.get_by_role("button", name="ZPOPMAX").click()
    assert told(page) == "Job 9 comes out: its score is the largest of 3."
    page.get_by_role("button", name="ZPOPMIN").click()
    assert told(page) == "Job 7 comes out: its score is the smallest of 2."
    page.get_by_role("button", name="ZPOPMIN").click()
    assert told(page) == "Job 8 comes out, the last one."
    for _ in range(3):
        page.get_by_role("button", name="ZPOPMIN").click()
        assert told(page) == "The set is empty, and nothing comes out."
        assert shown_reply(page)[1:] == ["(empty array)"]
    assert query(page) == "?jobs=1,2,3,max,min,min,min"


def test_with_the_priority_alone_the_same_commands_take_other_jobs(visit: OpenPage) -> None:
    page = visit()
    guess(page, 10)
    page.get_by_label("Priority alone as score").check()
    assert told(page) == (
        "With the priority alone as score, job 10 comes out: of 2 jobs with score 1, its text sorts first."
    )
    assert shown_reply(page)[1:] == ['1) "10"', '2) "1"']
    assert cards(page) == ["job 10 1st out", "job 8", "job 12", "job 9", "job 11", "job 7"]
    page.get_by_label("Priority alone as score").uncheck()
    assert cards(page) == _ORDER


# By keyboard


def focused(page: Page) -> str:
    found: str = page.evaluate("(({ textContent, type }) => textContent || type)(document.activeElement)")
    return found


def test_it_can_be_used_by_keyboard_alone(visit: OpenPage) -> None:
    page = visit()
    for _ in range(30):
        page.keyboard.press("Tab")
        if focused(page) == "job 7 priority 3":
            break
    for _ in range(3):
        page.keyboard.press("Tab")
    assert focused(page) == "job 10 priority 1"
    page.keyboard.press("Enter")
    assert focused(page) == "ZPOPMIN"
    for member in ("10", "9", "12", "7", "11"):
        page.keyboard.press("Enter")
        assert shown_reply(page)[1] == f'1) "{member}"'
    page.keyboard.press("Enter")
    assert shown_reply(page)[1:] == ["(empty array)"]
    assert focused(page) == "ZPOPMIN"
    page.keyboard.press("Tab")
    assert focused(page) == "ZPOPMAX"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.get_by_label("Priority alone as score").is_checked()
    assert focused(page) == "checkbox"
    page.keyboard.press("Tab")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    assert told(page) == "Job 13 is 1st of the 1 that wait."
    assert focused(page) == "text"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page) == "Start again"
    page.keyboard.press("Enter")
    assert focused(page) == "job 7 priority 3"
    assert query(page) == ""


@pytest.mark.parametrize("width", [320, 1280])
def test_what_was_asked_for_is_in_sight(visit: OpenPage, width: int) -> None:
    page = visit(width=width, height=640)
    guess(page, 10)
    expect(page.get_by_role("status")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="ZPOPMIN")).to_be_in_viewport(ratio=1)


# The field

_FITS = " Take a whole number from 1 to 2097151."
_SHARED = "From 2097152 on, neighbouring counters share a score." + _FITS
_FRACTION = "A fraction lands inside a tier and can tie with another job of it." + _FITS
_NO_NUMBER = "This is not a number in digits." + _FITS


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("2097152", _SHARED),
        ("9" * 400, _SHARED),
        ("1.5", _FRACTION),
        ("1,5", _FRACTION),
        ("high", _NO_NUMBER),
        ("1e3", _NO_NUMBER),
        ("0x10", _NO_NUMBER),
        ("<b>", _NO_NUMBER),
        ("", "A job needs a priority." + _FITS),
        (" ", "A job needs a priority." + _FITS),
        ("0", "BullMQ keeps a job of priority 0 in the list wait, not in this set." + _FITS),
        ("-1", "A priority below 0 goes before all of tier 1." + _FITS),
    ],
)
def test_the_field_says_why_it_refuses(visit: OpenPage, typed: str, why: str) -> None:
    page = visit("?jobs=3,1")
    field = page.get_by_role("textbox", name="Priority")
    field.fill(typed)
    page.get_by_role("button", name="Add job 9").click()
    expect(field).to_have_accessible_description(why)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    assert field.input_value() == typed
    assert cards(page) == ["job 8", "job 7"]
    field.fill("2097151")
    expect(field).to_have_accessible_description("")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    field.press("Enter")
    assert cards(page) == ["job 8", "job 7", "job 9"]
    assert query(page) == "?jobs=3,1,2097151"


def test_a_crowd_is_refused(visit: OpenPage) -> None:
    page = visit("?jobs=" + ",".join(["1"] * 24))
    page.get_by_role("button", name="Add job 31").click()
    expect(page.get_by_role("textbox", name="Priority")).to_have_accessible_description(
        "24 jobs are enough. Start again."
    )


# Links


def state(page: Page) -> tuple[list[str], list[str], bool, str]:
    return texts(page), shown_reply(page), page.get_by_label("Priority alone as score").is_checked(), query(page)


def test_a_link_leads_to_what_was_done(open_page: OpenPage) -> None:
    page = open_page("?from=elsewhere")
    guess(page, 8)
    page.get_by_role("button", name="ZPOPMAX").click()
    page.get_by_role("textbox", name="Priority").fill("1")
    page.get_by_role("button", name="Add job 13").click()
    page.get_by_role("button", name="ZPOPMIN").click()
    page.get_by_label("Priority alone as score").check()
    assert query(page) == "?jobs=3,1,2,1,3,2,min,max,1,min&score=priority&from=elsewhere"
    assert state(open_page(query(page))) == state(page)
    page.get_by_role("button", name="Start again").click()
    assert query(page) == "?from=elsewhere"
    assert cards(page) == ["job 7", "job 8", "job 9", "job 10", "job 11", "job 12"]
    assert told(page) == "Choose one, or open the answer."


def test_a_link_can_show_where_the_counter_begins_again(visit: OpenPage) -> None:
    page = visit("?counter=4294967293")
    assert cards(page) == ["job 10", "job 8", "job 9", "job 12", "job 11", "job 7"]
    assert texts(page)[2] == "job 9 tier 2counter 0score 8589934592"
    page.get_by_role("button", name="ZPOPMIN").click()
    assert query(page) == "?jobs=3,1,2,1,3,2,min&counter=4294967293"


_BAD_LINK = "The link to this figure cannot be read. "


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("?jobs=3,2097152", "jobs has “2097152”. " + _SHARED),
        ("?jobs=3,<img src=x>", "jobs has “<img src=x>”. " + _NO_NUMBER),
        ("?jobs=", "jobs has “”. A job needs a priority." + _FITS),
        ("?jobs=3,mid", "jobs has “mid”. " + _NO_NUMBER),
        ("?jobs=" + "1," * 24 + "1", "jobs holds at most 24 priorities."),
        ("?jobs=1" + ",min" * 2000, "jobs holds at most 24 priorities."),
        ("?score=arrival", "score can only be priority."),
        ("?counter=-1", "counter is a whole number of at most 15 digits."),
        ("?counter=1e3", "counter is a whole number of at most 15 digits."),
        ("?counter=9007199254740993", "counter is a whole number of at most 15 digits."),
    ],
)
def test_a_bad_link_says_so_and_leaves_the_start(visit: OpenPage, link: str, why: str) -> None:
    page = visit(link)
    assert told(page) == _BAD_LINK + why
    assert cards(page) == ["job 7", "job 8", "job 9", "job 10", "job 11", "job 12"]
    guess(page, 8)
    assert cards(page) == _ORDER
    assert query(page) == "?jobs=3,1,2,1,3,2,min"


# Coming back


def test_it_is_there_again_when_the_reader_comes_back(open_page: OpenPage, site: Path, site_url: str) -> None:
    page = open_page()
    origin = re.search(r"<loc>(http://[^/]+/)</loc>", (site / "sitemap.xml").read_text())
    assert origin is not None
    # The theme replaces the content of a page only where the sitemap names the origin that serves it.
    page.route(
        "**/sitemap.xml",
        lambda route: route.fulfill(body=(site / "sitemap.xml").read_text().replace(origin[1], site_url)),
    )
    page.goto(site_url, wait_until="networkidle")
    page.evaluate("window.isTheSameDocument = true")
    guess(page, 8)
    page.get_by_role("link", name="Understand it").click()
    page.wait_for_url("**/sorted-sets/")
    expect(page.locator("h1")).to_contain_text("How does a sorted set order")
    page.go_back()
    expect(page.locator("six-jobs form")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("Job 8 comes out: its score is the smallest of 6.")
    page.get_by_role("button", name="ZPOPMIN").click()
    assert shown_reply(page)[1] == '1) "10"'
    page.go_forward()
    expect(page.locator("h1")).to_contain_text("How does a sorted set order")
    page.go_back()
    expect(page.get_by_role("status")).to_have_text("Job 10 comes out: its score is the smallest of 5.")
    assert page.evaluate("window.isTheSameDocument") is True


def test_an_element_that_is_moved_stays_what_it_is(open_page: OpenPage) -> None:
    page = open_page()
    guess(page, 8)
    before = state(page)
    page.evaluate("document.querySelector('article').append(document.querySelector('six-jobs'))")
    assert state(page) == before
    page.get_by_role("button", name="ZPOPMIN").click()
    assert query(page) == "?jobs=3,1,2,1,3,2,min,min"
    assert page.locator("six-jobs form").count() == 1


# How it looks

_STATES = {
    "start": "",
    "pops": "?jobs=3,1,2,1,3,2,min,max",
    "large": "?jobs=3,1,2,1,3,2,2097151,min",
    "largest": "?jobs=2097151,2097151,2097151&counter=4294967290",
    "alone": "?jobs=3,1,2,1,3,2097151,min&score=priority",
    "crowd": "?jobs=" + ",".join(["2097151"] * 24) + "&counter=4294967270",
    "bad": "?jobs=x",
}


def refused(page: Page) -> None:
    """Show the message of the field, where there is one."""
    if page.locator("six-jobs form").is_visible():
        page.get_by_role("textbox", name="Priority").fill("2097152")
        page.get_by_role("textbox", name="Priority").press("Enter")


_SPILT = """[...document.querySelectorAll('ol.jobs :is(.score, .score > *, small, div > b)')].filter(part => {
  const [inner, outer] = [part, part.closest('li').firstElementChild].map(element => element.getBoundingClientRect());
  return inner.left < outer.left + 2 || inner.right > outer.right - 2;
}).map(part => part.textContent)"""


@pytest.mark.long
@pytest.mark.parametrize("query", _STATES.values(), ids=_STATES)
def test_everything_fits(visit: OpenPage, query: str) -> None:
    page = visit(query)
    refused(page)
    for width in (320, 375, 600, 720, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(_SPILT) == [], width


@pytest.mark.long
@pytest.mark.parametrize("query", _STATES.values(), ids=_STATES)
def test_everything_can_be_tapped(visit: OpenPage, query: str) -> None:
    page = visit(query, width=320)
    targets = "six-jobs :is(button, input:not([type=checkbox]), label:has([type=checkbox]))"
    boxes = [target.bounding_box() for target in page.locator(targets).all() if target.is_visible()]
    assert len(boxes) >= 6
    assert [box for box in boxes if box is None or box["height"] < 40 or box["width"] < 40] == []


_FAINT = """() => {
  const channels = color => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map(c => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = element => {
    const color = channels(getComputedStyle(element).backgroundColor);
    return color.length < 4 || color[3] ? color : ground(element.parentElement);
  };
  const found = [];
  for (const element of document.querySelectorAll('six-jobs *')) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()) || !element.checkVisibility())
      continue;
    const pair = [channels(getComputedStyle(element).color), ground(element)].map(luminance).sort((a, b) => a - b);
    found.push([element.textContent, (pair[1] + 0.05) / (pair[0] + 0.05)]);
  }
  return found;
}"""


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("query", ["", _STATES["pops"], _STATES["bad"]], ids=["start", "pops", "bad"])
def test_every_text_can_be_read(visit: OpenPage, query: str, scheme: str) -> None:
    page = visit(query, scheme=scheme)
    refused(page)
    ratios: list[tuple[str, float]] = page.evaluate(_FAINT)
    assert len(ratios) >= 12
    assert [(text, ratio) for text, ratio in ratios if ratio < 5.7] == []


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_moves_while_the_page_loads(browser: Browser, site_url: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(
        """window.shifts = [];
        const note = ({ value, sources }) => shifts.push([value, ...sources.map(({ node }) => node?.outerHTML ?? '')]);
        new PerformanceObserver(list => list.getEntries().forEach(note))
          .observe({ type: 'layout-shift', buffered: true });"""
    )

    def late(route: Route) -> None:
        # After the first paint, as over a slow line.
        page.wait_for_timeout(400)
        route.continue_()

    page.route("**/six-jobs/element.js", late)
    page.goto(site_url, wait_until="networkidle")
    expect(page.locator("ol.jobs button")).to_have_count(6)
    page.wait_for_timeout(200)
    assert page.evaluate("performance.getEntriesByName('first-contentful-paint').length") == 1
    assert page.evaluate("shifts") == []
    context.close()


@pytest.mark.parametrize(("motion", "moves"), [("no-preference", True), ("reduce", False)])
def test_cards_move_only_where_motion_is_welcome(open_page: OpenPage, motion: str, moves: bool) -> None:
    page = open_page(reduced_motion=motion)
    moving = page.evaluate(
        "document.querySelector('ol.jobs button').click(), document.querySelector('ol.jobs')"
        ".getAnimations({ subtree: true }).filter(({ effect }) => effect.target.matches('li')).length"
    )
    assert (moving > 0) is moves


# Without JavaScript, and its weight


def test_without_javascript_the_answer_is_closed_and_complete(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    figure = page.locator("six-jobs")
    assert texts(page) == [f"job {job.number} priority {job.priority}" for job in six_jobs.JOBS]
    assert figure.get_by_role("button").count() == 0
    score = page.get_by_role("cell", name="4294967298")
    assert not score.is_visible()
    page.get_by_text("Show the answer").click()
    assert score.is_visible()
    rows = page.locator("details tbody tr").all_inner_texts()
    assert [row.split("\t")[1] for row in rows[:6]] == ["job 8", "job 10", "job 9", "job 12", "job 7", "job 11"]
    assert [row.split("\t")[0] for row in rows[6:]] == ["job 7", "job 9 or 12", "job 10", "job 11"]


def test_the_static_scores_are_those_of_the_figure(visit: OpenPage) -> None:
    page = visit()
    page.get_by_text("Show the answer").click()
    static = page.locator("details .score > span").all_text_contents()
    guess(page, 8)
    drawn = page.locator("ol.jobs .score > span").all_text_contents()
    assert [f"score {score}" for score in static] == drawn


def test_a_part_that_there_is_not_is_refused() -> None:
    with pytest.raises(SuperFencesException, match="holds one of cards, scores, beliefs, not 'tables'"):
        six_jobs.draw("tables\n", "six-jobs", "", {}, None)


def test_it_weighs_little(site: Path) -> None:
    folder = site / "assets/six-jobs"
    sizes = [len(gzip.compress((folder / name).read_bytes(), 9)) for name in ("model.js", "element.js")]
    assert sum(sizes) <= 6000, sizes
