-- Takes a browser for a new session, or queues its caller.
-- @include keys now notify tell-session browsers beats server match queue ticket
-- ARGV[1] session id, made by the caller; the same id again gets the same answer and never a second browser
-- ARGV[2] channel on which the caller's API replica receives a later grant
-- ARGV[3] request, opaque text that is kept with the lease
-- ARGV[4] ticket of an earlier place in the queue, or "" for a new one
-- ARGV[5] most callers in the queue when this one is new, or "" for any number
-- ARGV[6] "1": only a browser that no former holder has left as it stands; a caller that would wait for one finds the queue full
-- Returns {"granted", lease} | {"waiting", ticket} | {"full"} | {"draining"} | {"ended"} for a session that is over.  O(log n), with ARGV[6] O(n)

-- Makes the longest idle browser that is as it was made the first one. Returns whether there is one.
local function bringCleanForward()
  local ids = redis.call("ZRANGE", IDLE, 0, -1)
  for _, id in ipairs(ids) do
    if not getBrowser(id).kept then
      if id ~= ids[1] then redis.call("ZADD", IDLE, tonumber(redis.call("ZSCORE", IDLE, ids[1])) - 1, id) end
      return true
    end
  end
  return false
end

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
if ARGV[6] == "1" and not bringCleanForward() then return { "full" } end

beat(ARGV[2])
return queueAndMatch(session, { ticket = ticketFor(ARGV[4]), channel = ARGV[2], request = ARGV[3] })
