-- The tiers that hold jobs: the first `most` of them, and the last one. What lies between is not looked at.
--
-- Returns an array of {priority, jobs, front, back}: how many jobs, and members of `prioritized`, each followed by its
-- score. `front` holds the first member of the tier and the one behind it, in whatever tier; `back` holds the last.
--
-- Scores below tier 1, and those of 2^53 or more, belong to no tier. Writes nothing.
local function waitingTiers(prioritizedKey, most)
  local TIER, END = 0x100000000, "(9007199254740992"
  local tiers = {}

  -- Returns the first score behind the tier.
  local function addTierOf(score)
    local priority = math.floor(score / TIER)
    local first, last = priority * TIER, priority * TIER + TIER - 1
    tiers[#tiers + 1] = {
      priority = priority,
      jobs = redis.call("ZCOUNT", prioritizedKey, first, last),
      front = redis.call("ZRANGE", prioritizedKey, first, END, "BYSCORE", "LIMIT", 0, 2, "WITHSCORES"),
      back = redis.call("ZRANGE", prioritizedKey, last, first, "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES"),
    }
    return last + 1
  end

  local from = TIER
  while #tiers < most do
    local found = redis.call("ZRANGE", prioritizedKey, from, END, "BYSCORE", "LIMIT", 0, 1, "WITHSCORES")
    if #found == 0 then
      return tiers
    end
    from = addTierOf(found[2])
  end
  local last = redis.call("ZRANGE", prioritizedKey, END, from, "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES")
  if #last > 0 then
    addTierOf(last[2])
  end
  return tiers
end
