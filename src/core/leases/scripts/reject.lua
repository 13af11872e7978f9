#!lua flags=allow-oom
-- The agent of a granted browser refused the bind or did not answer: the browser becomes suspect, and the caller goes back to
-- its place in the queue.
-- @include keys now notify tell-session browsers beats server match queue
-- ARGV[1] session id
-- ARGV[2] id of the granted browser
-- ARGV[3] epoch and
-- ARGV[4] seq of that lease: the session may hold the same browser again by now, and its agent was not asked about that lease
-- ARGV[5] reason, for the operator
-- Returns what take.lua returns, or {"unknown"} when the session does not hold that browser by that lease (any more).  O(log n)
local session = ARGV[1]
local text = redis.call("HGET", LEASES, session)
local lease = text and cjson.decode(text)
local isRejected = lease and lease.browser == ARGV[2] and lease.epoch == tonumber(ARGV[3]) and lease.seq == tonumber(ARGV[4])
if not isRejected then
  return { redis.call("HEXISTS", ENDED, session) == 1 and "ended" or "unknown" }
end

redis.call("HDEL", LEASES, session)
tellSession("dropped", session, text)
local browser = getBrowser(lease.browser)
if browser then setState(browser, "suspect", session, ARGV[5]) end
notify(true)
if redis.call("HEXISTS", POOL, "draining") == 1 then return { "draining" } end
return queueAndMatch(session, { ticket = lease.ticket, channel = lease.channel, request = lease.request })
