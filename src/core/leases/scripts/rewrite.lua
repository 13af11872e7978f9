-- Replaces the request of a live session: its name, its tags.
-- @include keys tell-session
-- ARGV[1] session id
-- ARGV[2] the request as the caller of this script read it
-- ARGV[3] the new request
-- Returns the lease, 0 when the request has changed meanwhile, false when no lease has this session.  O(1)
local text = redis.call("HGET", LEASES, ARGV[1])
if not text then return false end
local lease = cjson.decode(text)
if lease.request ~= ARGV[2] then return 0 end
lease.request = ARGV[3]
local changed = cjson.encode(lease)
redis.call("HSET", LEASES, ARGV[1], changed)
tellSession("changed", ARGV[1], changed)
return changed
