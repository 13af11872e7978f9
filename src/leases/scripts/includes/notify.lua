-- Tells the operators that this pool changed. Urgent: a browser waits to be destroyed; else only counts moved. Of those they
-- hear four times a second: an operator looks again no sooner than half a second after such a message, at all that has changed
-- until then, and half of that is left for messages to be late.
local NOTIFY_EVERY_MS = 250

local function notify(urgent)
  if not urgent then
    local now, toldAt = nowMs(), tonumber(redis.call("HGET", POOL, "told_at")) or 0
    if now >= toldAt and now < toldAt + NOTIFY_EVERY_MS then return end
    redis.call("HSET", POOL, "told_at", now)
  end
  local uid = string.match(POOL, "{(.-)}")
  redis.call("PUBLISH", "bp:pools", cjson.encode({ pool = uid, urgent = urgent }))
end
