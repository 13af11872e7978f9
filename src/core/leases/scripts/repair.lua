#!lua flags=allow-oom
-- Corrects a browser's record by its agent's state, if nothing has changed since the record was examined.
-- @include keys now notify tell-session browsers beats server match ended end-lease
-- ARGV[1] browser id
-- ARGV[2] epoch under which the agent was asked
-- ARGV[3] the examined record, "" for none
-- ARGV[4] the new record; the script sets its `since` when the state or the session changes
-- ARGV[5] what happens to the lease that the record named: "kept", "dropped" (it was never bound), or why it ended
-- ARGV[6] the lease to restore, "" for none
-- ARGV[7] the browser that Redis lists for the restored session until now, "" for none
-- Returns the lease that ended by it, or 1 when it was corrected otherwise; 0 when something has changed, or when the restored
-- session is over or has another browser.  O(log n)
local examined = redis.call("HGET", BROWSERS, ARGV[1]) or ""
if examined ~= ARGV[3] or redis.call("HGET", POOL, "epoch") ~= ARGV[2] then return 0 end
local before = examined ~= "" and cjson.decode(examined) or {}
local browser = cjson.decode(ARGV[4])
if browser.leaving and not browser.leaving_since then browser.leaving_since = nowMs() end

local restored = browser.session
if ARGV[6] ~= "" then
  local other = redis.call("HGET", LEASES, restored)
  local otherBrowser = other and cjson.decode(other).browser or ""
  if otherBrowser ~= ARGV[7] or redis.call("HEXISTS", ENDED, restored) == 1 then return 0 end
end

local text = ARGV[5] ~= "kept" and before.session and redis.call("HGET", LEASES, before.session)
local former = text and cjson.decode(text)
local result = 1
-- The session may have another browser by now: what happened to this one does not concern its lease.
if former and former.browser == browser.id then
  if ARGV[5] == "dropped" then
    redis.call("HDEL", LEASES, before.session)
    tellSession("dropped", before.session, text)
  else
    endLease(former, ARGV[5])
    result = text
  end
end
if ARGV[6] ~= "" then
  redis.call("HSET", LEASES, restored, ARGV[6])
  tellSession(ARGV[7] == "" and "began" or "changed", restored, ARGV[6])
  -- The session has a browser, so it leaves the queue. If a caller still waits, a recheck makes it take again and get
  -- this lease.
  if redis.call("ZREM", WAITERS, restored) == 1 then
    redis.call("SPUBLISH", takeRequest(restored).channel, cjson.encode({ session = restored, wake = "recheck" }))
  end
end

if before.state == browser.state and before.session == browser.session then
  browser.since = before.since
  redis.call("HSET", BROWSERS, browser.id, cjson.encode(browser))
  return result
end
setState(browser, browser.state, browser.session, browser.reason)
if browser.state == "idle" then match() end
notify(browser.state == "suspect" or browser.state == "retired")
return result
