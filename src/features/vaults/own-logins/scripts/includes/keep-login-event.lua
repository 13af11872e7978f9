-- Puts an entry into a timeline, a hash by ids that rise with time, and takes the oldest out of a full one.
local function keep_login_event(key, id, json, most, seconds)
  redis.call("HSET", key, id, json)
  redis.call("EXPIRE", key, seconds)
  if redis.call("HLEN", key) <= most then return end
  local ids = redis.call("HKEYS", key)
  table.sort(ids)
  redis.call("HDEL", key, ids[1])
end
