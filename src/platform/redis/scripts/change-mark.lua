#!lua flags=allow-oom
-- Changes the mark of a running request with an Idempotency-Key, unless another run owns the mark by now.
-- KEYS[1] the mark
-- ARGV[1] the mark as this run made it
-- ARGV[2] the new mark, "" to delete it
-- ARGV[3] how long the new mark is kept, s
-- Returns 1 when changed, 0 when another run owns it.  O(1)
local text = redis.call("GET", KEYS[1])
if text and text ~= ARGV[1] then return 0 end
if ARGV[2] == "" then
  redis.call("DEL", KEYS[1])
else
  redis.call("SET", KEYS[1], ARGV[2], "EX", ARGV[3])
end
return 1
