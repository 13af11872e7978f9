#!lua flags=allow-oom
-- Lets a lock live on, if this holder still has it.
-- KEYS[1] the lock
-- ARGV[1] the holder
-- ARGV[2] its life from now on, ms
-- Returns 1 when renewed, 0 when the holder had lost it.  O(1)
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1
