-- Adds an event to one of the two streams of a vault item, with an id above all ids of both: they are read as one.
-- KEYS[1] stream to add to
-- KEYS[2] the other stream
-- ARGV[1] most events of the stream, roughly: Redis drops older ones in whole blocks
-- ARGV[2] the event, JSON
-- ARGV[3] seconds for which the stream is kept without a new event
-- Returns the id.  O(events of this millisecond); of all events when the clock was set back.
local time = redis.call("TIME")
local ms, seq = time[1] * 1000 + math.floor(time[2] / 1000), 0
for _, key in ipairs({ KEYS[1], KEYS[2] }) do
  local later = redis.call("XRANGE", key, string.format("%.0f", ms), "+")
  if #later > 0 then
    local last_ms, last_seq = string.match(later[#later][1], "^(%d+)-(%d+)$")
    if tonumber(last_ms) > ms then ms, seq = tonumber(last_ms), 0 end
    seq = math.max(seq, tonumber(last_seq) + 1)
  end
end
local id = string.format("%.0f-%.0f", ms, seq)
redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[1], id, "event", ARGV[2])
redis.call("EXPIRE", KEYS[1], ARGV[3])
return id
