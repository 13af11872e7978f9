#!lua flags=allow-oom
-- Notes that a session has ended and no further event of it comes.
-- KEYS[1] stream
-- KEYS[2] hash of its state
-- ARGV[1] how long both are kept, s
-- Returns the bytes of its events.  O(1)
redis.call("HSET", KEYS[2], "ended", 1)
redis.call("EXPIRE", KEYS[1], ARGV[1])
redis.call("EXPIRE", KEYS[2], ARGV[1])
return tonumber(redis.call("HGET", KEYS[2], "bytes") or 0)
