-- The scores that more than one member has.
--
-- rows  arrays of members in their order, each followed by its score
-- Returns how many such scores there are, and two members of the first.
local function sharedScores(rows)
  local shared, seen, first, second = 0, {}, nil, nil
  for _, row in ipairs(rows) do
    for i = 1, #row - 2, 2 do
      local score = row[i + 1]
      if score == row[i + 3] and not seen[score] then
        seen[score] = true
        shared = shared + 1
        first, second = first or row[i], second or row[i + 2]
      end
    end
  end
  return shared, first, second
end
