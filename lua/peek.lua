-- The job that is taken next, without taking it. Whether the queue is paused is not looked at.
--
-- KEYS[1] wait
-- KEYS[2] prioritized
--
-- ARGV[1]  prefix of the queue's keys, with the last colon
--
-- Returns {fields of the job, id}, or null: no job waits. Writes nothing.

local waitKey, prioritizedKey = KEYS[1], KEYS[2]
local prefix = ARGV[1]

local id = redis.call("LINDEX", waitKey, -1) or redis.call("ZRANGE", prioritizedKey, 0, 0)[1]
return id and { redis.call("HGETALL", prefix .. id), id }
