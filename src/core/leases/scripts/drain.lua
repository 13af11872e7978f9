#!lua flags=allow-oom
-- Stops new leases of this pool and tells its waiting callers that it drains.
-- @include keys
-- ARGV[1] "1": also when browsers are leased; otherwise a pool with leases stays as it is
-- Returns how many browsers are leased.  O(n)
local leased = redis.call("HLEN", LEASES)
if leased > 0 and ARGV[1] ~= "1" then return leased end

redis.call("HSET", POOL, "draining", 1)
for _, session in ipairs(redis.call("ZRANGE", WAITERS, 0, -1)) do
  local request = cjson.decode(redis.call("HGET", REQUESTS, session))
  redis.call("SPUBLISH", request.channel, cjson.encode({ session = session, wake = "draining" }))
end
redis.call("DEL", WAITERS, REQUESTS)
return leased
