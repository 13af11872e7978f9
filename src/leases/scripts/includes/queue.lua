-- Puts a caller into the queue and matches. Returns what take.lua returns.
local function queueAndMatch(session, request)
  redis.call("ZADD", WAITERS, request.ticket, session)
  local own = match(session, request)
  notify(false)
  if own then return { "granted", own } end
  redis.call("HSET", REQUESTS, session, cjson.encode(request))
  return { "waiting", request.ticket }
end
