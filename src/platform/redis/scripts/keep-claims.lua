#!lua flags=allow-oom
-- Confirms which sessions a replica collects. Claims that Redis has lost are made again.
-- KEYS[1] hash of claims: session → <pool uid>/<replica>
-- ARGV[1] the replica
-- ARGV[2…] session, pool uid, …
-- Returns the sessions that another replica collects by now.  O(sessions)
local lost = {}
for i = 2, #ARGV, 2 do
  local held = redis.call("HGET", KEYS[1], ARGV[i])
  local own = ARGV[i + 1] .. "/" .. ARGV[1]
  if not held then
    redis.call("HSET", KEYS[1], ARGV[i], own)
  elseif held ~= own then
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
