-- Reads the two streams of a vault item at one moment, so that a reader who goes on after the last id misses nothing.
-- KEYS[1] the one stream
-- KEYS[2] the other
-- ARGV[1] the first id, `-`, or `(` and the id after which to read
-- ARGV[2] most events of each stream
-- Returns the events of both, those of a stream in order: {id, {"event", JSON}}.  O(events)
local events = redis.call("XRANGE", KEYS[1], ARGV[1], "+", "COUNT", ARGV[2])
for _, event in ipairs(redis.call("XRANGE", KEYS[2], ARGV[1], "+", "COUNT", ARGV[2])) do
  table.insert(events, event)
end
return events
