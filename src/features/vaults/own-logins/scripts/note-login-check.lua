-- @include keep-login-event
-- Notes that a connection's login was checked.
-- KEYS[1] the login: a hash
-- KEYS[2] the timeline
-- ARGV[1] when, ms
-- ARGV[2] how many checks and logins in a row have come to nothing
-- ARGV[3] the id of the timeline's entry; empty: there is none
-- ARGV[4] that entry, JSON
-- ARGV[5] most entries
-- ARGV[6] seconds for which both are kept without a change
-- Returns nothing.  O(entries)
redis.call("HSET", KEYS[1], "checked_ms", ARGV[1], "failures", ARGV[2])
redis.call("EXPIRE", KEYS[1], ARGV[6])
if ARGV[3] ~= "" then keep_login_event(KEYS[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]) end
