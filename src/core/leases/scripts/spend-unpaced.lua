#!lua flags=allow-oom
-- Uses up unpaced starts. Each browser that was discarded to be rebuilt at once has added one.
-- @include keys
-- ARGV[1] how many at most
-- Returns how many may start.  O(1)
local granted = math.min(tonumber(ARGV[1]), tonumber(redis.call("HGET", POOL, "unpaced")) or 0)
if granted > 0 then redis.call("HINCRBY", POOL, "unpaced", -granted) end
return granted
