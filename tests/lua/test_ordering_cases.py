"""Jobs come out in the expected order, by our scripts and by the packaged ones."""

from __future__ import annotations

import pop_orders
import pytest
from pop_orders import DRIVERS, Case, Driver
from redis import Redis
from redis.exceptions import ResponseError

CASES = pop_orders.cases()
SAFE = [case for case in CASES if not case.unsafe]
UNSAFE = [case for case in CASES if case.unsafe]


def name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("whose", DRIVERS)
@pytest.mark.parametrize("case", SAFE, ids=name)
def test_jobs_come_out_in_the_order_that_is_told(case: Case, whose: str, redis: Redis) -> None:
    assert Driver(redis, DRIVERS[whose]()).run(case) == case.order, case.reason


@pytest.mark.parametrize("case", UNSAFE, ids=name)
def test_an_unsafe_case_comes_out_by_the_packaged_scripts_and_is_refused_by_ours(case: Case, redis: Redis) -> None:
    assert Driver(redis, DRIVERS["packaged"]()).run(case) == case.order, case.reason
    with pytest.raises(ResponseError, match=r"^priority 2097152 is not a whole number from 1 to 2097151"):
        Driver(redis, DRIVERS["ours"]()).run(case)
    assert redis.keys() == []


def test_every_job_of_a_case_comes_out_once() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 16
    for case in CASES:
        arrived = [step.get("add", step.get("delay")) for step in case.steps if step.keys() & {"add", "delay"}]
        assert sorted(arrived) == sorted(case.order), case.name
