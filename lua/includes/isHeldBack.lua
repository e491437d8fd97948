-- Whether no job may be taken: the queue is paused, or `concurrency` jobs are active.
--
-- paused, concurrency  those fields of meta; false where they are missing
--
-- Stands for upstream's isQueuePausedOrMaxed.
local function isHeldBack(paused, concurrency, activeKey)
  if paused then
    return true
  end
  return concurrency and redis.call("LLEN", activeKey) >= tonumber(concurrency)
end
