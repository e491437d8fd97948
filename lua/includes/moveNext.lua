-- Move the job whose turn it is to `active`, and return its id, or nil where none waits.
--
-- A job in `wait` goes before every job with a priority. Where nothing waits the arrival counter is deleted: no job is
-- left that a newer one could overtake.
--
-- Stands for upstream's RPOPLPUSH in the body of the script and its moveJobFromPrioritizedToActive.
local function moveNext(waitKey, prioritizedKey, activeKey, counterKey)
  local id = redis.call("RPOPLPUSH", waitKey, activeKey)
  if id and string.sub(id, 1, 2) == "0:" then
    -- What a BullMQ before version 5 left in `wait` to wake a worker; no job.
    redis.call("LREM", activeKey, "1", id)
    id = redis.call("RPOPLPUSH", waitKey, activeKey)
  end
  if id then
    return id
  end
  local popped = redis.call("ZPOPMIN", prioritizedKey)
  if #popped == 0 then
    redis.call("DEL", counterKey)
    return nil
  end
  redis.call("LPUSH", activeKey, popped[1])
  return popped[1]
end
