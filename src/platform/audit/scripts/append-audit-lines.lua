-- Adds audit lines to a stream of recent ones.
-- KEYS[1] stream
-- ARGV[1] most lines of the stream, roughly: Redis drops older ones in whole blocks
-- ARGV[2] seconds for which the stream is kept without a new line
-- ARGV[3] `again` when the same lines were sent before without an answer: then nothing is done if the stream has them
-- ARGV[4] the first line, JSON
-- ARGV[5…] the other lines, likewise
-- Returns 1, or 0 when the stream had them.  O(lines), O(latest lines) when sent again
local latest = 2000
if ARGV[3] == "again" then
  for _, entry in ipairs(redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", latest)) do
    if entry[2][2] == ARGV[4] then return 0 end
  end
end
for i = 4, #ARGV do
  redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[1], "*", "line", ARGV[i])
end
redis.call("EXPIRE", KEYS[1], ARGV[2])
return 1
