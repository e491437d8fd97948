-- Take the job whose turn it is, and tell the score with which it waited. release.lua can put it back to that place.
--
-- KEYS, ARGV, replies and errors are those of moveToActive-11. Where the job came out of `prioritized`, a fifth element
-- follows: its score as text.
--
-- It stands for no script of BullMQ, where the score of a taken job is lost, and is no part of any exchange with it. It
-- leaves what moveToActive-11 leaves: it is that script, with an ear on its ZPOPMIN.

local server, score = redis, nil
local redis = setmetatable({
  call = function(command, ...)
    local reply = server.call(command, ...)
    if command == "ZPOPMIN" then
      score = reply[2]
    end
    return reply
  end,
}, { __index = server })

local function take()
--- @include "moveToActive-11"
end

local reply = take()
reply[5] = score
return reply
