-- Ends a turn, if it is still this holder's.
-- KEYS[1] the turn
-- ARGV[1] the holder
-- Returns 1 when ended, 0 when it was over.  O(1)
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])
