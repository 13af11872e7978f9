-- Replaces what a live session was asked for with: its name, its tags.
-- @include keys
-- ARGV[1] session id
-- ARGV[2] the request as it was read
-- ARGV[3] the request as it shall be
-- Returns the lease, 0 when the request has changed meanwhile, false when there is no such session.  O(1)
local text = redis.call("HGET", LEASES, ARGV[1])
if not text then return false end
local lease = cjson.decode(text)
if lease.request ~= ARGV[2] then return 0 end
lease.request = ARGV[3]
local changed = cjson.encode(lease)
redis.call("HSET", LEASES, ARGV[1], changed)
return changed
