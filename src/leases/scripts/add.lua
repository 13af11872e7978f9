-- A browser is warm: it enters the pool as idle, once.
-- @include keys now notify browsers match
-- ARGV[1] browser id (the pod's uid)
-- ARGV[2] pod name
-- ARGV[3] agent address, host:port
-- ARGV[4] hash of the configuration that made it
-- Returns 1 when added, 0 when it was known.  O(log n)
if redis.call("HEXISTS", BROWSERS, ARGV[1]) == 1 then return 0 end
redis.call("HSETNX", POOL, "epoch", 1)
setState({ id = ARGV[1], pod = ARGV[2], address = ARGV[3], config = ARGV[4], seq = 0 }, "idle")
match()
return 1
