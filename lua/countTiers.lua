-- How many jobs wait in each tier.
--
-- KEYS[1] wait
-- KEYS[2] prioritized
--
-- ARGV  priorities from 1 to 2097151, and 0 for the jobs without one
--
-- Returns the numbers, in that order. Writes nothing.

local waitKey, prioritizedKey = KEYS[1], KEYS[2]

local counts = {}
for position, priority in ipairs(ARGV) do
  if priority == "0" then
    counts[position] = redis.call("LLEN", waitKey)
  else
    local first = priority * 0x100000000
    counts[position] = redis.call("ZCOUNT", prioritizedKey, first, first + 0xffffffff)
  end
end
return counts
