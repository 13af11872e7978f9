-- The run of the Redis server that executes this, new with every start of it and another one after a failover; "" where it may
-- not be asked.
local function serverRun()
  local info = redis.pcall("INFO", "server")
  return type(info) == "string" and string.match(info, "run_id:(%w+)") or ""
end
