-- A browser's record: { id, pod, address, config, seq, state, since, session?, reason?, leaving?, leaving_since?, kept?, chromium?
-- }; states in src/core/leases/records.ts.
local function getBrowser(id)
  local text = redis.call("HGET", BROWSERS, id)
  return text and cjson.decode(text)
end

-- A browser with a leaving mark is retired instead of becoming idle.
local function setState(browser, state, session, reason)
  if state == "idle" and browser.leaving then
    state, session, reason, browser.leaving, browser.leaving_since = "retired", nil, browser.leaving, nil, nil
  end
  browser.state, browser.session, browser.reason, browser.since = state, session, reason, nowMs()
  redis.call("HSET", BROWSERS, browser.id, cjson.encode(browser))
  if state == "idle" then
    redis.call("ZADD", IDLE, redis.call("HINCRBY", POOL, "idle_order", 1), browser.id)
  else
    redis.call("ZREM", IDLE, browser.id)
  end
end
