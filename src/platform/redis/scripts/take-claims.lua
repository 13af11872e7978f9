#!lua flags=allow-oom
-- Notes that a replica lives, and gives it sessions whose replica does not. Where there are no claims it writes nothing.
-- KEYS[1] hash of claims: session → <pool uid>/<replica>
-- KEYS[2] sorted set of replicas by the time at which they were last heard of, ms
-- ARGV[1] the replica
-- ARGV[2] silence after which a replica counts as gone, ms
-- ARGV[3] most sessions that it gets
-- ARGV[4] where to look on: the cursor of the call before, 0 at first
-- Returns {next cursor, session, pool uid, …}.  O(replicas and 500 claims)
if redis.call("HLEN", KEYS[1]) == 0 then return { "0" } end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[2], string.format("%.0f", now), ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", string.format("%.0f", now - ARGV[2]))
local alive = {}
for _, replica in ipairs(redis.call("ZRANGE", KEYS[2], 0, -1)) do alive[replica] = true end
local most = tonumber(ARGV[3])
local found = redis.call("HSCAN", KEYS[1], ARGV[4], "COUNT", 500)
local reply = { found[1] }
for i = 1, #found[2], 2 do
  local pool, replica = string.match(found[2][i + 1], "^([^/]*)/(.*)$")
  if not alive[replica] then
    -- The same part is looked at again: more are free than this replica takes at once.
    if #reply > most * 2 then
      reply[1] = ARGV[4]
      return reply
    end
    redis.call("HSET", KEYS[1], found[2][i], pool .. "/" .. ARGV[1])
    reply[#reply + 1] = found[2][i]
    reply[#reply + 1] = pool
  end
end
return reply
