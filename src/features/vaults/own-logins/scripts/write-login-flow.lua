-- @include keep-login-event
-- Writes a connection's login, unless somebody else has written it since it was read, and its entry in the timeline.
-- KEYS[1] the login: a hash with its version and the login as JSON
-- KEYS[2] the timeline
-- ARGV[1] the version that was read, 0 for none
-- ARGV[2] the new version
-- ARGV[3] the new login, JSON
-- ARGV[4] the id of the timeline's entry
-- ARGV[5] that entry, JSON
-- ARGV[6] most entries
-- ARGV[7] seconds for which both are kept without a change
-- Returns whether it was written, 0 or 1.  O(entries)
if (redis.call("HGET", KEYS[1], "version") or "0") ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[1], "version", ARGV[2], "flow", ARGV[3])
redis.call("EXPIRE", KEYS[1], ARGV[7])
keep_login_event(KEYS[2], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7])
return 1
