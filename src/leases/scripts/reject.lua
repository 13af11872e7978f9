#!lua flags=allow-oom
-- The agent of a granted browser refused the bind or did not answer: the browser becomes suspect, and the caller goes back to
-- its place in the queue.
-- @include keys now notify browsers beats server match queue
-- ARGV[1] session id
-- ARGV[2] id of the granted browser
-- ARGV[3] reason, for the operator
-- Returns what take.lua returns, or {"unknown"} when the session does not hold that browser (any more).  O(log n)
local session = ARGV[1]
local text = redis.call("HGET", LEASES, session)
local lease = text and cjson.decode(text)
if not lease or lease.browser ~= ARGV[2] then
  return { redis.call("HEXISTS", ENDED, session) == 1 and "ended" or "unknown" }
end

redis.call("HDEL", LEASES, session)
local browser = getBrowser(lease.browser)
if browser then setState(browser, "suspect", session, ARGV[3]) end
notify(true)
if redis.call("HEXISTS", POOL, "draining") == 1 then return { "draining" } end
return queueAndMatch(session, { ticket = lease.ticket, channel = lease.channel, request = lease.request })
