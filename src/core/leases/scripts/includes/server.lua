-- The run id of the Redis server that executes this script. Every start of a server has a new one, so a failover
-- changes it. "" where the user may no longer call INFO; nothing starts with a user who may not
-- (platform/redis/check-redis.ts).
local function serverRun()
  local info = redis.pcall("INFO", "server")
  return type(info) == "string" and string.match(info, "run_id:(%w+)") or ""
end
