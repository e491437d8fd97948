-- The composite score of a job that arrives now: its tier, then its arrival counter.
--
-- priority    a whole number from 1 to 2097151, as a number; 1 is taken first
-- counterKey  the key of the arrival counter; a script gets it in KEYS
-- Returns priority * 2^32 + counter as a number: 21 + 32 bits, which a double holds exactly.
--
-- % and not bit.band, which takes signed 32-bit numbers: a counter of 2^31 would turn negative.
-- Give the number itself to redis.call, which sends it exactly; tostring() and .. keep 14 digits.
local function getPriorityScore(priority, counterKey)
  local counter = redis.call("INCR", counterKey)
  return priority * 0x100000000 + counter % 0x100000000
end
