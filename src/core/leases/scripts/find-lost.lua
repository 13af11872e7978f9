-- Finds callers that wait at an API replica and are not in the queue: the message of their grant was lost, Redis lost their
-- place, or match.lua dropped them while the replica was silent or not subscribed.
-- @include keys
-- ARGV[1] channel of the replica; the script sends an empty message, which shows the replica that messages reach it
-- ARGV[2…] sessions of the callers
-- Returns {how many subscribers the channel has, sessions that are not in the queue}.  O(n)
local lost = {}
for i = 2, #ARGV do
  if not redis.call("ZSCORE", WAITERS, ARGV[i]) then lost[#lost + 1] = ARGV[i] end
end
return { redis.call("SPUBLISH", ARGV[1], ""), lost }
