-- Begins an epoch: Redis has lost its data, or may have. From now on only agents that were asked under it take new leases.
-- @include keys now notify server
-- ARGV[1] epoch; before the first one nothing can have been lost
-- Returns 1 when it began, 0 when there is this one or a later one.  O(1)
local epoch = tonumber(ARGV[1])
if (tonumber(redis.call("HGET", POOL, "epoch")) or 0) >= epoch then return 0 end
redis.call("HSET", POOL, "epoch", epoch, "server", serverRun())
if epoch > 1 then
  redis.call("HSET", POOL, "recovering", nowMs())
  redis.call("SPUBLISH", "bp:{" .. string.match(POOL, "{(.-)}") .. "}:recheck", "")
end
notify(true)
return 1
