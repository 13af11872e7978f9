-- Frees a session name, if this owner still has it.
-- KEYS[1] hash of the project's names: name → owner
-- ARGV[1] name
-- ARGV[2] owner, "<pool uid>/<session id>"
-- Returns 1 when freed, 0 when not.  O(1)
if redis.call("HGET", KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call("HDEL", KEYS[1], ARGV[1])
