-- A browser's pod has ended or vanished: its lease ends with it and the record goes.
-- @include keys now notify browsers end-lease
-- ARGV[1] browser id
-- ARGV[2] reason, kept with the ended session
-- Returns the lease that ended, "" when none did, or false when the browser was not known.  O(log n)
local browser = getBrowser(ARGV[1])
if not browser then return false end
redis.call("HDEL", BROWSERS, ARGV[1])
redis.call("ZREM", IDLE, ARGV[1])
local text = browser.session and redis.call("HGET", LEASES, browser.session)
local lease = text and cjson.decode(text)
if not lease or lease.browser ~= browser.id then return "" end
endLease(lease, ARGV[2])
-- Nothing else may happen to a pod that is gone, and the status has to tell of the end.
notify(false)
return text
