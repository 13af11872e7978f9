#!lua flags=allow-oom
-- Begins an epoch, because Redis has lost its data, or may have. Leases that are granted from now on carry it.
-- The queue begins anew. A caller in a queue of older data may hold a browser by now: granted another one, its session would be over
-- with that one. Whoever waits is told to take again, and gets the place back by its ticket.
-- @include keys now notify tell-session server
-- ARGV[1] epoch; the first one begins without a recovery, because nothing can be lost yet
-- Returns 1 when it began, 0 when Redis has this epoch or a later one.  O(n)
local epoch = tonumber(ARGV[1])
if (tonumber(redis.call("HGET", POOL, "epoch")) or 0) >= epoch then return 0 end
redis.call("HSET", POOL, "epoch", epoch, "server", serverRun())
if epoch > 1 then
  redis.call("HSET", POOL, "recovering", nowMs())
  redis.call("UNLINK", WAITERS, REQUESTS)
  redis.call("SPUBLISH", "bp:{" .. poolUid() .. "}:recheck", "")
  tellSessionsLost()
end
notify(true)
return 1
