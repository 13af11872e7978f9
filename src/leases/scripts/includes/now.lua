-- Milliseconds since the epoch by Redis' own clock: one clock for all replicas.
local function nowMs()
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
