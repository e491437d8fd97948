"""In which release the arrival counter was masked wrongly, and where the score ends in each."""

from __future__ import annotations

import pytest
import releases
from redis import Redis
from releases import OURS, SITUATIONS, Row

AT_2_31, AT_2_32, AT_2_21 = (situation.name for situation in SITUATIONS)
TIER = 2**32


@pytest.fixture
def rows(redis: Redis) -> dict[tuple[str, str], Row]:
    return {(row.situation, row.release): row for row in releases.rows(redis)}


Rows = dict[tuple[str, str], Row]


def test_there_is_a_row_for_each_situation_and_release(rows: Rows) -> None:
    assert set(rows) == {
        (situation.name, name) for situation in SITUATIONS for name in ("2.7.8", "2.9.0", "3.4.4", OURS)
    }


def test_at_2_to_the_31_release_2_7_8_goes_back_by_a_tier(rows: Rows) -> None:
    scores = dict(rows[AT_2_31, "2.7.8"].taken)
    assert scores == {"a": 5 * TIER + 2**31 - 1, "b": 19327352832, "c": 3 * TIER + 2**31 + 1}
    assert 4 * TIER < scores["b"] < 5 * TIER, "the job of tier 5 is among those of tier 4"
    assert rows[AT_2_31, "2.7.8"].order == "c b a"


@pytest.mark.parametrize("release", ["2.9.0", "3.4.4", OURS])
def test_at_2_to_the_31_the_others_stay_in_their_tier(release: str, rows: Rows) -> None:
    row = rows[AT_2_31, release]
    assert dict(row.taken)["b"] == 23622320128 == 5 * TIER + 2**31
    assert row.order == "c a b"


def test_at_2_to_the_32_release_2_7_8_counts_on_from_minus_1(rows: Rows) -> None:
    row = rows[AT_2_32, "2.7.8"]
    assert row.taken == (("a", 5 * TIER - 1), ("b", 5 * TIER), ("c", 5 * TIER + 1))


@pytest.mark.parametrize("release", ["2.9.0", "3.4.4", OURS])
def test_at_2_to_the_32_the_others_begin_the_tier_again(release: str, rows: Rows) -> None:
    row = rows[AT_2_32, release]
    assert row.taken == (("b", 5 * TIER), ("c", 5 * TIER + 1), ("a", 6 * TIER - 1))


@pytest.mark.parametrize("release", ["2.7.8", "2.9.0", "3.4.4"])
def test_at_priority_2_to_the_21_two_jobs_share_a_score(release: str, rows: Rows) -> None:
    row = rows[AT_2_21, release]
    assert row.taken == (("d", 2**53), ("c", 2**53 + 2), ("a", 2**53 + 4), ("b", 2**53 + 4))


def test_ours_refuses_priority_2_to_the_21(rows: Rows) -> None:
    row = rows[AT_2_21, OURS]
    assert row.taken == ()
    assert row.refusal.startswith("priority 2097152 is not a whole number from 1 to 2097151")
