-- Leave the sign that a job waits. An idle worker blocks on the marker with BZPOPMIN.
--
-- Stands for upstream's addBaseMarkerIfNeeded; the caller decides whether it is needed.
local function wakeWorker(markerKey)
  redis.call("ZADD", markerKey, "0", "0")
end
