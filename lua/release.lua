-- Give a job back: it waits again, in front of its tier or where it was.
--
-- KEYS[1] job     KEYS[3] active   KEYS[5] events  KEYS[7] prioritized  KEYS[9] limiter
-- KEYS[2] wait    KEYS[4] stalled  KEYS[6] meta    KEYS[8] marker
--
-- ARGV[1]  id of the job
-- ARGV[2]  token of its lock
-- ARGV[3]  the score it is to wait with, as takeKeepingScore told it; "" for the front of its tier, where it goes as
--          well if its priority is another by now
--
-- Returns the milliseconds for which the rate limit runs, or 0.
-- -1  the job does not exist        -3  it is not active
-- -2  it has no lock                -6  another worker has its lock
-- Error: ERR score ...  it is no number. Nothing is written then, nor for any of the numbers below 0.
--
-- A job in front has the score priority * 2^32, without a counter: those of one tier tie, and their ids decide. No
-- worker is woken for a job with a priority: whoever gives it back asks again, after the time that is returned.
--
-- With "" it leaves what moveJobFromActiveToWait-9 of BullMQ 6.2.0 leaves. That one has given up the lock when the
-- job is not active, and answers as if it had given it back.

--- @include "includes/checkLock"
--- @include "includes/isHeldBack"
--- @include "includes/maxEvents"
--- @include "includes/wakeWorker"

local jobKey, waitKey, activeKey, stalledKey, eventsKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local metaKey, prioritizedKey, markerKey, limiterKey = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local id, token, score = ARGV[1], ARGV[2], ARGV[3]

if score ~= "" and not tonumber(score) then
  return redis.error_reply("ERR score " .. score .. " is not a number; give what takeKeepingScore told, or nothing")
end
if redis.call("EXISTS", jobKey) == 0 then
  return -1
end
local held = checkLock(jobKey .. ":lock", token)
if held < 0 then
  return held
end
if redis.call("LREM", activeKey, 1, id) == 0 then
  return -3
end

redis.call("DEL", jobKey .. ":lock")
redis.call("SREM", stalledKey, id)
local priority = tonumber(redis.call("HGET", jobKey, "priority")) or 0
if priority > 0 then
  local front = priority * 0x100000000
  local isOfItsTier = score ~= "" and tonumber(score) >= front and tonumber(score) < front + 0x100000000
  redis.call("ZADD", prioritizedKey, isOfItsTier and score or front, id)
else
  redis.call("RPUSH", waitKey, id)
  local meta = redis.call("HMGET", metaKey, "paused", "concurrency")
  if not isHeldBack(meta[1], meta[2], activeKey) then
    wakeWorker(markerKey)
  end
end
local max = maxEvents(metaKey)
redis.call("XADD", eventsKey, "MAXLEN", "~", max, "*", "event", "waiting", "jobId", id, "prev", "active")
return math.max(redis.call("PTTL", limiterKey), 0)
