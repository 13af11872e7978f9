-- Tells the operators that this pool changed. Urgent: a browser waits to be destroyed; else only counts moved.
local function notify(urgent)
  local uid = string.match(POOL, "{(.-)}")
  redis.call("PUBLISH", "bp:pools", cjson.encode({ pool = uid, urgent = urgent }))
end
