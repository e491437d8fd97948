"""Works a queue with asyncio: two workers wait for jobs while they are added."""

import asyncio
import os

from priority_queue import AsyncQueue
from redis.asyncio import Redis

PRIORITIES = (3, 1, 2, 1, 3, 2)


async def worker(queue: AsyncQueue, name: str, done: list[str]) -> None:
    """Complete jobs until all are done."""
    while len(done) < len(PRIORITIES):
        if job := await queue.take(name, timeout=0.2):
            await queue.complete(job)
            done.append(job.id)


async def main() -> None:
    async with Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost:6379")) as client:
        queue = AsyncQueue(client, "{orders-example}", scripts=".")
        done: list[str] = []
        workers = [asyncio.create_task(worker(queue, f"worker-{number}", done)) for number in (1, 2)]
        added = [await queue.add("order", {}, priority=priority) for priority in PRIORITIES]
        await asyncio.gather(*workers)
        print("each job was completed once:", sorted(done) == sorted(added))
        await client.delete(*[key async for key in client.scan_iter("emq:{orders-example}:*")])


if __name__ == "__main__":
    asyncio.run(main())
