-- Reads what an inspection needs to know about one browser, at one moment.
-- @include keys now
-- ARGV[1] browser id
-- Returns {epoch or 0, time in ms, record or "", the lease that the record names or ""}.  O(1)
local text = redis.call("HGET", BROWSERS, ARGV[1])
local session = text and cjson.decode(text).session
local lease = session and redis.call("HGET", LEASES, session)
if lease and cjson.decode(lease).browser ~= ARGV[1] then lease = false end
return { tonumber(redis.call("HGET", POOL, "epoch")) or 0, nowMs(), text or "", lease or "" }
