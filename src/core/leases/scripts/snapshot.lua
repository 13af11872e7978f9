-- Reads all that the operator plans with, at one moment.
-- @include keys now server
-- Returns {browser records, number of waiters, unpaced starts left, draining 0|1, config hashes, epoch or 0,
--          begin of a recovery that is under way or 0, time, 1 when the epoch began in this run of the server, else 0}; times in ms.  O(n)
return {
  redis.call("HVALS", BROWSERS),
  redis.call("ZCARD", WAITERS),
  tonumber(redis.call("HGET", POOL, "unpaced")) or 0,
  redis.call("HEXISTS", POOL, "draining"),
  redis.call("HKEYS", CONFIGS),
  tonumber(redis.call("HGET", POOL, "epoch")) or 0,
  tonumber(redis.call("HGET", POOL, "recovering")) or 0,
  nowMs(),
  redis.call("HGET", POOL, "server") == serverRun() and 1 or 0,
}
