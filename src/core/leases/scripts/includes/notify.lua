-- Tells the operators that this pool changed. Urgent: a browser waits to be destroyed; else only counts changed, and
-- the script publishes that four times a second at most. This is enough: an operator reconciles no sooner than half a
-- second after such a message and sees all changes until then. The rest of that half second is for late messages.
local NOTIFY_EVERY_MS = 250

local function notify(urgent)
  if not urgent then
    local now, toldAt = nowMs(), tonumber(redis.call("HGET", POOL, "told_at")) or 0
    if now >= toldAt and now < toldAt + NOTIFY_EVERY_MS then return end
    redis.call("HSET", POOL, "told_at", now)
  end
  redis.call("PUBLISH", "bp:pools", cjson.encode({ pool = poolUid(), urgent = urgent }))
end
