#!lua flags=allow-oom
-- Tells the pool its bounds for ended leases, and drops the oldest ones beyond them.
-- @include keys now ended
-- ARGV[1] most ended leases of the pool; each further end of a lease holds this bound, too
-- ARGV[2] most bytes of them, likewise
-- ARGV[3] most ended leases now: not above ARGV[1]; less where all pools together have too many, or Redis nears its memory limit
-- ARGV[4] most bytes of them now, likewise
-- ARGV[5] how many this run drops at most
-- Returns {dropped, left, bytes left, run id of the Redis server when the pool's epoch began}; zeros and "" for a pool that
-- Redis does not know.  O(n log n) of the dropped ones
if redis.call("HEXISTS", POOL, "epoch") == 0 then return { 0, 0, 0, "" } end
local told = redis.call("HMGET", POOL, "ended_most", "ended_most_bytes")
if told[1] ~= ARGV[1] or told[2] ~= ARGV[2] then
  redis.call("HSET", POOL, "ended_most", ARGV[1], "ended_most_bytes", ARGV[2])
end
local dropped = trimEnded(tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]))
return { dropped, redis.call("ZCARD", ENDED_AT), endedBytes(), redis.call("HGET", POOL, "server") or "" }
