-- A time in words, rounded down: "1999 ms", "119 s", "119 min", "47 h", "2 d". Below 0 it is "0 ms".
local function duration(milliseconds)
  for _, unit in ipairs({ { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } }) do
    if milliseconds >= 2 * unit[1] then
      return string.format("%d %s", milliseconds / unit[1], unit[2])
    end
  end
  return string.format("%d ms", math.max(milliseconds, 0))
end
