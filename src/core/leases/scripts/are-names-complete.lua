#!lua flags=allow-oom
-- Whether the names of a project are all there, or some may have been lost with Redis' data.
-- @include server
-- KEYS[1] hash of the project's names: name → owner; and `!whole` → the run of the server on which they were all there,
--   `!check` → the check that may say so next
-- ARGV[1] a new check
-- Returns 1 when they are; else 0, and the check may confirm it (confirm-names.lua).  O(1)
local run = serverRun()
if run ~= "" and redis.call("HGET", KEYS[1], "!whole") == run then return 1 end
redis.call("HSET", KEYS[1], "!check", run .. "/" .. ARGV[1])
redis.call("EXPIRE", KEYS[1], 7 * 24 * 60 * 60)
return 0
