-- Reserves room in the blob store for what is kept of a session, such as a recording. What is kept no longer gives its room
-- back.
-- KEYS[1] hash of the room that what the project keeps takes: id → <the time at which it goes, ms>:<bytes>
-- ARGV[1] its id
-- ARGV[2] bytes that it takes at most
-- ARGV[3] how long it is kept at most, ms
-- ARGV[4] most bytes of all that the project keeps
-- ARGV[5] most of them
-- Returns 1; 0 when there is no room.  O(what the project keeps)
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bytes, count = tonumber(ARGV[2]), 1
local kept = redis.call("HGETALL", KEYS[1])
for i = 1, #kept, 2 do
  local goes, taken = string.match(kept[i + 1], "^(%d+):(%d+)$")
  if tonumber(goes) <= now then
    redis.call("HDEL", KEYS[1], kept[i])
  else
    bytes = bytes + tonumber(taken)
    count = count + 1
  end
end
if bytes > tonumber(ARGV[4]) or count > tonumber(ARGV[5]) then return 0 end
redis.call("HSET", KEYS[1], ARGV[1], string.format("%.0f:%s", now + ARGV[3], ARGV[2]))
local seconds = math.ceil(ARGV[3] / 1000)
redis.call("EXPIRE", KEYS[1], seconds, "NX")
redis.call("EXPIRE", KEYS[1], seconds, "GT")
return 1
