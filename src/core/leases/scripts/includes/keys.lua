-- The keys of one pool, in the order in which every script gets them (src/core/leases/pool-keys.ts).
local POOL, BROWSERS, IDLE, WAITERS, REQUESTS, LEASES, ENDED, ENDED_AT, CONFIGS, BEATS =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]

local function poolUid()
  return string.match(POOL, "{(.-)}")
end
