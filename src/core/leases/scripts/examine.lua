-- Reads what an inspection needs to know about one browser, at one moment.
-- @include keys now beats
-- ARGV[1] browser id
-- Returns {epoch or 0, time in ms, record or "", the lease that the record names or "", 1 when the API replica that asked for this
-- lease is silent, else 0}.  O(1)
local text = redis.call("HGET", BROWSERS, ARGV[1])
local session = text and cjson.decode(text).session
local lease = session and redis.call("HGET", LEASES, session)
local known = lease and cjson.decode(lease)
if known and known.browser ~= ARGV[1] then lease, known = false, nil end
local isStill = known and isSilent(known.channel) and 1 or 0
return { tonumber(redis.call("HGET", POOL, "epoch")) or 0, nowMs(), text or "", lease or "", isStill }
