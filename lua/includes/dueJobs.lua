-- The ids of the delayed jobs whose time has come, the first due first, at most 1000 of them.
--
-- timestamp  now, in milliseconds
--
-- A score of `delayed` is that time * 0x1000, and 12 bits of order.
--
-- Stands for the search in upstream's promoteDelayedJobs.
local function dueJobs(delayedKey, timestamp)
  -- As exact as the number itself would be, and written faster.
  local last = string.format("%d", (timestamp + 1) * 0x1000 - 1)
  return redis.call("ZRANGEBYSCORE", delayedKey, "0", last, "LIMIT", "0", "1000")
end
