-- When the first delayed job is due, in milliseconds, or nil where none is delayed.
--
-- A score of `delayed` is that time * 0x1000, and 12 bits of order.
--
-- Stands for upstream's getNextDelayedTimestamp.
local function nextDelayed(delayedKey)
  local first = redis.call("ZRANGE", delayedKey, "0", "0", "WITHSCORES")
  if first[2] then
    return first[2] / 0x1000
  end
end
