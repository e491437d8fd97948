"""What ``docs/priority/packing.md`` says of the other way to spend 53 bits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from snippets.priority.packing.delayed import START, pack

END = datetime(2039, 9, 7, 15, 47, 35, 552000, tzinfo=UTC)


def test_the_end_is_the_millisecond_whose_score_is_2_to_the_53() -> None:
    assert pack(END, 0) == 2**53
    assert pack(END - timedelta(milliseconds=1), 4095) == 2**53 - 1


def test_a_score_orders_by_time_and_then_by_order() -> None:
    keys = [(START + timedelta(milliseconds=ms), order) for ms in (0, 1, 1764547200000) for order in (0, 1, 4095)]
    scores = [pack(*key) for key in keys]
    assert scores == sorted(set(scores))


def test_an_order_past_4095_stays_in_its_millisecond() -> None:
    assert pack(START + timedelta(milliseconds=1), 4096) == pack(START + timedelta(milliseconds=1), 0)


def test_a_fraction_of_a_millisecond_is_cut_off() -> None:
    assert pack(START + timedelta(microseconds=1999), 7) == 0x1007
