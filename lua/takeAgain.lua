-- Answer once more with a job that is taken already. For a worker that took one and never got the reply.
--
-- KEYS[1] active
--
-- ARGV[1]  prefix of the queue's keys, with the last colon
-- ARGV[2]  token of that take, which no other has used
-- ARGV[3]  for how long the lock lasts from now, in milliseconds
--
-- Returns {fields of the job, id, 0, 0} as moveToActive-11 does, or {0, 0, 0, 0}: that token locks no active job.
--
-- It stands for no script of BullMQ, where such a job waits until it counts as stalled. Takes time in proportion to the
-- active jobs.

local activeKey = KEYS[1]
local prefix, token, duration = ARGV[1], ARGV[2], ARGV[3]

for _, id in ipairs(redis.call("LRANGE", activeKey, 0, -1)) do
  local jobKey = prefix .. id
  if redis.call("GET", jobKey .. ":lock") == token then
    redis.call("PEXPIRE", jobKey .. ":lock", duration)
    return { redis.call("HGETALL", jobKey), id, 0, 0 }
  end
end
return { 0, 0, 0, 0 }
