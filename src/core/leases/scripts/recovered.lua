#!lua flags=allow-oom
-- Ends a recovery: every agent that could be asked has reported its lease, so a session that is not found is over.
-- @include keys
-- ARGV[1] epoch under which the agents were asked
-- Returns 1 when this ended the recovery, 0 when another epoch has begun or no recovery was under way.  O(1)
if redis.call("HGET", POOL, "epoch") ~= ARGV[1] then return 0 end
return redis.call("HDEL", POOL, "recovering")
