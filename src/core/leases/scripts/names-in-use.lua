-- Which sessions hold a browser or wait for one under the name that is reserved for them.
-- @include keys server recovering
-- ARGV[1…] session id and name of each session, in turn
-- Returns {1 while a session that is not found may live (includes/recovering.lua) else 0, then for each session 1 or 0}.  O(n)
local function nameOf(session)
  local kept = redis.call("HGET", LEASES, session) or redis.call("HGET", REQUESTS, session)
  return kept and cjson.decode(cjson.decode(kept).request).name
end

local reply = { isRecovering() and 1 or 0 }
for i = 1, #ARGV, 2 do
  reply[#reply + 1] = nameOf(ARGV[i]) == ARGV[i + 1] and 1 or 0
end
return reply
