-- For how many milliseconds no job may be taken, since `max` were taken in the time that still runs; 0: take one.
--
-- max  nil where the queue has no limit
--
-- Stands for upstream's getRateLimitTTL.
local function limitedFor(max, limiterKey)
  if not max or tonumber(redis.call("GET", limiterKey) or 0) < max then
    return 0
  end
  local remaining = redis.call("PTTL", limiterKey)
  if remaining == 0 then
    redis.call("DEL", limiterKey)
  end
  return math.max(remaining, 0)
end
