-- Take the job whose turn it is: move it to `active`, lock it, and answer with what is known of it.
--
-- KEYS[1] wait         KEYS[5] stalled: unused  KEYS[9]  meta
-- KEYS[2] active       KEYS[6] limiter          KEYS[10] pc
-- KEYS[3] prioritized  KEYS[7] delayed          KEYS[11] marker
-- KEYS[4] events       KEYS[8] paused: unused
--
-- ARGV[1]  prefix of the queue's keys, with the last colon
-- ARGV[2]  now, in milliseconds
-- ARGV[3]  in MessagePack: {token, lockDuration in milliseconds, limiter {max, duration}, name of the worker}; the lock
--          is left out for the token "0", and `limiter` and `name` may be missing
--
-- Returns four elements:
-- {fields of the job, id, 0, 0}   the job is taken
-- {0, 0, milliseconds, 0}         the rate limit allows the next one after that time
-- {0, 0, 0, time}                 nothing waits; the first delayed job is due at that time, in milliseconds
-- {0, 0, 0, 0}                    nothing waits, or the queue is paused, or enough jobs are active
--
-- Errors, before a job is moved, and whether one waits or not. Due delayed jobs are promoted by then.
-- ERR limiter ...       there is a maximum, and no duration that is a time
-- ERR lockDuration ...  it is no time, or 0
--
-- Takes the place of the script of the same name in BullMQ 6.2.0. That one moves the job first and then fails for such
-- a time, which leaves the job in `active` without a lock. This file stands for the body of upstream's script with its
-- getQueueMetadata and prepareJobForProcessing; each include names its own.

--- @include "includes/dueJobs"
--- @include "includes/isHeldBack"
--- @include "includes/isMilliseconds"
--- @include "includes/limitedFor"
--- @include "includes/moveNext"
--- @include "includes/nextDelayed"
--- @include "includes/promoteDelayed"
--- @include "includes/wakeWorker"

local waitKey, activeKey, prioritizedKey, eventsKey, _, limiterKey, delayedKey, _, metaKey, counterKey, markerKey =
  unpack(KEYS)
local prefix, timestamp, packedOptions = unpack(ARGV)
local options = cmsgpack.unpack(packedOptions)
local limiter = options.limiter

local meta = redis.call("HMGET", metaKey, "paused", "concurrency", "max", "duration")
local heldBack = isHeldBack(meta[1], meta[2], activeKey)

local due = dueJobs(delayedKey, timestamp)
if #due > 0 then
  local keys = {
    delayed = delayedKey,
    wait = waitKey,
    prioritized = prioritizedKey,
    counter = counterKey,
    events = eventsKey,
  }
  promoteDelayed(due, keys, prefix)
  if not heldBack then
    wakeWorker(markerKey)
  end
end

local max = tonumber(meta[3] or limiter and limiter.max)
local milliseconds = limitedFor(max, limiterKey)
if milliseconds > 0 then
  return { 0, 0, milliseconds, 0 }
end
if heldBack then
  return { 0, 0, 0, 0 }
end
local duration = limiter and limiter.duration or meta[4]
if max and not isMilliseconds(math.abs(tonumber(duration) or -1 / 0), 0) then
  return redis.error_reply("ERR limiter without a duration: set it beside max, in milliseconds")
end
if options.token ~= "0" and not isMilliseconds(options.lockDuration, 1) then
  return redis.error_reply("ERR lockDuration is no time: give the milliseconds for which the worker holds the job")
end

local id = moveNext(waitKey, prioritizedKey, activeKey, counterKey)
if not id then
  return { 0, 0, 0, nextDelayed(delayedKey) or 0 }
end

local jobKey = prefix .. id
-- `defa` marks a job that only has to be failed; it does not count.
if max and redis.call("HEXISTS", jobKey, "defa") == 0 and redis.call("INCR", limiterKey) == 1 then
  redis.call("PEXPIRE", limiterKey, math.floor(math.abs(duration)))
end
if options.token ~= "0" then
  redis.call("SET", jobKey .. ":lock", options.token, "PX", options.lockDuration)
end
redis.call("XADD", eventsKey, "*", "event", "active", "jobId", id, "prev", "waiting")
if options.name then
  redis.call("HMSET", jobKey, "processedOn", timestamp, "pb", options.name)
else
  redis.call("HMSET", jobKey, "processedOn", timestamp)
end
redis.call("HINCRBY", jobKey, "ats", "1")
wakeWorker(markerKey)
return { redis.call("HGETALL", jobKey), id, 0, 0 }
