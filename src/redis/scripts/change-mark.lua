-- Changes the mark of a request that is carried out under an Idempotency-Key, unless it is another run's by now.
-- KEYS[1] the mark
-- ARGV[1] the mark as this run made it
-- ARGV[2] what it becomes, "" for none
-- ARGV[3] how long it is kept, s
-- Returns 1 when changed, 0 when it is another's.  O(1)
local text = redis.call("GET", KEYS[1])
if text and text ~= ARGV[1] then return 0 end
if ARGV[2] == "" then
  redis.call("DEL", KEYS[1])
else
  redis.call("SET", KEYS[1], ARGV[2], "EX", ARGV[3])
end
return 1
