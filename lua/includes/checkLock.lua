-- Whether a worker holds the lock of a job: 0 it does, -2 there is no lock, -6 another worker holds it.
--
-- Stands for the first half of upstream's removeLock, without its token "0" for no lock. Writes nothing.
local function checkLock(lockKey, token)
  local holder = redis.call("GET", lockKey)
  if not holder then
    return -2
  end
  return holder == token and 0 or -6
end
