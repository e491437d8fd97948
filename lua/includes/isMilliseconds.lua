-- Whether a value, number or text, is a time that the server takes, of at least that many milliseconds.
local function isMilliseconds(value, least)
  local number = tonumber(value)
  return number ~= nil and number >= least and number < 2 ^ 53
end
