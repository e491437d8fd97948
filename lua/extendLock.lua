-- Keep a job: its lock lasts for another while, counted from now.
--
-- KEYS[1] lock of the job
-- KEYS[2] stalled
--
-- ARGV[1]  id of the job
-- ARGV[2]  token of its lock
-- ARGV[3]  for how long, in milliseconds
--
-- Returns 1, or 0: the worker has no longer the lock, and nothing is written.
--
-- Leaves what extendLock-2 of BullMQ 6.2.0 leaves.

local lockKey, stalledKey = KEYS[1], KEYS[2]
local id, token, duration = ARGV[1], ARGV[2], ARGV[3]

if redis.call("GET", lockKey) ~= token then
  return 0
end
redis.call("SET", lockKey, token, "PX", duration)
redis.call("SREM", stalledKey, id)
return 1
