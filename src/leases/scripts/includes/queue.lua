-- Puts a caller into the queue and matches; answers as take.lua does.
local function queueAndMatch(session, request)
  redis.call("ZADD", WAITERS, request.ticket, session)
  redis.call("HSET", REQUESTS, session, cjson.encode(request))
  local own = match(session)
  notify(false)
  if own then return { "granted", own } end
  return { "waiting", request.ticket }
end
