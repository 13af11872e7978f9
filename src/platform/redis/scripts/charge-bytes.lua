-- Charges bytes that are kept for a day to a holder, unless it would hold too many. The holder's hash has an entry for each hour, so it
-- stays small, and forgets what has expired.
-- KEYS[1] hash of the holder: hour since 1970 → bytes that were charged in it
-- ARGV[1] bytes; below 0: gives them back
-- ARGV[2] most bytes that the holder may have
-- ARGV[3] hours for which bytes count
-- Returns 1 when charged, 0 when not.  O(hours)
local hour = math.floor(redis.call("TIME")[1] / 3600)
local hours, bytes = tonumber(ARGV[3]), tonumber(ARGV[1])
local held = redis.call("HGETALL", KEYS[1])
local sum = 0
for i = 1, #held, 2 do
  if tonumber(held[i]) < hour - hours then
    redis.call("HDEL", KEYS[1], held[i])
  else
    sum = sum + tonumber(held[i + 1])
  end
end
if bytes > 0 and sum + bytes > tonumber(ARGV[2]) then return 0 end
redis.call("HINCRBY", KEYS[1], hour, bytes)
redis.call("EXPIRE", KEYS[1], (hours + 1) * 3600)
return 1
