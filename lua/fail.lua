-- Give up a job: move it from `active` to `failed`, with the reason. It is not tried again.
--
-- KEYS[1] job     KEYS[3] failed   KEYS[5] events  KEYS[7] wait
-- KEYS[2] active  KEYS[4] stalled  KEYS[6] meta    KEYS[8] prioritized
--
-- ARGV[1]  id of the job            ARGV[4]  the reason
-- ARGV[2]  token of its lock        ARGV[5]  stack traces, a JSON array of texts
-- ARGV[3]  now, in milliseconds     ARGV[6]  how often the job may be tried; the last time is announced
--
-- Returns 0; the same call sent again returns 0 and changes nothing.
-- -1  the job does not exist        -3  it is not active
-- -2  it has no lock                -6  another worker has its lock
--
-- Error: ERR job ...  a job that is not plain: it has a parent, deduplication, or the option removeOnFail.
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
local refusal = whyNotPlain(jobKey, id, "removeOnFail")
if refusal then
  return refusal
end

local job = {
  id = id,
  token = ARGV[2],
  now = ARGV[3],
  event = "failed",
  field = "failedReason",
  value = ARGV[4],
}
return finish(KEYS, job, { stacktrace = ARGV[5], attempts = tonumber(ARGV[6]) })
