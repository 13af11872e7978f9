-- Reserves a session name within a project.
-- KEYS[1] hash of the project's names: name → owner
-- ARGV[1] name
-- ARGV[2] owner, "<pool uid>/<session id>"
-- ARGV[3] an owner that is not alive any more and may be replaced, or ""
-- Returns "" when reserved, else the present owner.  O(1)

-- Longer than any session waits and lives, s. A project that reserves no name for so long has none in use, and may be
-- gone.
local LIFE_SECONDS = 7 * 24 * 60 * 60

local owner = redis.call("HGET", KEYS[1], ARGV[1])
if owner and owner ~= ARGV[2] and owner ~= ARGV[3] then return owner end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
redis.call("EXPIRE", KEYS[1], LIFE_SECONDS)
return ""
