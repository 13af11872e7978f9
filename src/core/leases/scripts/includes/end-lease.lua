-- Ends a lease: moves what is kept of it (`EndedLease` in src/core/leases/records.ts) to the ended ones, with time and
-- reason.

-- Longest request that is kept with an ended lease, bytes. Of a longer one the fields go that a reader misses least.
local KEPT_REQUEST_BYTES = 512
local LEAVE_OUT = { "trace_state", "trace", "report", "telemetry", "start_url", "tags", "vaults", "changed", "made" }

local function keptRequest(text)
  if #text <= KEPT_REQUEST_BYTES then return text end
  local request = cjson.decode(text)
  for _, field in ipairs(LEAVE_OUT) do
    request[field] = nil
    text = cjson.encode(request)
    if #text <= KEPT_REQUEST_BYTES then break end
  end
  return text
end

-- Ended leases that each further one drops at most. More than one, so that a lowered bound is reached, too.
local DROP_STEPS = 10

local function endLease(lease, reason)
  local text = cjson.encode({
    browser = lease.browser, pod = lease.pod, address = lease.address, config = lease.config, epoch = lease.epoch, seq = lease.seq,
    created_at = lease.created_at, ended_at = nowMs(), reason = reason, request = keptRequest(lease.request),
  })
  redis.call("HDEL", LEASES, lease.session)
  -- A Redis that fell back to older data may end a lease twice.
  local isNew = redis.call("ZADD", ENDED_AT, nowMs(), lease.session) == 1
  local before = isNew and 0 or redis.call("HSTRLEN", ENDED, lease.session) + ENDED_ENTRY_BYTES
  redis.call("HSET", ENDED, lease.session, text)
  redis.call("HINCRBY", POOL, "ended_bytes", #text + ENDED_ENTRY_BYTES - before)
  local most, mostBytes = endedBounds()
  trimEnded(most, mostBytes, DROP_STEPS)
  tellSession("ended", lease.session, text)
end
