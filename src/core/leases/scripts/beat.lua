#!lua flags=allow-oom
-- Notes that an API replica is alive, as every take does, too.
-- @include keys now beats
-- ARGV[1] channel of the replica
-- Returns 1 when the replica counted as silent until now, so match.lua may have dropped its callers, else 0.  O(1); O(n) of the
-- replicas when dead ones have left many beats
local wasSilent = isSilent(ARGV[1])
beat(ARGV[1])

-- Above this number those go that no replica can come back to: after an hour Redis has closed its subscription.
local MANY = 64
local FORGET_MS = 60 * 60 * 1000
if redis.call("HLEN", BEATS) > MANY then
  local beats = redis.call("HGETALL", BEATS)
  for i = 1, #beats, 2 do
    if nowMs() - tonumber(beats[i + 1]) > FORGET_MS then redis.call("HDEL", BEATS, beats[i]) end
  end
end
return wasSilent and 1 or 0
