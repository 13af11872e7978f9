-- Whether a session that is not found may live: Redis knows nothing about the pool, or may have lost its latest writes.
-- @include keys server
-- Returns 1 while the session may live, 0 when it is over.  O(1)
local known = redis.call("HMGET", POOL, "epoch", "recovering", "server")
if known[1] and not known[2] and known[3] == serverRun() then return 0 end
return 1
