-- Adds events of a session to its stream and drops the oldest beyond its bounds. Events that it has, or had, are left out: two that
-- collect the same session can't add one twice.
-- KEYS[1] stream
-- KEYS[2] hash of its state: last, bytes
-- ARGV[1] most bytes of the stream; the events of one call may be beyond it
-- ARGV[2] longest age of an event, s; also how long the stream is kept without a new one
-- ARGV[3…] the events, in the order of their numbers: number, time of the event (microseconds since 1970), event as JSON
-- Returns the number of the last event that the stream has or had.  O(events of this call and events that are dropped)
local most, age = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = tonumber(redis.call("HGET", KEYS[2], "last") or 0)
local bytes = tonumber(redis.call("HGET", KEYS[2], "bytes") or 0)
-- Neither is left without the other.
if last == 0 then redis.call("UNLINK", KEYS[1]) end
-- What an entry costs besides its event, bytes.
local overhead = 80
local added = {}
local from = last
for i = 3, #ARGV, 3 do
  local seq = tonumber(ARGV[i])
  if seq > from then
    added[#added + 1] = i
    from = seq
    bytes = bytes + #ARGV[i + 2] + overhead
  end
end
if #added == 0 then return last end

-- The oldest that stays, among those that were there before.
local cursor, keep = "-", nil
while not keep do
  local entries = redis.call("XRANGE", KEYS[1], cursor, "+", "COUNT", 50)
  if #entries == 0 then keep = string.format("%.0f-0", tonumber(ARGV[added[1]])) end
  for _, entry in ipairs(entries) do
    if bytes <= most and tonumber(entry[2][2]) >= now - age * 1000 then
      keep = entry[1]
      break
    end
    bytes = bytes - #entry[2][6] - overhead
    cursor = "(" .. entry[1]
  end
end
for _, i in ipairs(added) do
  local id = string.format("%.0f-0", tonumber(ARGV[i]))
  redis.call("XADD", KEYS[1], "MINID", keep, id, "at", string.format("%.0f", now), "ts", ARGV[i + 1], "event", ARGV[i + 2])
  last = tonumber(ARGV[i])
end
redis.call("HSET", KEYS[2], "last", string.format("%.0f", last), "bytes", string.format("%.0f", bytes))
redis.call("EXPIRE", KEYS[1], age)
redis.call("EXPIRE", KEYS[2], age)
return last
