-- Ends a lease: moves it to the ended ones, with time and reason, where it stays for a day.
local ENDED_LIFE_MS = 24 * 60 * 60 * 1000

local function endLease(lease, reason)
  local now = nowMs()
  lease.ended_at, lease.reason = now, reason
  redis.call("HDEL", LEASES, lease.session)
  redis.call("HSET", ENDED, lease.session, cjson.encode(lease))
  redis.call("ZADD", ENDED_AT, now, lease.session)
  local old = redis.call("ZRANGEBYSCORE", ENDED_AT, 0, now - ENDED_LIFE_MS, "LIMIT", 0, 100)
  if #old > 0 then
    redis.call("ZREM", ENDED_AT, unpack(old))
    redis.call("HDEL", ENDED, unpack(old))
  end
end
