-- How many entries of a list are taken before this one, or nil where it is not found. The right end is taken first.
--
-- depth  how many entries are searched, from the right
local function countBefore(listKey, entry, depth)
  local fromLeft = redis.call("LPOS", listKey, entry, "RANK", -1, "MAXLEN", depth)
  return fromLeft and redis.call("LLEN", listKey) - 1 - fromLeft or nil
end
