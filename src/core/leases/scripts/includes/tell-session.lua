-- Tells the API replicas what becomes of a session: "began", "changed", "ended", or "dropped" when its lease was never bound. One channel
-- for all pools, since each on-demand browser is a pool of its own. Pool and session stand before the lease, so that a replica needs no
-- JSON for what concerns none of its readers; an ended lease does not name its session either. `text`: the lease as Redis keeps it.
local function tellSession(what, session, text)
  redis.call("PUBLISH", "bp:sessions", poolUid() .. " " .. what .. " " .. session .. " " .. text)
end

-- Tells them that leases of this pool may have ended without a word.
local function tellSessionsLost()
  redis.call("PUBLISH", "bp:sessions", poolUid() .. " lost")
end
