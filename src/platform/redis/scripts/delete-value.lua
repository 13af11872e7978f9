-- Releases a lock, if this holder still has it.
-- KEYS[1] the lock
-- ARGV[1] the holder
-- Returns 1 when released, 0 when the holder had lost it.  O(1)
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])
