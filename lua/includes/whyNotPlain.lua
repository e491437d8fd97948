-- Why a job must be finished by BullMQ itself, as an error reply, or nil for a plain job.
--
-- removal  the option that removes a finished job: removeOnComplete or removeOnFail
--
-- Not plain: a parent waits for the job, it was added with deduplication, or it is not kept when it is finished.
local function whyNotPlain(jobKey, id, removal)
  local fields = redis.call("HMGET", jobKey, "parentKey", "parent", "deid", "opts")
  local options = fields[4] and cjson.decode(fields[4]) or {}
  local why
  if fields[1] or fields[2] then
    why = "has a parent"
  elseif fields[3] then
    why = "was added with deduplication"
  elseif options[removal] and options[removal] ~= cjson.null then
    why = "has the option " .. removal
  end
  if why then
    return redis.error_reply("ERR job " .. id .. " " .. why .. ", which this script does not do; let BullMQ finish it")
  end
end
