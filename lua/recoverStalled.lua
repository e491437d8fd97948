-- Let jobs wait again whose worker is gone: they are active, and their lock has run out.
--
-- KEYS[1] stalled  KEYS[3] active         KEYS[5] meta    KEYS[7] events
-- KEYS[2] wait     KEYS[4] stalled-check  KEYS[6] marker  KEYS[8] repeat
--
-- ARGV[1]  how often a job may stall; one that stalls once more is marked, by the field `defa`, to be failed when taken
-- ARGV[2]  prefix of the queue's keys, with the last colon
-- ARGV[3]  now, in milliseconds
-- ARGV[4]  for how long, in milliseconds, further calls do nothing
--
-- Returns the ids of the jobs that wait again.
-- Error, before anything is written: ERR arguments ...  one is no number.
--
-- It takes two calls, that far apart. The first notes all active jobs in `stalled`; whoever extends a lock or finishes
-- a job takes it off. The next looks at those that are left, and moves the ones without a lock. They go to the front
-- of `wait`, before every priority. Each stalled job is searched in `active`: with thousands of both the time grows
-- with the square of them.
--
-- Leaves what moveStalledJobsToWait-9 of BullMQ 6.2.0 leaves.

--- @include "includes/isHeldBack"
--- @include "includes/isMilliseconds"
--- @include "includes/maxEvents"
--- @include "includes/wakeWorker"

local stalledKey, waitKey, activeKey, checkKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local metaKey, markerKey, eventsKey, repeatKey = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local maxStalls, prefix, now, interval = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local SADD_AT_ONCE = 5000

-- A scheduler makes its next job from this one, which must therefore not fail for stalling.
local function isRepeated(jobKey)
  local scheduler = redis.call("HGET", jobKey, "rjk")
  if not scheduler then
    return false
  end
  return redis.call("EXISTS", repeatKey .. ":" .. scheduler) == 1 or redis.call("ZSCORE", repeatKey, scheduler)
end

local function moveToWait(id, jobKey)
  local stalls = redis.call("HINCRBY", jobKey, "stc", 1)
  if stalls > maxStalls and not isRepeated(jobKey) then
    redis.call("HSET", jobKey, "defa", "job stalled more than allowable limit")
  end
  local meta = redis.call("HMGET", metaKey, "paused", "concurrency")
  redis.call("RPUSH", waitKey, id)
  if not isHeldBack(meta[1], meta[2], activeKey) then
    wakeWorker(markerKey)
  end
  redis.call("XADD", eventsKey, "*", "event", "waiting", "jobId", id, "prev", "active")
  redis.call("XADD", eventsKey, "*", "event", "stalled", "jobId", id)
end

if not maxStalls or not isMilliseconds(interval, 1) then
  return redis.error_reply("ERR arguments: how often a job may stall, and the interval in milliseconds, are numbers")
end
if redis.call("EXISTS", checkKey) == 1 then
  return {}
end
redis.call("SET", checkKey, now, "PX", interval)
redis.call("XTRIM", eventsKey, "MAXLEN", "~", maxEvents(metaKey))

local moved = {}
local suspects = redis.call("SMEMBERS", stalledKey)
redis.call("DEL", stalledKey)
for _, id in ipairs(suspects) do
  local jobKey = prefix .. id
  if string.sub(id, 1, 2) == "0:" then
    -- What a BullMQ before version 5 left in `wait` to wake a worker; no job.
    redis.call("LREM", activeKey, 1, id)
  elseif redis.call("EXISTS", jobKey .. ":lock") == 0 and redis.call("LREM", activeKey, 1, id) > 0 then
    moveToWait(id, jobKey)
    moved[#moved + 1] = id
  end
end

local active = redis.call("LRANGE", activeKey, 0, -1)
for first = 1, #active, SADD_AT_ONCE do
  redis.call("SADD", stalledKey, unpack(active, first, math.min(first + SADD_AT_ONCE - 1, #active)))
end
return moved
