"""What a reader meets in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

# Of each kind one: the hub, a page of examples, one of tables. The others are looked at in make check.
PATHS = ["", "priority/queue/", "reference/commands/"]
OTHER_PATHS = [
    "order/sorted-sets/",
    "order/composite-keys/",
    "priority/fifo/",
    "priority/limits/",
    "priority/move-to-active/",
    "priority/packing/",
    "priority/pop/",
    "reference/scripts/",
    "reference/tested/",
    "404.html",
]
ALL_PATHS = [*PATHS, *(pytest.param(path, marks=pytest.mark.long) for path in OTHER_PATHS)]


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.mark.parametrize("path", ALL_PATHS)
def test_a_page_loads_without_another_host_and_without_an_error(page: Page, site_url: str, path: str) -> None:
    requested: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(site_url + path, wait_until="networkidle")
    assert len(requested) > 3
    assert [url for url in requested if not url.startswith((site_url, "data:", "blob:"))] == []
    assert complaints == []


@pytest.mark.parametrize("path", ALL_PATHS)
def test_nothing_has_to_be_scrolled_sideways(page: Page, site_url: str, path: str) -> None:
    page.goto(site_url + path)
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    too_wide = "[...document.querySelectorAll('pre, code')].filter(code => code.scrollWidth > code.clientWidth + 1)"
    for width in (320, 375, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        # The theme moves its columns a moment after the window has changed.
        page.wait_for_function(f"document.documentElement.scrollWidth <= {width}", timeout=5000)
        assert page.evaluate(f"{too_wide}.filter(code => getComputedStyle(code).display != 'inline').length") == 0


def test_the_copy_button_takes_the_typed_lines_alone(page: Page, site_url: str) -> None:
    page.goto(site_url + "order/sorted-sets/")
    page.get_by_role("button", name="Copy to clipboard").nth(1).click()
    page.wait_for_function("navigator.clipboard.readText().then(text => text.includes('ZPOPMIN'))")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "ZPOPMIN scores\nZPOPMAX scores\nZRANGE scores 0 -1"


def test_the_answer_is_closed_until_it_is_asked_for(page: Page, site_url: str) -> None:
    page.goto(site_url)
    answer = page.get_by_text("Priority 1 goes before 2 and 3")
    assert page.locator("ol.jobs li").all_inner_texts() == [
        "job 7\npriority 3",
        "job 8\npriority 1",
        "job 9\npriority 2",
        "job 10\npriority 1",
        "job 11\npriority 3",
        "job 12\npriority 2",
    ]
    assert not answer.is_visible()
    page.get_by_text("Show the answer").click()
    assert answer.is_visible()


def test_the_question_and_its_answer_need_no_javascript(browser: Browser, site_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site_url)
    page.get_by_text("Show the answer").click()
    assert page.get_by_text("Priority 1 goes before 2 and 3").is_visible()
    context.close()


# Foreground, page background and code background of every text hue, as the design asks: at least 5.7 to 1.
_CONTRASTS = """() => {
  const probe = document.createElement('span');
  document.body.append(probe);
  const channels = variable => {
    probe.style.color = `var(${variable})`;
    return getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
  };
  const luminance = variable => {
    const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = channels(variable).map(c => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratios = {};
  for (const text of ['--tier', '--counter', '--error', '--reply', '--md-typeset-color', '--md-typeset-a-color',
                      '--md-default-fg-color--light'])
    for (const ground of ['--md-default-bg-color', '--md-code-bg-color']) {
      const [low, high] = [luminance(text), luminance(ground)].sort((a, b) => a - b);
      ratios[`${text} on ${ground}`] = (high + 0.05) / (low + 0.05);
    }
  return ratios;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_hue_can_be_read_on_page_and_code(browser: Browser, site_url: str, scheme: str) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    page.goto(site_url)
    ratios: dict[str, float] = page.evaluate(_CONTRASTS)
    context.close()
    assert len(ratios) == 14
    assert {name: ratio for name, ratio in ratios.items() if ratio < 5.7} == {}
