-- How many jobs are taken before this one, if none is added.
--
-- KEYS[1] wait
-- KEYS[2] prioritized
--
-- ARGV[1]  id of the job
--
-- Returns the number, 0 for the job that is taken next, or null: it does not wait. Writes nothing. Takes time in
-- proportion to the length of `wait`.

local waitKey, prioritizedKey = KEYS[1], KEYS[2]
local id = ARGV[1]

local inWait = redis.call("LLEN", waitKey)
local rank = redis.call("ZRANK", prioritizedKey, id)
if rank then
  return inWait + rank
end
-- The right end is served.
local fromLeft = redis.call("LPOS", waitKey, id, "RANK", -1)
return fromLeft and inWait - 1 - fromLeft
