-- Move a waiting job to another tier. A job that does not wait takes the priority for the next time that it does.
--
-- KEYS[1] job   KEYS[3] prioritized  KEYS[5] meta  KEYS[7] marker
-- KEYS[2] wait  KEYS[4] active       KEYS[6] pc
--
-- ARGV[1]  id of the job
-- ARGV[2]  the priority: a whole number from 1 (first) to 2097151 (last), or 0 for none, which puts the job into `wait`
-- ARGV[3]  "1" for the front of its tier, else the back
--
-- Returns 0, or -1: the job does not exist.
-- Error, before anything is written: ERR priority ...  it does not fit into a score.
--
-- A job in front has the score priority * 2^32, without a counter: those of one tier tie, and their ids decide.
--
-- Leaves what changePriority-7 of BullMQ 6.2.0 leaves. That one scores whatever the priority is.

--- @include "includes/getPriorityScore"
--- @include "includes/isHeldBack"
--- @include "includes/wakeWorker"

local jobKey, waitKey, prioritizedKey, activeKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local metaKey, counterKey, markerKey = KEYS[5], KEYS[6], KEYS[7]
local id, priority, inFront = ARGV[1], tonumber(ARGV[2]), ARGV[3] == "1"
local LAST_PRIORITY = 2097151

-- Returns whether a worker has to be woken.
local function addAgain()
  if priority == 0 then
    redis.call(inFront and "RPUSH" or "LPUSH", waitKey, id)
    return true
  end
  redis.call("ZADD", prioritizedKey, inFront and priority * 0x100000000 or getPriorityScore(priority, counterKey), id)
  return not inFront
end

if not priority or priority % 1 ~= 0 or priority < 0 or priority > LAST_PRIORITY then
  return redis.error_reply("ERR priority " .. ARGV[2] .. " of job " .. id .. " is not a whole number from 0 to 2097151")
end
if redis.call("EXISTS", jobKey) == 0 then
  return -1
end
local waits = redis.call("ZREM", prioritizedKey, id) == 1 or redis.call("LREM", waitKey, -1, id) == 1
if waits and addAgain() then
  local meta = redis.call("HMGET", metaKey, "paused", "concurrency")
  if not isHeldBack(meta[1], meta[2], activeKey) then
    wakeWorker(markerKey)
  end
end
redis.call("HSET", jobKey, "priority", priority)
return 0
