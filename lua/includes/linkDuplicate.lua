-- Give a parent to a job whose id exists already. The job keeps its place.
--
-- job     {key, id}
-- parent  nil, or {key, json, dependenciesKey, id, queueKey}
-- Returns false where nothing is done, since the job has another parent that still exists; else true.
--
-- A job that is completed gives its result to the parent, which may wait for a worker from then on. A job whose other
-- parent is gone stays without one.
--
-- Stands for upstream's handleDuplicatedJob without its event, and for its updateExistingJobsParent.
--- @include "releaseParent"
local function linkDuplicate(job, parent, completedKey, timestamp)
  -- Even without a parent, as upstream does it: to look at a large hash may change the order in which HGETALL tells it.
  local formerKey = redis.call("HGET", job.key, "parentKey")
  if not parent then
    return true
  end
  if formerKey and formerKey ~= parent.key then
    return redis.call("EXISTS", formerKey) == 0
  end

  if redis.call("ZSCORE", completedKey, job.id) then
    redis.call("HSET", parent.key .. ":processed", job.key, redis.call("HGET", job.key, "returnvalue"))
    releaseParent(parent, timestamp)
  elseif parent.dependenciesKey then
    redis.call("SADD", parent.dependenciesKey, job.key)
  end
  redis.call("HMSET", job.key, "parentKey", parent.key, "parent", parent.json)
  return true
end
