-- Takes a browser for a new session, or queues its caller.
-- @include keys now notify browsers match queue ticket
-- ARGV[1] session id, made by the caller; the same id again gets the same answer and never a second browser
-- ARGV[2] channel on which the caller's API replica receives a later grant
-- ARGV[3] request, opaque text that is kept with the lease
-- ARGV[4] ticket of an earlier place in the queue, or "" for a new one
-- Returns {"granted", lease} | {"waiting", ticket} | {"draining"} | {"ended"} for a session that is over.  O(log n)
local session = ARGV[1]
local known = redis.call("HGET", LEASES, session)
if known then return { "granted", known } end
local ticket = redis.call("ZSCORE", WAITERS, session)
if ticket then return { "waiting", ticket } end
if redis.call("HEXISTS", ENDED, session) == 1 then return { "ended" } end
if redis.call("HEXISTS", POOL, "draining") == 1 then return { "draining" } end

return queueAndMatch(session, { ticket = ticketFor(ARGV[4]), channel = ARGV[2], request = ARGV[3] })
