-- When Redis has last heard of the API replicas whose callers wait for this pool: the channel of a replica → ms. A
-- replica that stands still (SIGSTOP, a machine without power) stays subscribed for minutes, so its subscription does
-- not tell. A replica whose beat is forgotten (beat.lua) or was lost with other data does not count as silent.
local SILENT_MS = 2000

local function beat(channel)
  return redis.call("HSET", BEATS, channel, nowMs())
end

-- A beat that lies in the future is from before Redis' clock was set back, or from another server's clock.
local function isSilent(channel)
  local at = tonumber(redis.call("HGET", BEATS, channel))
  return at ~= nil and math.abs(nowMs() - at) >= SILENT_MS
end
