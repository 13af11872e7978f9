-- Ends a session and moves its browser on.
-- @include keys now notify browsers end-lease
-- ARGV[1] session id
-- ARGV[2] next state of the browser: "releasing" (its agent is asked next) or "retired" (to be destroyed)
-- ARGV[3] reason, kept with the ended session
-- Returns the lease, or false when there is no such session.  O(log n)
local text = redis.call("HGET", LEASES, ARGV[1])
if not text then return false end
local lease = cjson.decode(text)
local browser = getBrowser(lease.browser)

endLease(lease, ARGV[3])
-- Whoever looks at a release that got stuck has to know whose it was.
if browser then setState(browser, ARGV[2], ARGV[2] == "releasing" and lease.session or nil, ARGV[3]) end
notify(ARGV[2] == "retired")
return text
