"""One score from two keys: the priority picks the tier, the arrival counter orders it."""

from typing import Any

MIN_PRIORITY = 1
MAX_PRIORITY = 2**21 - 1  # 2097151: its largest score is 2**53 - 1, exact in a double
COUNTER_VALUES = 2**32  # the counters that a tier tells apart; 2**32 is packed as 0


def pack(priority: int, counter: int) -> int:
    """Return the score of a job; of two jobs, the smaller score comes out first."""
    smallest, _ = bounds(priority)
    _require_integer("counter", counter)
    if counter < 0:
        raise ValueError(f"counter {counter} is negative; take it from INCR")
    return smallest + counter % COUNTER_VALUES


def unpack(score: float) -> tuple[int, int]:
    """Return the priority and counter of a score; redis-py gives it as a float."""
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError(f"score {score!r} is not a number; convert it with float()")
    if not float(score).is_integer():
        raise ValueError(f"score {score} is not whole; was it made by pack()?")
    priority, counter = divmod(int(score), COUNTER_VALUES)
    if not MIN_PRIORITY <= priority <= MAX_PRIORITY:
        raise ValueError(f"score {score} is in no tier; was it made by pack()?")
    return priority, counter


def bounds(priority: int) -> tuple[int, int]:
    """Return the smallest and the largest score of a tier; both belong to it."""
    _require_integer("priority", priority)
    if not MIN_PRIORITY <= priority <= MAX_PRIORITY:
        wanted = f"{MIN_PRIORITY} (first) to {MAX_PRIORITY} (last)"
        raise ValueError(f"priority {priority} has no tier; take one from {wanted}")
    smallest = priority * COUNTER_VALUES
    return smallest, smallest + COUNTER_VALUES - 1


def _require_integer(name: str, value: object) -> None:
    # True is an int in Python, but no priority.
    if isinstance(value, bool) or not isinstance(value, int):
        cure = "a fraction would move the job to another place"
        raise TypeError(f"{name} {value!r} is not an integer; {cure}")


if __name__ == "__main__":
    arrived = [(7, 3), (8, 1), (9, 2), (10, 1), (11, 3), (12, 2)]
    scores = {job: pack(priority, counter) for counter, (job, priority) in enumerate(arrived, start=1)}
    for job in sorted(scores, key=scores.__getitem__):
        priority, counter = unpack(scores[job])
        print(f"job {job:2}: tier {priority}, counter {counter}, score {scores[job]}")
    print("the scores of tier 1: from {} to {}".format(*bounds(1)))
    does_not_fit: list[Any] = [2097152, 1.5]
    for priority in does_not_fit:
        try:
            pack(priority, 1)
        except (TypeError, ValueError) as error:
            print(error)
