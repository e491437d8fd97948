-- Add a job with a priority. It waits behind all jobs of its priority and before all of a higher number.
--
-- KEYS[1] marker       KEYS[4] prioritized  KEYS[7] active
-- KEYS[2] meta         KEYS[5] delayed      KEYS[8] events
-- KEYS[3] id           KEYS[6] completed    KEYS[9] pc
--
-- ARGV[1]  an array in MessagePack:
--          1 prefix of the queue's keys, with the last colon   6 key of the parent's dependencies, or nil
--          2 id of the job, or "" for the next number          7 parent {id, queueKey}, or nil
--          3 name of the job                                   8 repeat job key: refused
--          4 now, in milliseconds                              9 deduplication key: refused
--          5 key of the parent, or nil
-- ARGV[2]  the job's data as JSON
-- ARGV[3]  the job's options in MessagePack; `priority` is a whole number from 1 (first) to 2097151 (last)
--
-- Returns the id as text. An id that exists already is answered the same way, and the job keeps its place.
-- -5  the parent does not exist
-- -7  the id exists already and has another parent
--
-- Errors, each before anything is written:
-- ERR priority ...       it does not fit into a score
-- ERR deduplication ...  asked for by an option `de` or by ARGV[1][9]; this script does not do it
-- ERR repeat ...         asked for by ARGV[1][8]; this script does not do it
--
-- Takes the place of the script of the same name in BullMQ 6.2.0 for calls without deduplication and repeat keys. That
-- one scores whatever `priority` is, and rounds the number that becomes an id from 10^14 on. This file stands for the
-- body of upstream's script with its getOrSetMaxEvents, storeJob and addJobWithPriority; each include names its own.

--- @include "includes/getPriorityScore"
--- @include "includes/isHeldBack"
--- @include "includes/linkDuplicate"
--- @include "includes/wakeWorker"

local LAST_PRIORITY = 2097151

local markerKey, metaKey, idKey, prioritizedKey, _, completedKey, activeKey, eventsKey, counterKey = unpack(KEYS)
local packedCall, data, packedOptions = unpack(ARGV)
local prefix, customId, name, timestamp, parentKey, dependenciesKey, parentIds, repeatKey, deduplicationKey =
  unpack(cmsgpack.unpack(packedCall), 1, 9)
local options = cmsgpack.unpack(packedOptions)
local priority = options.priority

if type(priority) ~= "number" or priority % 1 ~= 0 or priority < 1 or priority > LAST_PRIORITY then
  return redis.error_reply("ERR priority " .. tostring(priority) .. " is not a whole number from 1 to 2097151")
end
if options.de or deduplicationKey then
  return redis.error_reply("ERR deduplication is not done by this script; add the job without it")
end
if repeatKey then
  return redis.error_reply("ERR repeat job keys are not kept by this script; add the job without one")
end
local optionsJson = cjson.encode(options)

local parent
if parentKey then
  if redis.call("EXISTS", parentKey) == 0 then
    return -5
  end
  parent = {
    key = parentKey,
    dependenciesKey = dependenciesKey,
    id = parentIds and parentIds.id,
    queueKey = parentIds and parentIds.queueKey,
    json = cjson.encode(parentIds),
  }
end

local counter = redis.call("INCR", idKey)
local meta = redis.call("HMGET", metaKey, "opts.maxLenEvents", "paused", "concurrency")
local maxEvents = meta[1]
if not maxEvents then
  maxEvents = "10000"
  redis.call("HSET", metaKey, "opts.maxLenEvents", maxEvents)
end

local id = customId
if id == "" then
  id = string.format("%d", counter)
end
local jobKey = prefix .. id
if customId ~= "" and redis.call("EXISTS", jobKey) == 1 then
  if not linkDuplicate({ key = jobKey, id = id }, parent, completedKey, timestamp) then
    return -7
  end
  redis.call("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "duplicated", "jobId", id)
  return id .. ""
end

local parentFields = parent and { "parentKey", parent.key, "parent", parent.json } or {}
redis.call(
  "HMSET", jobKey, "name", name, "data", data, "opts", optionsJson, "timestamp", timestamp,
  "delay", options.delay or "0", "priority", priority, unpack(parentFields)
)
redis.call("XADD", eventsKey, "*", "event", "added", "jobId", id, "name", name)
local heldBack = isHeldBack(meta[2], meta[3], activeKey)
redis.call("ZADD", prioritizedKey, getPriorityScore(priority, counterKey), id)
if not heldBack then
  wakeWorker(markerKey)
end
redis.call("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "waiting", "jobId", id)
if dependenciesKey then
  redis.call("SADD", dependenciesKey, jobKey)
end
return id
