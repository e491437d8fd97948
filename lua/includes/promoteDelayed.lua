-- Let delayed jobs wait for a worker. The caller wakes one.
--
-- due     their ids, at least one
-- keys    {delayed, wait, prioritized, counter, events}
-- prefix  the beginning of the queue's keys, with the last colon
--
-- A promoted job takes its counter now: it stands behind all that wait in its tier.
--
-- Stands for upstream's promoteDelayedJobs, without the search and the marker.
--- @include "getPriorityScore"
local function promoteDelayed(due, keys, prefix)
  redis.call("ZREM", keys.delayed, unpack(due))
  for _, id in ipairs(due) do
    local jobKey = prefix .. id
    local priority = tonumber(redis.call("HGET", jobKey, "priority")) or 0
    if priority == 0 then
      redis.call("LPUSH", keys.wait, id)
    else
      redis.call("ZADD", keys.prioritized, getPriorityScore(priority, keys.counter), id)
    end
    redis.call("XADD", keys.events, "*", "event", "waiting", "jobId", id, "prev", "delayed")
    redis.call("HSET", jobKey, "delay", "0")
  end
end
