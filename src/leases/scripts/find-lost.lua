-- Finds callers who wait at an API replica without being in the queue: their grant's message was lost, Redis lost their
-- place, or it was passed over while the replica was cut off.
-- @include keys
-- ARGV[1] channel of the replica; it gets an empty message, by whose coming it sees that messages reach it
-- ARGV[2…] sessions of the callers
-- Returns {how many subscribers the channel has, sessions that are not in the queue}.  O(n)
local lost = {}
for i = 2, #ARGV do
  if not redis.call("ZSCORE", WAITERS, ARGV[i]) then lost[#lost + 1] = ARGV[i] end
end
return { redis.call("SPUBLISH", ARGV[1], ""), lost }
