"""Adds the six jobs to a queue and works them, one after the other."""

import os
from typing import Any

from priority_queue import Queue, TakenJob
from redis import Redis


def work(job: TakenJob) -> dict[str, Any]:
    """What your worker is for. Job 12 fails."""
    if job.id == "12":
        raise RuntimeError("out of stock")
    return {"sent": job.data["item"]}


def main(client: Redis) -> None:
    queue = Queue(client, "{orders-example}", scripts=".")
    client.set("emq:{orders-example}:id", 6)  # The next job is number 7.
    for priority in (3, 1, 2, 1, 3, 2):
        queue.add("order", {"item": "lamp"}, priority=priority)
    print("waiting in tiers 1, 2, 3:", queue.counts([1, 2, 3]))
    print("before job 11:", queue.position("11"))
    queue.change_priority("11", 1)

    while job := queue.take("worker-1"):
        try:
            if job.deferred_failure:
                raise RuntimeError(job.deferred_failure)
            result = work(job)
        except RuntimeError as error:
            queue.fail(job, error)
            print(f"job {job.id}, priority {job.priority}: failed, {error}")
        else:
            queue.complete(job, result)
            print(f"job {job.id}, priority {job.priority}: {result}")


if __name__ == "__main__":
    with Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost:6379")) as client:
        main(client)
        client.delete(*client.scan_iter("emq:{orders-example}:*"))
