"""What a reader sees above a block: its title, why it misleads, and what a script is called with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown import Markdown

from redis_transcripts.site_config import markdown_extensions

ROOT = Path(__file__).parents[2]


def rendered(*lines: str) -> str:
    names, settings = markdown_extensions(ROOT, ROOT / "mkdocs.yml")
    return Markdown(extensions=names, extension_configs=dict(settings)).convert("\n".join(lines))


def caption(html: str) -> str:
    return html.partition('<span class="filename">')[2].partition("</span><pre>")[0]


def test_a_script_shows_what_it_is_called_with() -> None:
    html = rendered('```lua { title="A job" keys="emq:{orders}:pc a" argv="1 <&" }', "return 1", "```")
    assert caption(html) == (
        "A job<span class=input>KEYS <code>emq:{orders}:pc a</code></span>"
        "<span class=input>ARGV <code>1 &lt;&amp;</code></span>"
    )


def test_many_keys_are_written_out_once() -> None:
    block = '```lua { title="A job" keys="a b c d" argv="1" }\nreturn 1\n```\n'
    html = rendered(block, block, '```lua { keys="a b c e" }\nreturn 1\n```\n', block)
    assert re.findall("KEYS (.*?)</span>", html) == [
        "<code>a b c d</code>",
        "as above",
        "<code>a b c e</code>",
        "<code>a b c d</code>",
    ]
    assert html.count("ARGV <code>1</code>") == 3


def test_few_keys_are_written_out_each_time() -> None:
    block = '```lua { title="A job" keys="a b c" }\nreturn 1\n```\n'
    assert rendered(block, block).count("KEYS <code>a b c</code>") == 2


def test_keys_may_hold_quotes() -> None:
    html = rendered("```lua { title='A job' keys='\"a b\"' }", "return 1", "```")
    assert caption(html) == "A job<span class=input>KEYS <code>&quot;a b&quot;</code></span>"


def test_a_program_shows_the_names_of_the_files_beside_it() -> None:
    html = rendered('```python { title="A job" files="lua/a.lua data/b.json" }', "pass", "```")
    assert caption(html) == "A job<span class=input>beside <code>a.lua b.json</code></span>"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("fresh", ["on an empty server"]),
        ('client="b"', ["client b"]),
        ("resp=3", ["RESP3"]),
        ("cluster", ["on a cluster"]),
        ('client="b" fresh', ["on an empty server", "client b"]),
    ],
)
def test_a_block_shows_the_state_from_which_it_is_run(words: str, shown: list[str]) -> None:
    html = rendered(f'```redis {{ title="A job" {words} }}', "> PING", "PONG", "```")
    assert caption(html) == "A job" + "".join(f"<span class=state>{state}</span>" for state in shown)


def test_words_of_a_block_that_is_not_run_are_its_own() -> None:
    assert caption(rendered('```text { title="A job" static="fresh" }', "x", "```")) == "A job"


def test_a_longer_fence_ends_at_its_own_marker() -> None:
    html = rendered(
        "~~~~text", '~~~redis { title="A" fresh }', "~~~", "~~~~", "", '~~~redis { title="B" fresh }', "~~~"
    )
    assert caption(html) == "B<span class=state>on an empty server</span>"


def test_lines_stay_highlighted() -> None:
    html = rendered('```lua { title="A" keys="pc" hl_lines="2" }', "local a = 1", "return a", "```")
    assert '<span class="hll">' in html


def test_a_script_without_inputs_shows_its_title_alone() -> None:
    assert caption(rendered('```lua { title="One" }', "return 1", "```")) == "One"


def test_what_misleads_is_marked_and_says_why() -> None:
    html = rendered('```redis { title="A & b" wrong="it\'s lost" }', "> PING", "PONG", "```")
    assert caption(html) == "A &amp; b: wrong, it&#x27;s lost"
    assert '<div class="language-redis wrong highlight">' in html


def test_what_misleads_may_have_no_title() -> None:
    assert caption(rendered('```redis { wrong="it is lost" }', "> PING", "PONG", "```")) == "Wrong: it is lost"


@pytest.mark.parametrize("indent", ["    ", "> "])
def test_a_block_in_an_admonition_or_a_quote_has_its_caption(indent: str) -> None:
    block = ['```lua { title="A job" keys="pc" wrong="no" }', "return 1", "```"]
    above = ["!!! note", ""] if indent.isspace() else []
    html = rendered(*above, *(indent + line for line in block))
    assert caption(html) == "A job: wrong, no<span class=input>KEYS <code>pc</code></span>"


def test_a_header_inside_another_fence_is_text() -> None:
    html = rendered('````markdown { static="x" }', '```lua { title="A job" keys="pc" }', "return 1", "```", "````")
    assert "KEYS" not in html
    assert 'keys="pc"' in html.replace("&quot;", '"')
