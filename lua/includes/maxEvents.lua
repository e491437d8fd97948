-- How many events a queue keeps, about. A queue that does not say gets 10000.
--
-- Stands for upstream's getOrSetMaxEvents.
local function maxEvents(metaKey)
  local max = redis.call("HGET", metaKey, "opts.maxLenEvents")
  if not max then
    max = 10000
    redis.call("HSET", metaKey, "opts.maxLenEvents", max)
  end
  return max
end
