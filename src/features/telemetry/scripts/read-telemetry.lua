-- Reads events of a session, a page at most. Only XRANGE is used: installations allow their user no other command on streams.
-- KEYS[1] stream
-- KEYS[2] hash of its state
-- ARGV[1] asc or desc
-- ARGV[2] the number before the first event, in that order; empty for the oldest or the newest
-- ARGV[3] most events
-- ARGV[4] bytes after which no further event is read
-- Returns {last number, 1 when the session has ended and no event comes, number, event, …}.  O(events that are read), for desc times
-- log n where numbers are missing
local state = redis.call("HMGET", KEYS[2], "last", "ended")
local last = tonumber(state[1] or 0)
local reply = { last, tonumber(state[2] or 0) }
local most, bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
-- Few at a time: an event may have half a megabyte.
local step = 8
local count = 0
local function id(seq) return string.format("%.0f-0", seq) end
local function numberOf(entry) return tonumber(string.match(entry[1], "^%d+")) end
local function isFull() return count >= most or bytes <= 0 end
local function add(entry)
  reply[#reply + 1] = numberOf(entry)
  reply[#reply + 1] = entry[2][6]
  bytes = bytes - #entry[2][6]
  count = count + 1
end

if ARGV[1] == "asc" then
  local after = tonumber(ARGV[2]) or 0
  while not isFull() do
    local entries = redis.call("XRANGE", KEYS[1], id(after + 1), "+", "COUNT", step)
    for _, entry in ipairs(entries) do
      if isFull() then return reply end
      add(entry)
      after = numberOf(entry)
    end
    if #entries < step then break end
  end
  return reply
end

local oldest = redis.call("XRANGE", KEYS[1], "-", "+", "COUNT", 1)[1]
local first = oldest and numberOf(oldest) or last + 1
local before = math.min(tonumber(ARGV[2]) or last + 1, last + 1)
while not isFull() and before > first do
  local from = math.max(first, before - step)
  local entries = redis.call("XRANGE", KEYS[1], id(from), id(before - 1))
  for index = #entries, 1, -1 do
    if isFull() then return reply end
    add(entries[index])
  end
  before = from
  if #entries == 0 then
    -- Many numbers may be missing: the next lower number that there is.
    local low, high = first, before
    while high - low > 1 do
      local middle = math.floor((low + high) / 2)
      if #redis.call("XRANGE", KEYS[1], id(middle), id(before - 1), "COUNT", 1) > 0 then
        low = middle
      else
        high = middle
      end
    end
    before = low + 1
  end
end
return reply
