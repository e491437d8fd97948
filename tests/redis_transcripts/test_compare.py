"""What a reader sees as the same, line by line."""

from __future__ import annotations

import itertools

import pytest

from redis_transcripts.compare import Judgement, first_difference, keep_agreeing, unified_diff

EXACT = Judgement()
VARIES = Judgement(varies=True)
SET = Judgement(entries=1)
PAIRS = Judgement(entries=2)


def numbered(*texts: str) -> list[str]:
    """Return the lines of an array as redis-cli prints it."""
    width = len(str(len(texts)))
    return [f"{number:>{width}}) {text}" for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("shown", "received", "index"),
    [
        ("a", "a", None),
        ("a  ", "a\t", None),
        ("", "", None),
        ("a|b", "a|b", None),
        (" a", "a", 0),
        ("a", "A", 0),
        ("a|b", "a|c", 1),
        ("a|b", "a", 1),
        ("a", "a|b", 1),
        ("a|a", "a|a|a", 2),
        ("a...", "abc", 0),
    ],
)
def test_lines_are_the_same_but_for_white_space_at_their_end(shown: str, received: str, index: int | None) -> None:
    assert first_difference(shown.split("|"), received.split("|"), EXACT) == index


def test_something_is_not_nothing() -> None:
    assert first_difference([], [], EXACT) is None
    assert first_difference([], ["a"], EXACT) == 0
    assert first_difference(["a"], [], EXACT) == 0
    assert first_difference([], ["a"], SET) == 0
    assert first_difference(["a"], [], SET) == 0
    assert first_difference([], [], SET) is None


@pytest.mark.parametrize(
    ("shown", "received", "index"),
    [
        ("job ...", "job 7", None),
        ("job ...  ", "job 7", None),
        ("...", "job 7", None),
        ("...", "...", None),
        ('1) "16...', '1) "1690000000000-0"', None),
        ("job ...", "job", 0),
        ("job ...", "job ", 0),
        ("...", "", 0),
        ("job ...", "tier 7", 0),
        ("job ... done", "job 7 done", 0),
        ("job ....", "job 7", 0),
        ("job ...|a", "job 7|b", 1),
        ("...|...", "a", 1),
        ("...", "a|b", 1),
    ],
)
def test_dots_stand_for_the_rest_of_one_line_that_has_a_rest(shown: str, received: str, index: int | None) -> None:
    assert first_difference(shown.split("|"), received.split("|"), VARIES) == index


def test_a_set_is_the_same_in_any_order() -> None:
    for order in itertools.permutations(["a", "b", "b"]):
        assert first_difference(numbered(*order), numbered("a", "b", "b"), SET) is None


@pytest.mark.parametrize(
    ("shown", "index"),
    [
        (["a", "c", "b"], 1),
        (["a", "a", "b"], 1),
        (["b", "b", "a", "a"], 3),
        (["a", "b"], 2),
        ([], 0),
    ],
)
def test_a_set_with_other_entries_is_another(shown: list[str], index: int) -> None:
    assert first_difference(numbered(*shown), numbered("a", "b", "b"), SET) == index


def test_values_belong_to_their_names() -> None:
    received = numbered("id", "7", "tier", "3")
    assert first_difference(numbered("tier", "3", "id", "7"), received, PAIRS) is None
    assert first_difference(numbered("id", "3", "tier", "7"), received, PAIRS) == 0
    assert first_difference(numbered("id", "7", "3", "tier"), received, PAIRS) == 2
    assert first_difference(numbered("7", "id", "tier", "3"), received, PAIRS) == 0


def test_nested_arrays_are_entries_whose_own_order_counts() -> None:
    received = ["1) 1) a", "   2) b", "2) c", "3) 1) d", "   2) 1) e", "      2) f"]
    shown = ["1) c", "2) 1) d", "   2) 1) e", "      2) f", "3) 1) a", "   2) b"]
    assert first_difference(shown, received, SET) is None
    shown[2:4] = ["   2) 1) f", "      2) e"]
    assert first_difference(shown, received, SET) == 1


def test_maps_and_sets_of_resp3_have_entries_too() -> None:
    assert (
        first_difference(['1# "b" => (integer) 2', '2# "a" => 1'], ['1# "a" => 1', '2# "b" => (integer) 2'], SET)
        is None
    )
    assert first_difference(['1~ "b"', '2~ "a"'], ['1~ "a"', '2~ "b"'], SET) is None
    assert first_difference(['1) "b"', '2) "a"'], ['1~ "a"', '2~ "b"'], SET) == 2


def test_entries_of_an_array_with_wider_numbers() -> None:
    """From nine to ten elements the numbers move to the right, and what is nested with them."""
    texts = [f'"job:{number}"' for number in range(1, 11)]
    received = numbered(*texts)
    assert received[0] == ' 1) "job:1"'
    assert first_difference(numbered(*reversed(texts)), received, SET) is None
    assert first_difference(numbered(*texts[:9]), received, SET) == 9
    assert first_difference(received, numbered(*texts[:9]), SET) == 9
    assert first_difference([line.strip() for line in received], received, SET) == 8
    nested = [*received[:9], "10) 1) a", "    2) b"]
    assert first_difference([" 1) 1) a", "    2) b", *numbered("", *texts[:9])[1:]], nested, SET) is None


def test_text_that_is_no_array_is_one_entry() -> None:
    assert first_difference(["PONG"], ["PONG"], SET) is None
    assert first_difference(["a", "b"], ["b", "a"], SET) == 0
    assert first_difference(["PONG"], ["PONG", "PONG"], SET) == 0


def test_a_diff_leaves_out_what_agrees() -> None:
    shown, received = ["job ...", "end  "], ["job 7", "new", "end"]
    assert unified_diff(shown, received, VARIES)[3:] == [" job ...", "+new", " end"]
    assert unified_diff(shown, received, EXACT)[3:] == ["-job ...", "+job 7", "+new", " end"]


def test_a_diff_of_sets_shows_entries_where_they_stand_on_the_page() -> None:
    shown = numbered("c", "x", "a", "b")
    assert unified_diff(shown, numbered("a", "b", "c", "d"), SET)[3:] == [" 1) c", "-2) x", "+2) d", " 3) a", " 4) b"]


@pytest.mark.parametrize(
    ("shown", "received", "kept"),
    [
        ("a ...|b", "a 1|b", "a ...|b"),
        ("a ...|b ...", "a 1|new|b 2", "a ...|new|b ..."),
        ("a ...|old|b ...", "a 1|b 2", "a ...|b ..."),
        ("a ...|old|b ...", "a 1|new|b 2", "a ...|new|b ..."),
        ("old|a ...", "new|a 1|b", "new|a ...|b"),
        ("a ...", "b 1", "b 1"),
        ("a ...", "a 1|a 2", "a ...|a 2"),
        ("a ...|a ...", "a 1", "a ..."),
        ("...", "x|y", "...|y"),
    ],
)
def test_lines_that_agree_are_kept_from_both_ends(shown: str, received: str, kept: str) -> None:
    assert keep_agreeing(shown.split("|"), received.split("|"), VARIES) == kept.split("|")


@pytest.mark.parametrize(
    ("shown", "received", "kept"),
    [
        ("c b a", "a b c", "c b a"),
        ("c x a", "a b c", "c b a"),
        ("c a", "a b c", "c a b"),
        ("c x b a", "a b c", "c b a"),
        ("a a b", "a b", "a b"),
        ("x y", "a b", "a b"),
    ],
)
def test_entries_that_agree_are_kept_in_their_places(shown: str, received: str, kept: str) -> None:
    assert keep_agreeing(numbered(*shown.split()), numbered(*received.split()), SET) == numbered(*kept.split())


def test_entries_of_several_lines_keep_their_lines_together() -> None:
    received = ["1) 1) a", "   2) b", "2) c"]
    assert keep_agreeing(["1) c", "2) x"], received, SET) == ["1) c", "2) 1) a", "   2) b"]
    pairs = numbered("id", "7", "tier", "3")
    assert keep_agreeing(numbered("tier", "3", "id", "8"), pairs, PAIRS) == numbered("tier", "3", "id", "7")


@pytest.mark.parametrize("judgement", [EXACT, VARIES, SET, PAIRS])
def test_what_is_kept_is_what_would_pass(judgement: Judgement) -> None:
    received = numbered("a", "1", "b", "2")
    for shown in itertools.product(["a", "b...", "2"], repeat=3):
        kept = keep_agreeing(numbered(*shown), received, judgement)
        assert first_difference(kept, received, judgement) is None
