-- The ended leases of a pool. They stay for a day, or until newer ones need their room: the oldest go first. A lease
-- that ended a moment ago always stays: repeated calls and half-done steps (stepMs in src/core/leases/diagnose.ts) may
-- still ask for it. The pool's hash has their bytes as `ended_bytes`, and the operator's bounds as `ended_most` and
-- `ended_most_bytes` (trim.lua).
local ENDED_LIFE_MS = 24 * 60 * 60 * 1000
local ENDED_SURELY_MS = 20 * 1000

-- Until the operator has told its bounds.
local ENDED_MOST, ENDED_MOST_BYTES = 20000, 16 * 1024 * 1024

-- What Redis needs for an ended lease besides its text: its id twice, and its places in the hash and in the sorted set.
local ENDED_ENTRY_BYTES = 250

local function endedBytes()
  return tonumber(redis.call("HGET", POOL, "ended_bytes")) or 0
end

local function endedBounds()
  local told = redis.call("HMGET", POOL, "ended_most", "ended_most_bytes")
  return tonumber(told[1]) or ENDED_MOST, tonumber(told[2]) or ENDED_MOST_BYTES
end

-- Drops the oldest ended leases until both bounds hold, `steps` of them at most. Returns how many.
local function trimEnded(most, mostBytes, steps)
  local now, count, bytes, dropped = nowMs(), redis.call("ZCARD", ENDED_AT), endedBytes(), 0
  while dropped < steps do
    local oldest = redis.call("ZRANGE", ENDED_AT, 0, 0, "WITHSCORES")
    if #oldest == 0 then break end
    -- Below 0 when Redis' clock was set back: then the age says nothing.
    local age = now - tonumber(oldest[2])
    local isBeyond = age >= ENDED_LIFE_MS or count - dropped > most or bytes > mostBytes
    if not isBeyond or (age >= 0 and age < ENDED_SURELY_MS) then break end
    bytes = bytes - redis.call("HSTRLEN", ENDED, oldest[1]) - ENDED_ENTRY_BYTES
    redis.call("ZREM", ENDED_AT, oldest[1])
    redis.call("HDEL", ENDED, oldest[1])
    dropped = dropped + 1
  end
  if dropped > 0 then redis.call("HSET", POOL, "ended_bytes", math.max(0, bytes)) end
  return dropped
end
