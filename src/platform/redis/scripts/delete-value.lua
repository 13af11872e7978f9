-- Deletes a key that still has this value: a lock of its holder, or a code that is used once.
-- KEYS[1] the key
-- ARGV[1] the value
-- Returns 1 when deleted, 0 when the key has another value or none.  O(1)
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])
