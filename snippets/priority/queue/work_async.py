"""Works a queue with asyncio: two workers wait for jobs while they are added."""

import asyncio
import os

from priority_queue import AsyncQueue
from redis.asyncio import Redis


async def worker(queue: AsyncQueue, name: str) -> list[str]:
    """Complete jobs until none has come for a while; return them."""
    done = []
    while job := await queue.take(name, timeout=0.5):
        await queue.complete(job)
        done.append(job.id)
    return done


async def main() -> None:
    async with Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost:6379")) as client:
        queue = AsyncQueue(client, "{orders-example}", scripts=".")
        workers = [asyncio.create_task(worker(queue, f"worker-{number}")) for number in (1, 2)]
        added = [await queue.add("order", {}, priority=priority) for priority in (3, 1, 2, 1, 3, 2)]
        first, second = await asyncio.gather(*workers)
        print("each job was completed once:", sorted(first + second) == sorted(added))
        await client.delete(*[key async for key in client.scan_iter("emq:{orders-example}:*")])


if __name__ == "__main__":
    asyncio.run(main())
