-- Tickets order the waiting callers: Redis' own clock in microseconds, but always above every ticket that this pool has
-- given or seen. So a caller that comes back with its ticket after a loss of data is ahead of all later callers, and no
-- counter has to be restored. Tickets are text, because cjson writes 14 digits only and they have 16.
local function ticketFor(given)
  local last = tonumber(redis.call("HGET", POOL, "ticket")) or 0
  local ticket = tonumber(given)
  if not ticket then
    local time = redis.call("TIME")
    ticket = math.max(last + 1, time[1] * 1000000 + time[2])
  end
  local text = string.format("%.0f", ticket)
  if ticket > last then redis.call("HSET", POOL, "ticket", text) end
  return text
end
