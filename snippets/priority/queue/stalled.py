"""A worker dies with a job in its hands, and another one gets the job."""

import os
import time

from priority_queue import LockLostError, Queue
from redis import Redis


def main(client: Redis) -> None:
    queue = Queue(client, "{orders-example}", scripts=".")
    queue.add("order", {}, priority=1, job_id="order-1")
    queue.add("order", {}, priority=1, job_id="order-2")
    lost = queue.take("worker-1", lock_duration=0.2)
    assert lost is not None
    print("worker-1 took", lost.id, "and is not heard of again")

    recovered: list[str] = []
    while not recovered:
        time.sleep(0.05)
        recovered = queue.recover_stalled(interval=0.05)
    print("recovered:", recovered, "before it:", queue.position(lost.id))
    again = queue.take("worker-2")
    assert again is not None
    print("worker-2 took", again.id)
    try:
        queue.complete(lost)
    except LockLostError as error:
        print("worker-1:", error)
    queue.complete(again)


if __name__ == "__main__":
    with Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost:6379")) as client:
        main(client)
        client.delete(*client.scan_iter("emq:{orders-example}:*"))
