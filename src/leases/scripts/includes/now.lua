-- Milliseconds since the epoch by Redis' own clock: one clock for all replicas.
-- It stands still while a script runs.
local scriptMs

local function nowMs()
  if not scriptMs then
    local time = redis.call("TIME")
    scriptMs = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return scriptMs
end
