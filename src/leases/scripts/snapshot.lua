-- All that the operator plans with, of one moment.
-- @include keys
-- Returns {browser records, number of waiters, unpaced starts left, draining 0|1, config hashes}.  O(n)
return {
  redis.call("HVALS", BROWSERS),
  redis.call("ZCARD", WAITERS),
  tonumber(redis.call("HGET", POOL, "unpaced")) or 0,
  redis.call("HEXISTS", POOL, "draining"),
  redis.call("HKEYS", CONFIGS),
}
