#!lua flags=allow-oom
-- Counts the events of an ended session for its project, and chooses the sessions whose events must go because the project has too
-- many bytes: those that would go next anyway.
-- KEYS[1] sorted set: session by the time at which its events go, ms
-- KEYS[2] hash: session → bytes, and under the empty name their sum
-- ARGV[1] most bytes
-- ARGV[2] most sessions that are chosen
-- ARGV[3] the session; empty for none
-- ARGV[4] its bytes
-- ARGV[5] how long they are kept, s
-- Returns the chosen sessions.  O(log n) of those that are chosen or have gone
-- Asked for again and again while memory is short: then it writes nothing.
if ARGV[3] == "" and redis.call("EXISTS", KEYS[1]) == 0 then return {} end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local sum = tonumber(redis.call("HGET", KEYS[2], "") or 0)
local function forget(session)
  sum = sum - tonumber(redis.call("HGET", KEYS[2], session) or 0)
  redis.call("HDEL", KEYS[2], session)
  redis.call("ZREM", KEYS[1], session)
end
if ARGV[3] ~= "" then
  forget(ARGV[3])
  redis.call("ZADD", KEYS[1], string.format("%.0f", now + ARGV[5] * 1000), ARGV[3])
  redis.call("HSET", KEYS[2], ARGV[3], ARGV[4])
  sum = sum + ARGV[4]
end
for _, session in ipairs(redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now, "LIMIT", 0, 200)) do forget(session) end
local chosen = {}
while sum > tonumber(ARGV[1]) and #chosen < tonumber(ARGV[2]) do
  local next = redis.call("ZRANGE", KEYS[1], 0, 0)[1]
  if not next then break end
  forget(next)
  chosen[#chosen + 1] = next
end
if redis.call("ZCARD", KEYS[1]) == 0 then
  redis.call("UNLINK", KEYS[2])
else
  redis.call("HSET", KEYS[2], "", string.format("%.0f", sum))
  for _, key in ipairs(KEYS) do redis.call("EXPIRE", key, 172800) end
end
return chosen
