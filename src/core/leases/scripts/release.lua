#!lua flags=allow-oom
-- Ends a session and gives its browser the next state.
-- @include keys now notify tell-session browsers ended end-lease
-- ARGV[1] session id
-- ARGV[2] next state of the browser: "releasing" (the caller asks the agent next) or "retired" (the operator destroys it)
-- ARGV[3] reason, kept with the ended session
-- Returns the lease, or false when no lease has this session.  O(log n)
local text = redis.call("HGET", LEASES, ARGV[1])
if not text then return false end
local lease = cjson.decode(text)
local browser = getBrowser(lease.browser)

endLease(lease, ARGV[3])
-- Keep the session id: an inspection needs it to finish a release that got stuck.
if browser then setState(browser, ARGV[2], ARGV[2] == "releasing" and lease.session or nil, ARGV[3]) end
notify(ARGV[2] == "retired")
return text
