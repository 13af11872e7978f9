-- Notes that a caller in the queue has been heard of in this run of the server (match.lua).
local function confirmWaiter(session)
  local request = cjson.decode(redis.call("HGET", REQUESTS, session))
  local run = serverRun()
  if request.server == run then return end
  request.server = run
  redis.call("HSET", REQUESTS, session, cjson.encode(request))
end

-- Puts a caller into the queue and matches. Returns what take.lua returns.
local function queueAndMatch(session, request)
  redis.call("ZADD", WAITERS, request.ticket, session)
  local own = match(session, request)
  notify(false)
  if own then return { "granted", own } end
  request.server = serverRun()
  redis.call("HSET", REQUESTS, session, cjson.encode(request))
  return { "waiting", request.ticket }
end
