"""The page of the scripts has each of them, and the site offers each ready to load."""

from __future__ import annotations

import re
from pathlib import Path

import packaged
import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from redis import Redis

from redis_transcripts import lua

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/scripts.md"
SCRIPTS = sorted(path.stem for path in (ROOT / "lua").glob("*.lua"))

_ROW = re.compile(r"\| \[(?P<name>[\w-]+)\]\(#(?P<anchor>[\w-]+)\) \|[^|]+\|[^|]+\| (?P<stands_for>[^|]+) \|")
_SECTION = re.compile(r"^### (?P<name>[\w-]+)\n(?P<text>.*?)(?=^##)", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def rows() -> list[re.Match[str]]:
    return list(_ROW.finditer(PAGE.read_text()))


def test_the_table_has_each_script_and_leads_to_its_section(rows: list[re.Match[str]]) -> None:
    assert sorted(row["name"] for row in rows) == SCRIPTS
    assert [row["anchor"] for row in rows] == [row["name"].lower() for row in rows]
    assert [section["name"] for section in _SECTION.finditer(PAGE.read_text())] == [row["name"] for row in rows]


def test_what_a_script_takes_the_place_of_is_a_script_of_bullmq(rows: list[re.Match[str]]) -> None:
    named = [row["name"] if row["stands_for"] == "its namesake" else row["stands_for"] for row in rows]
    others = [name for name in named if name != "none"]
    assert len(others) > 5
    assert [name for name in others if not packaged.script(name)] == []


def test_a_section_offers_its_own_file_and_shows_its_own_source() -> None:
    for section in _SECTION.finditer(PAGE.read_text()):
        name = section["name"]
        assert f"[Download {name}.lua](../lua/{name}.lua){{ download }} <copy-file></copy-file>\n" in section["text"]
        assert re.findall(r'--8<-- "lua/(.+)\.lua"', section["text"]) == [name]


def test_the_site_offers_no_other_file(site: Path) -> None:
    assert sorted(path.name for path in (site / "lua").iterdir()) == [f"{name}.lua" for name in SCRIPTS]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_file_of_the_site_is_the_script_behind_its_licence_and_loads(site: Path, name: str, redis_url: str) -> None:
    offered = (site / f"lua/{name}.lua").read_text()
    licence, _, script = offered.partition("\n")
    assert licence == "-- MIT licence, the contributors"
    assert script == lua.read(ROOT / f"lua/{name}.lua", ROOT).text + "\n"
    assert "@include" not in script
    with Redis.from_url(redis_url) as redis:
        assert redis.script_exists(redis.script_load(offered)) == [True]


@pytest.fixture
def page(context: BrowserContext, site_url: str) -> Page:
    opened = context.new_page()
    opened.goto(site_url + "reference/scripts/")
    return opened


def test_the_button_copies_the_file_and_says_so(page: Page, site: Path) -> None:
    page.get_by_role("button", name="Copy peek.lua").click()
    page.get_by_role("status").filter(has_text="copied").wait_for(timeout=5000)
    assert page.evaluate("navigator.clipboard.readText()") == (site / "lua/peek.lua").read_text()
    assert page.locator("copy-file [role=status]", has_text="copied").count() == 1


def test_each_script_has_a_button(page: Page) -> None:
    buttons = page.locator("copy-file button")
    names = sorted(buttons.nth(index).get_attribute("aria-label") or "" for index in range(buttons.count()))
    assert names == sorted(f"Copy {name}.lua" for name in SCRIPTS)


def test_the_button_says_when_it_could_not_copy(page: Page) -> None:
    page.route("**/lua/peek.lua", lambda route: route.fulfill(status=404))
    page.get_by_role("button", name="Copy peek.lua").click()
    page.get_by_text("not copied; use the link").wait_for(timeout=5000)


def test_the_link_downloads_without_javascript(browser: Browser, site: Path, site_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site_url + "reference/scripts/")
    assert page.locator("copy-file button").count() == 0
    with page.expect_download() as download:
        page.get_by_role("link", name="Download diagnose.lua").click()
    assert download.value.suggested_filename == "diagnose.lua"
    assert download.value.path().read_bytes() == (site / "lua/diagnose.lua").read_bytes()
    context.close()


def test_the_element_is_small() -> None:
    assert (ROOT / "docs/assets/copy-file.js").stat().st_size <= 1024
