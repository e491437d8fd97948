-- Move a job from `active` to `completed` or `failed`.
--
-- keys     job, active, completed or failed, stalled, events, meta, wait, prioritized: KEYS of both scripts
-- job      {id, token, now, event, field, value}: `event` is "completed" or "failed"; `field` of the job takes `value`
-- failure  nil, or {stacktrace, attempts}: `attempts` is how often the job may be tried
--
-- Returns 0; or with nothing written -2, -3 or -6, whose meaning the headers of complete.lua and fail.lua tell, or an
-- error where an argument is missing or is no number.
--
-- Stands for the body of upstream's moveToFinished, for a plain job and where no next job is asked for.
--- @include "checkLock"
--- @include "isMilliseconds"
--- @include "maxEvents"
local function finish(keys, job, failure)
  local jobKey, activeKey, finishedKey, stalledKey, eventsKey, metaKey, waitKey, prioritizedKey = unpack(keys)
  if not job.value or not isMilliseconds(job.now, 0) then
    return redis.error_reply("ERR arguments of job " .. job.id .. ": the time in milliseconds, and behind it a text")
  end
  if failure and not (failure.stacktrace and failure.attempts) then
    return redis.error_reply("ERR arguments of job " .. job.id .. ": stack traces, and behind them a number")
  end
  local held = checkLock(jobKey .. ":lock", job.token)
  if held == -2 and redis.call("ZSCORE", finishedKey, job.id) == job.now then
    -- A client that lost the reply sends the call again. It is the same call if the value is the same, too.
    return redis.call("HGET", jobKey, job.field) == job.value and 0 or -2
  end
  if held < 0 then
    return held
  end
  if redis.call("LREM", activeKey, -1, job.id) == 0 then
    return -3
  end

  redis.call("DEL", jobKey .. ":lock")
  redis.call("SREM", stalledKey, job.id)
  redis.call("XTRIM", eventsKey, "MAXLEN", "~", maxEvents(metaKey))
  if failure then
    redis.call("HSET", jobKey, job.field, job.value, "stacktrace", failure.stacktrace)
  end
  local tried = redis.call("HINCRBY", jobKey, "atm", 1)
  redis.call("ZADD", finishedKey, job.now, job.id)
  redis.call("HSET", jobKey, job.field, job.value, "finishedOn", job.now)
  redis.call("XADD", eventsKey, "*", "event", job.event, "jobId", job.id, job.field, job.value, "prev", "active")
  if failure then
    redis.call("HDEL", jobKey, "defa")
    if tried >= failure.attempts then
      redis.call("XADD", eventsKey, "*", "event", "retries-exhausted", "jobId", job.id, "attemptsMade", tried)
    end
  end
  local left = redis.call("LLEN", waitKey) + redis.call("LLEN", activeKey) + redis.call("ZCARD", prioritizedKey)
  if left == 0 then
    redis.call("XADD", eventsKey, "*", "event", "drained")
  end
  return 0
end
