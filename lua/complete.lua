-- Finish a job that was worked on: move it from `active` to `completed`, with its result.
--
-- KEYS[1] job     KEYS[3] completed  KEYS[5] events  KEYS[7] wait
-- KEYS[2] active  KEYS[4] stalled    KEYS[6] meta    KEYS[8] prioritized
--
-- ARGV[1]  id of the job          ARGV[3]  now, in milliseconds
-- ARGV[2]  token of its lock      ARGV[4]  the result as JSON
--
-- Returns 0; the same call sent again returns 0 and changes nothing.
-- -1  the job does not exist          -4  it has children that are not finished
-- -2  it has no lock                  -6  another worker has its lock
-- -3  it is not active                -9  it has children that failed
--
-- Error: ERR job ...  a job that is not plain: it has a parent, deduplication, or the option removeOnComplete.
--        ERR arguments ...  one is missing, or is no number.
-- Nothing is written then, nor for any of the numbers below 0.
--
-- Leaves a plain job as moveToFinished-14 of BullMQ 6.2.0 does, called without metrics and without asking for a next
-- job. That one has given up the lock when it answers -3.

--- @include "includes/finish"
--- @include "includes/whyNotPlain"

local jobKey, id = KEYS[1], ARGV[1]

if redis.call("EXISTS", jobKey) == 0 then
  return -1
end
if redis.call("SCARD", jobKey .. ":dependencies") > 0 then
  return -4
end
if redis.call("ZCARD", jobKey .. ":unsuccessful") > 0 then
  return -9
end
local refusal = whyNotPlain(jobKey, id, "removeOnComplete")
if refusal then
  return refusal
end

local job = {
  id = id,
  token = ARGV[2],
  now = ARGV[3],
  event = "completed",
  field = "returnvalue",
  value = ARGV[4],
}
return finish(KEYS, job)
