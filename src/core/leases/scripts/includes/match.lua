-- Gives idle browsers to waiting callers, the longest idle to the longest waiting, until either of them runs out.
-- `own`: the session of the caller that runs this script. It reads its grant from the script's answer, and its request
-- (`ownRequest`) is not stored yet. All other callers get their grants by a message. A waiter whose API replica is
-- silent or not subscribed is dropped, so that no caller waits behind a dead one. A replica that was cut off or stood
-- still only briefly takes again with the ticket and gets the place back.
local function leaseOf(browser, session, request)
  return {
    session = session, browser = browser.id, pod = browser.pod, address = browser.address, config = browser.config,
    epoch = tonumber(redis.call("HGET", POOL, "epoch")) or 1, seq = browser.seq + 1,
    created_at = nowMs(), ticket = request.ticket, channel = request.channel, request = request.request,
  }
end

local function takeRequest(session)
  local request = redis.call("HGET", REQUESTS, session)
  redis.call("HDEL", REQUESTS, session)
  return cjson.decode(request)
end

local function isListening(session, request, lease)
  if isSilent(request.channel) then return false end
  return redis.call("SPUBLISH", request.channel, cjson.encode({ session = session, wake = "granted", lease = lease })) > 0
end

-- Data to which Redis fell back may have a caller in the queue that has got its browser since. So a waiter that has not
-- been heard of in this run of the server is asked to take again: one who really waits does, and has the place back by
-- its ticket.
local function isOfThisRun(session, request)
  if not request.server or request.server == serverRun() then return true end
  redis.call("SPUBLISH", request.channel, cjson.encode({ session = session, wake = "recheck" }))
  return false
end

local function match(own, ownRequest)
  local ownLease
  while true do
    local session = redis.call("ZRANGE", WAITERS, 0, 0)[1]
    local id = session and redis.call("ZRANGE", IDLE, 0, 0)[1]
    if not id then return ownLease end
    redis.call("ZREM", WAITERS, session)
    local request = session == own and ownRequest or takeRequest(session)

    local browser = getBrowser(id)
    local lease = cjson.encode(leaseOf(browser, session, request))
    if session == own then ownLease = lease end
    if session == own or (isOfThisRun(session, request) and isListening(session, request, lease)) then
      browser.seq = browser.seq + 1
      setState(browser, "leased", session)
      redis.call("HSET", LEASES, session, lease)
      tellSession("began", session, lease)
    end
  end
end
