-- Reserves room for a browser or for the growth of a pool, until all replicas know of it by their watches of the API server. So of two
-- requests at once, in whatever replicas, no more pass than there is room for.
-- KEYS[1] sorted set of reservations, <project>|<id>|<sessions>|<b or p>, by the time at which they end (ms)
-- ARGV[1] project
-- ARGV[2] id: what the watch will show
-- ARGV[3] sessions to reserve
-- ARGV[4] "b" for a browser, "p" for a pool
-- ARGV[5] room that the caller sees in the project
-- ARGV[6] 1 when pools use up that room too
-- ARGV[7] room for browsers that the caller sees in the organization; a pool needs none
-- ARGV[8] how long the reservation lives, ms
-- ARGV[9…] ids that the caller has counted already
-- Returns 1 when reserved, 0 when there is no room.  O(reservations)
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
-- Made again, a reservation takes the place of the former one.
local counted = { [ARGV[2]] = true }
for i = 9, #ARGV do counted[ARGV[i]] = true end
local project, all = tonumber(ARGV[3]), tonumber(ARGV[3])
for _, member in ipairs(redis.call("ZRANGE", KEYS[1], 0, -1)) do
  local of, id, sessions, kind = string.match(member, "^([^|]*)|([^|]*)|(%d+)|(%a)$")
  if not counted[id] then
    if kind == "b" then all = all + sessions end
    if of == ARGV[1] and (kind == "b" or ARGV[6] == "1") then project = project + sessions end
  end
end
if project > tonumber(ARGV[5]) or (ARGV[4] == "b" and all > tonumber(ARGV[7])) then return 0 end
redis.call("ZADD", KEYS[1], now + ARGV[8], ARGV[1] .. "|" .. ARGV[2] .. "|" .. ARGV[3] .. "|" .. ARGV[4])
redis.call("EXPIRE", KEYS[1], math.ceil(ARGV[8] / 1000))
return 1
