#!lua flags=allow-oom
-- Notes that the names of a project are all there, if nothing was lost since the check began (are-names-complete.lua): a loss of data takes the
-- check with it, and another server has another run.
-- @include server
-- KEYS[1] hash of the project's names
-- ARGV[1] the check
-- Returns 1 when it is noted.  O(1)
local run = serverRun()
if redis.call("HGET", KEYS[1], "!check") ~= run .. "/" .. ARGV[1] then return 0 end
redis.call("HDEL", KEYS[1], "!check")
redis.call("HSET", KEYS[1], "!whole", run)
return 1
