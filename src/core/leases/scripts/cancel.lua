#!lua flags=allow-oom
-- Takes a caller out of the queue.
-- @include keys now notify
-- ARGV[1] session id
-- Returns {"cancelled"} | {"granted", lease} when the caller holds a browser already | {"unknown"}.  O(log n)
local session = ARGV[1]
if redis.call("ZREM", WAITERS, session) == 1 then
  redis.call("HDEL", REQUESTS, session)
  notify(false)
  return { "cancelled" }
end
local text = redis.call("HGET", LEASES, session)
if text then return { "granted", text } end
return { "unknown" }
