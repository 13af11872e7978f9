#!lua flags=allow-oom
-- Ends the lease of a browser whose pod has ended or vanished, and deletes its record, or retires it.
-- @include keys now notify tell-session browsers ended end-lease
-- ARGV[1] browser id
-- ARGV[2] reason, kept with the ended session
-- ARGV[3] "1": the record stays, retired, while the pod is there: it shows that the browser had started
-- Returns the lease that ended, "" when none did, or false when the browser has no record.  O(log n)
local browser = getBrowser(ARGV[1])
if not browser then return false end
local text = browser.session and redis.call("HGET", LEASES, browser.session)
if ARGV[3] == "1" then
  setState(browser, "retired", nil, ARGV[2])
else
  redis.call("HDEL", BROWSERS, ARGV[1])
  redis.call("ZREM", IDLE, ARGV[1])
end
local lease = text and cjson.decode(text)
if not lease or lease.browser ~= browser.id then return "" end
endLease(lease, ARGV[2])
-- No other script may ever run for this browser again, so tell the operator now: the pool's status must show the end.
notify(false)
return text
