-- Finds the first event of a session at this time or later. Events are numbered in the order of their times, but for a clock that was set.
-- KEYS[1] stream
-- KEYS[2] hash of its state
-- ARGV[1] time, microseconds since 1970
-- Returns the event's number; 0 when all events are older, or there is none.  O(log n)
local wanted = tonumber(ARGV[1])
-- The first event with this number or a higher one: its number and its time.
local function at(from)
  local entry = redis.call("XRANGE", KEYS[1], from, "+", "COUNT", 1)[1]
  if not entry then return nil end
  return tonumber(string.match(entry[1], "^%d+")), tonumber(entry[2][4])
end
local low = at("-")
if not low then return 0 end
local high = tonumber(redis.call("HGET", KEYS[2], "last") or 0) + 1
while low < high do
  local middle = math.floor((low + high) / 2)
  local seq, time = at(string.format("%.0f-0", middle))
  if not seq or time >= wanted then
    high = middle
  else
    low = seq + 1
  end
end
return at(string.format("%.0f-0", low)) or 0
