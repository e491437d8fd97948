"""Highlighting tells prompt, command, arguments, reply and error apart, and changes no character."""

from __future__ import annotations

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Generic, Keyword, Number, String, Text, Whitespace, _TokenType

from redis_transcripts.lexer import TranscriptLexer


def tokens(text: str) -> list[tuple[_TokenType, str]]:
    return [(kind, value) for kind, value in get_lexer_by_name("redis").get_tokens(text) if kind is not Whitespace]


def test_a_fence_called_redis_is_highlighted_by_this_lexer() -> None:
    assert isinstance(get_lexer_by_name("redis"), TranscriptLexer)


def test_typed_line_is_prompt_command_and_arguments() -> None:
    assert tokens("> ZADD jobs 2.5 \"job 7\" 'it\\'s' -3 job:8 1st\n") == [
        (Generic.Prompt, "> "),
        (Keyword, "ZADD"),
        (Text, "jobs"),
        (Number, "2.5"),
        (String, '"job 7"'),
        (String, "'it\\'s'"),
        (Number, "-3"),
        (Text, "job:8"),
        (Text, "1st"),
    ]


def test_a_repeated_command_keeps_its_colour() -> None:
    assert tokens("> 3 INCR c\n") == [(Generic.Prompt, "> "), (Number, "3"), (Keyword, "INCR"), (Text, "c")]


@pytest.mark.parametrize(
    "prompt",
    [
        "> ",
        "redis> ",
        "valkey> ",
        "redis[2]> ",
        "127.0.0.1:6379> ",
        "127.0.0.1:6379[3]> ",
        "127.0.0.1:6379(TX)> ",
        "127.0.0.1:6379[15](TX)> ",
        "cache-1.example.com:7000> ",
    ],
)
def test_every_prompt_of_redis_cli_is_a_prompt(prompt: str) -> None:
    assert tokens(f"{prompt}PING\nPONG\n") == [
        (Generic.Prompt, prompt),
        (Keyword, "PING"),
        (Generic.Output, "PONG"),
    ]


@pytest.mark.parametrize("line", [">PING", "$ redis-cli", "a > b", "6379> PING", " > PING"])
def test_what_only_resembles_a_prompt_is_reply(line: str) -> None:
    # Leading spaces survive in a page, but Pygments may strip them.
    assert tokens(f"> ECHO a\n{line}\n")[-1] == (Generic.Output, line)


@pytest.mark.parametrize(
    "line",
    [
        "(error) ERR unknown command 'FOO'",
        "2) (error) WRONGTYPE Operation against a key",
        "1) 2) (error) ERR no",
        "   12) (error) ERR no",
        '1# "a" => (error) ERR no',
    ],
)
def test_an_error_is_drawn_as_one(line: str) -> None:
    assert tokens(f"> EXEC\n{line}\n")[-1] == (Generic.Error, line)


@pytest.mark.parametrize(
    "line", ["(integer) 1", '1) "(error) in a text"', '"(error) quoted"', "(nil)", "# Server", "PONG"]
)
def test_any_other_reply_is_drawn_as_output(line: str) -> None:
    assert tokens(f"> GET a\n{line}\n")[-1] == (Generic.Output, line)


TRANSCRIPT = """\
> SET k "a \\"b\\" \\x00"
OK

redis> ECHO "not closed
Invalid argument(s)
> EXEC
1) (integer) 1

2) (error) ERR  two  spaces\t
   3) "\u2028> PING\x0b"
> ECHO  'tab'\t"\u00e9"\x20\x20
>\x20
"""


@pytest.mark.parametrize("text", [TRANSCRIPT, TRANSCRIPT.rstrip("\n"), "", "\n\n", "> "], ids=range(5))
def test_no_character_is_lost_or_added(text: str) -> None:
    lexed = list(TranscriptLexer().get_tokens_unprocessed(text))
    assert "".join(value for _, _, value in lexed) == text
    assert [position for position, _, _ in lexed] == [
        sum(len(value) for _, _, value in lexed[:index]) for index in range(len(lexed))
    ]
