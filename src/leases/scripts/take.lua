-- Takes a browser for a new session, or queues its caller.
-- @include keys now notify browsers beats server match queue ticket
-- ARGV[1] session id, made by the caller; the same id again gets the same answer and never a second browser
-- ARGV[2] channel on which the caller's API replica receives a later grant
-- ARGV[3] request, opaque text that is kept with the lease
-- ARGV[4] ticket of an earlier place in the queue, or "" for a new one
-- ARGV[5] most callers in the queue when this one is new, or "" for any number
-- Returns {"granted", lease} | {"waiting", ticket} | {"full"} | {"draining"} | {"ended"} for a session that is over.  O(log n)
local session = ARGV[1]
local known = redis.call("HGET", LEASES, session)
if known then return { "granted", known } end
local ticket = redis.call("ZSCORE", WAITERS, session)
if ticket then
  confirmWaiter(session)
  return { "waiting", ticket }
end
if redis.call("HEXISTS", ENDED, session) == 1 then return { "ended" } end
if redis.call("HEXISTS", POOL, "draining") == 1 then return { "draining" } end

local most = ARGV[4] == "" and tonumber(ARGV[5])
local waiting = redis.call("ZCARD", WAITERS)
-- Without a queue an idle browser is given out in any case. A caller with a ticket only comes back.
if most and waiting >= most and (waiting > 0 or redis.call("ZCARD", IDLE) == 0) then return { "full" } end

beat(ARGV[2])
return queueAndMatch(session, { ticket = ticketFor(ARGV[4]), channel = ARGV[2], request = ARGV[3] })
