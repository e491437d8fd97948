-- Why is my job not next? Tells what waits in a queue and in which order, and what keeps jobs from being taken.
--
-- KEYS[1] wait    KEYS[4] prioritized  KEYS[7] meta
-- KEYS[2] paused  KEYS[5] delayed      KEYS[8] pc
-- KEYS[3] active  KEYS[6] limiter      KEYS[9] marker
--
-- ARGV[1]  prefix of the queue's keys, with the last colon
-- ARGV[2]  id of a job, or "" for none; may be left out
-- ARGV[3]  now, in milliseconds; may be left out for the server's clock
--
-- Returns lines of text: where the job is and what goes before it; then, each behind a "!", what keeps jobs from being
-- taken, or out of their order; then what waits and what is set. Writes nothing, so EVAL_RO runs it (Redis 7.0).
--
-- The work is bounded, however long the queue is. It looks at 10 tiers and the last one, at 100 members of each end of
-- `prioritized` and at the 100 jobs of `wait` that are next, and searches 10000 entries of a list for the job. What
-- lies between is counted, and not looked at.
--
-- It stands for no script of BullMQ, and reads the queues of BullMQ from version 4.0.0 on.

--- @include "includes/countBefore"
--- @include "includes/duration"
--- @include "includes/sharedScores"
--- @include "includes/waitingTiers"

local wait, paused, active, prioritized, delayed = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local limiter, meta, pc, marker = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local prefix, asked, now = ARGV[1], ARGV[2] or "", tonumber(ARGV[3])
local TIER, MOST_TIERS, MOST_MEMBERS, MOST_ENTRIES = 0x100000000, 10, 100, 10000

if not now then
  local clock = redis.call("TIME")
  now = clock[1] * 1000 + math.floor(clock[2] / 1000)
end

local lines = {}
local function say(form, ...)
  lines[#lines + 1] = string.format(form, ...)
end
local function warn(form, ...)
  say("! " .. form, ...)
end
local function count(number, thing)
  return string.format(number == 1 and "%d %s" or "%d %ss", number, thing)
end
local function field(id, name)
  return redis.call("HGET", prefix .. id, name) or nil
end
-- What is said of a time that may be unknown, such as ", added 3 min ago".
local function since(form, time)
  local known = tonumber(time)
  return known and string.format(form, duration(now - known)) or ""
end
local function age(id)
  return since(", added %s ago", field(id, "timestamp"))
end

local settings = redis.call("HMGET", meta, "paused", "concurrency", "max", "duration")
local isPaused, concurrency, max, period = settings[1], tonumber(settings[2]), tonumber(settings[3]), settings[4]
local taken, remaining = tonumber(redis.call("GET", limiter)) or 0, redis.call("PTTL", limiter)
local counter = tonumber(redis.call("GET", pc)) or 0
local inWait, inPaused, inActive = redis.call("LLEN", wait), redis.call("LLEN", paused), redis.call("LLEN", active)
local inPrioritized, inDelayed = redis.call("ZCARD", prioritized), redis.call("ZCARD", delayed)
local tiers = waitingTiers(prioritized, MOST_TIERS)

local function sayWhatGoesBefore(score)
  local tier = math.floor(score / TIER)
  local rank = redis.call("ZRANK", prioritized, asked)
  local inLowerTiers = redis.call("ZCOUNT", prioritized, "-inf", string.format("(%.0f", tier * TIER))
  local smaller = redis.call("ZCOUNT", prioritized, "-inf", "(" .. score)
  say("job %s: in prioritized, tier %d, counter %.0f%s", asked, tier, score % TIER, age(asked))
  say("  %d before it", inWait + rank)
  for _, part in ipairs({
    { inWait, "in wait, which goes before any tier" },
    { inLowerTiers, "in tiers of a lower number" },
    { smaller - inLowerTiers, "in its tier, with a smaller counter" },
    { rank - smaller, "with the same score, and an id whose bytes sort first" },
  }) do
    if part[1] > 0 then
      say("  %d %s", part[1], part[2])
    end
  end
  local priority = field(asked, "priority")
  if priority and tonumber(priority) ~= tier then
    warn("job %s has priority %s in its hash, and is in tier %d", asked, priority, tier)
  end
end

local function sayWhyInNoList()
  local finished = field(asked, "finishedOn")
  local children = redis.call("SCARD", prefix .. asked .. ":dependencies")
  if redis.call("EXISTS", prefix .. asked) == 0 then
    warn("job %s does not exist", asked)
  elseif finished then
    say("job %s: finished%s", asked, since(", %s ago", finished))
  elseif children > 0 then
    warn("job %s waits for its children: %d", asked, children)
  elseif inWait > MOST_ENTRIES or inActive > MOST_ENTRIES then
    say("job %s: not among the %d entries of a list that were searched", asked, MOST_ENTRIES)
  else
    warn("job %s has a hash, and is found nowhere: no worker takes it", asked)
  end
end

local function sayWhereTheJobIs()
  local score = redis.call("ZSCORE", prioritized, asked)
  local due = redis.call("ZSCORE", delayed, asked)
  local before = countBefore(wait, asked, MOST_ENTRIES)
  if score then
    sayWhatGoesBefore(score)
  elseif before then
    say("job %s: in wait, which goes before any tier%s", asked, age(asked))
    say("  %d before it", before)
  elseif due then
    local left = math.floor(due / 0x1000) - now
    say("job %s: in delayed, %s", asked, left > 0 and "due in " .. duration(left) or "due when a worker asks next")
  elseif countBefore(active, asked, MOST_ENTRIES) then
    say("job %s: in active%s", asked, since(", for %s", field(asked, "processedOn")))
  elseif countBefore(paused, asked, MOST_ENTRIES) then
    say("job %s: in paused", asked)
  else
    sayWhyInNoList()
  end
end

local isFull = concurrency and inActive >= concurrency
local isLimited = max and taken >= max and remaining > 0

local function warnOfWhatHoldsBack()
  if isPaused then
    warn("paused: no job is taken")
  end
  if inPaused > 0 then
    warn("%s in the list paused: an older BullMQ put it there, and takes it out on resume", count(inPaused, "job"))
  end
  if isFull then
    warn("%s active, and at most %d may be: no job is taken", count(inActive, "job"), concurrency)
  end
  if isLimited then
    warn("rate limit: %d of %d taken, the next one in %s", taken, max, duration(remaining))
  end
  if max and not period then
    warn("rate limit without a duration: a take fails, unless the worker has one")
  end
end

local function warnOfOrder()
  if inWait > 0 and inPrioritized > 0 then
    warn("%s in wait: before any tier", count(inWait, "job"))
  end
  local below = redis.call("ZCOUNT", prioritized, "-inf", "(4294967296")
  if below > 0 then
    warn("%s below tier 1: before any tier", count(below, "score"))
  end
  local above = redis.call("ZCOUNT", prioritized, "9007199254740992", "+inf")
  if above > 0 then
    warn("%s of 2^53 or more, from a priority above 2097151: their order may be lost", count(above, "score"))
  end
  for _, tier in ipairs(tiers) do
    local id, highest = tier.back[1], tier.back[2] % TIER
    if highest > counter % TIER then
      local form = "pc is %.0f, and job %s of tier %d has counter %.0f: a job added now overtakes it"
      warn(form, counter, id, tier.priority, highest)
    end
  end
end

-- The members at both ends of `prioritized`, in order, each followed by its score.
local function ends()
  local members = redis.call("ZRANGE", prioritized, 0, MOST_MEMBERS - 1, "WITHSCORES")
  local from = math.max(MOST_MEMBERS, inPrioritized - MOST_MEMBERS)
  for _, item in ipairs(redis.call("ZRANGE", prioritized, from, -1, "WITHSCORES")) do
    members[#members + 1] = item
  end
  return members
end

local function warnOfTies(members)
  local rows = { members }
  for _, tier in ipairs(tiers) do
    rows[#rows + 1] = tier.front
  end
  local shared, first, second = sharedScores(rows)
  if shared > 0 then
    warn("%s of several jobs, as of %s and %s: their ids decide", count(shared, "score"), first, second)
  end
end

local function warnOfMissingHashes(members)
  local ids = redis.call("LRANGE", wait, -MOST_MEMBERS, -1)
  for i = 1, #members, 2 do
    ids[#ids + 1] = members[i]
  end
  local missing, example = 0, nil
  for _, id in ipairs(ids) do
    if redis.call("EXISTS", prefix .. id) == 0 then
      missing, example = missing + 1, example or id
    end
  end
  if missing > 0 then
    warn("%s without a hash, as %s, of %d looked at", count(missing, "id"), example, #ids)
  end
end

local function warnOfMarker()
  local isHeldBack = isPaused or isFull or isLimited
  if inWait + inPrioritized > 0 and not isHeldBack and not redis.call("ZSCORE", marker, "0") then
    warn("no marker: if it stays away, no idle worker is woken")
  end
end

local function sayOldestOf(ids)
  local oldest, first
  for _, id in ipairs(ids) do
    local time = tonumber(field(id, "timestamp"))
    if time and (not first or time < first) then
      oldest, first = id, time
    end
  end
  if oldest then
    say("oldest of these: job %s%s", oldest, age(oldest))
  end
end

local function sayWhatWaits()
  local head = redis.call("LINDEX", wait, -1) or nil
  local heads, told = { head }, 0
  say("wait: %s%s", count(inWait, "job"), head and "; first " .. head .. age(head) or "")
  say("prioritized: %s", count(inPrioritized, "job"))
  for _, tier in ipairs(tiers) do
    local first = tier.front[1]
    heads[#heads + 1] = first
    told = told + tier.jobs
    say("  tier %d: %s; first %s%s", tier.priority, count(tier.jobs, "job"), first, age(first))
  end
  if told < inPrioritized then
    say("  elsewhere: %s", count(inPrioritized - told, "job"))
  end
  sayOldestOf(heads)
  local due = redis.call("ZCOUNT", delayed, 0, string.format("%.0f", (now + 1) * 0x1000 - 1))
  say("delayed: %s, %d of them due", count(inDelayed, "job"), due)
end

local function sayWhatIsSet()
  local oldest = redis.call("LINDEX", active, -1)
  local longest = oldest and "; job " .. oldest .. since(" for %s", field(oldest, "processedOn")) or ""
  local most = concurrency and string.format("at most %d", concurrency) or "no limit"
  say("active: %s, %s%s", count(inActive, "job"), most, longest)
  say("paused: %s", isPaused and "yes" or "no")
  if max then
    local left = remaining > 0 and ", counted anew in " .. duration(remaining) or ""
    say("rate limit: %d of %d taken%s", taken, max, left)
  else
    say("rate limit: none in meta")
  end
  local highest = 0
  for _, tier in ipairs(tiers) do
    highest = math.max(highest, tier.back[2] % TIER)
  end
  say("pc: %.0f; the highest counter in these tiers is %.0f", counter, highest)
end

if asked ~= "" then
  sayWhereTheJobIs()
end
warnOfWhatHoldsBack()
warnOfOrder()
local members = ends()
warnOfTies(members)
warnOfMissingHashes(members)
warnOfMarker()
sayWhatWaits()
sayWhatIsSet()
return lines
