-- Whether a session that is not found may live: Redis knows nothing about the pool, or may have lost its latest writes.
local function isRecovering()
  local known = redis.call("HMGET", POOL, "epoch", "recovering", "server")
  return not known[1] or known[2] or known[3] ~= serverRun()
end
