-- Let a parent wait for a worker, if it waits for its children and none is left.
--
-- parent     {key, dependenciesKey, id, queueKey}; queueKey is the beginning of its queue's keys, without a colon
-- timestamp  now, in milliseconds
--
-- The parent's keys are not among KEYS: a family of jobs spans queues. On a cluster they need one hash tag.
--
-- Stands for upstream's moveParentToWaitIfNoPendingDependencies and what that calls.
--- @include "getPriorityScore"
--- @include "isHeldBack"
--- @include "nextDelayed"
--- @include "wakeWorker"
local function releaseParent(parent, timestamp)
  local function key(suffix)
    return parent.queueKey .. ":" .. suffix
  end

  if redis.call("SCARD", parent.dependenciesKey) > 0 or redis.call("EXISTS", parent.key) == 0 then
    return
  end
  if redis.call("ZREM", key("waiting-children"), parent.id) == 0 then
    return
  end

  local fields = redis.call("HMGET", parent.key, "priority", "delay")
  local priority, delay = tonumber(fields[1]) or 0, tonumber(fields[2]) or 0
  if delay > 0 then
    local due = timestamp + delay
    redis.call("ZADD", key("delayed"), due * 0x1000, parent.id)
    redis.call("XADD", key("events"), "*", "event", "delayed", "jobId", parent.id, "delay", due)
    redis.call("ZADD", key("marker"), nextDelayed(key("delayed")), "1")
    return
  end

  local meta = redis.call("HMGET", key("meta"), "paused", "concurrency")
  local heldBack = isHeldBack(meta[1], meta[2], key("active"))
  if priority == 0 then
    redis.call("RPUSH", key("wait"), parent.id)
  else
    redis.call("ZADD", key("prioritized"), getPriorityScore(priority, key("pc")), parent.id)
  end
  if not heldBack then
    wakeWorker(key("marker"))
  end
  redis.call("XADD", key("events"), "*", "event", "waiting", "jobId", parent.id, "prev", "waiting-children")
end
