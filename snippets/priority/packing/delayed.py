"""How the set ``delayed`` spends the 53 bits of a score: on the due time in milliseconds, and on 12 bits of order."""

from datetime import UTC, datetime, timedelta

ORDERS = 0x1000
START = datetime(1970, 1, 1, tzinfo=UTC)


def pack(due: datetime, order: int) -> int:
    """Return the score of a job; ``order``, below 4096, tells jobs of one millisecond apart."""
    return (due - START) // timedelta(milliseconds=1) * ORDERS + order % ORDERS


if __name__ == "__main__":
    end = START + timedelta(milliseconds=2**53 // ORDERS)
    bits = pack(end - timedelta(milliseconds=1), 0xFFF).bit_length()
    print(f"{bits - 12} + 12 bits, exact before {end}")
