-- Milliseconds since 1970 by Redis' own clock: one clock for all replicas.
-- Every call within one run of a script returns the same time.
local scriptMs

local function nowMs()
  if not scriptMs then
    local time = redis.call("TIME")
    scriptMs = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return scriptMs
end
