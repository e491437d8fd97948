-- Move a job from `active` to `completed` or `failed`.
--
-- keys     {job, active, finished, stalled, events, meta, wait, prioritized}
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
  if not job.value or not isMilliseconds(job.now, 0) then
    return redis.error_reply("ERR arguments of job " .. job.id .. ": the time in milliseconds, and behind it a text")
  end
  if failure and not (failure.stacktrace and failure.attempts) then
    return redis.error_reply("ERR arguments of job " .. job.id .. ": stack traces, and behind them a number")
  end
  local held = checkLock(keys.job .. ":lock", job.token)
  if held == -2 and redis.call("ZSCORE", keys.finished, job.id) == job.now then
    -- A client that lost the reply sends the call again. It is the same call if the value is the same, too.
    return redis.call("HGET", keys.job, job.field) == job.value and 0 or -2
  end
  if held < 0 then
    return held
  end
  if redis.call("LREM", keys.active, -1, job.id) == 0 then
    return -3
  end

  redis.call("DEL", keys.job .. ":lock")
  redis.call("SREM", keys.stalled, job.id)
  redis.call("XTRIM", keys.events, "MAXLEN", "~", maxEvents(keys.meta))
  if failure then
    redis.call("HSET", keys.job, job.field, job.value, "stacktrace", failure.stacktrace)
  end
  local tried = redis.call("HINCRBY", keys.job, "atm", 1)
  redis.call("ZADD", keys.finished, job.now, job.id)
  redis.call("HSET", keys.job, job.field, job.value, "finishedOn", job.now)
  redis.call("XADD", keys.events, "*", "event", job.event, "jobId", job.id, job.field, job.value, "prev", "active")
  if failure then
    redis.call("HDEL", keys.job, "defa")
    if tried >= failure.attempts then
      redis.call("XADD", keys.events, "*", "event", "retries-exhausted", "jobId", job.id, "attemptsMade", tried)
    end
  end
  local left = redis.call("LLEN", keys.wait) + redis.call("LLEN", keys.active) + redis.call("ZCARD", keys.prioritized)
  if left == 0 then
    redis.call("XADD", keys.events, "*", "event", "drained")
  end
  return 0
end
