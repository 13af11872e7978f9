-- Put in front of every script of the product by the hook: what a script does to the keys of its pool goes, as one
-- entry, into the stream bp:{<pool uid>}:history. It looks at the commands and not at the scripts' own words, so that
-- it stays right when the scripts change. `recording` (the script's name) and `script` (its text as a function) are set
-- around this file.
local plain = redis
local changes, left, uid = {}, {}, string.match(KEYS[1] or "", "^bp:{(.-)}:pool$")

-- As text: cjson would keep 14 digits of it.
local function ticketText(ticket) return ticket and string.format("%.17g", ticket) end

local function note(change) changes[#changes + 1] = change end

-- The caller's tag in a request, which is JSON.
local function requestOf(request)
  local ok, wanted = pcall(cjson.decode, request or "")
  return ok and type(wanted.tags) == "table" and wanted.tags.request or nil
end

local function leaseNote(what, lease)
  note({ what = what, session = lease.session, browser = lease.browser, epoch = lease.epoch, seq = lease.seq,
    ticket = what == "granted" and ticketText(lease.ticket) or nil, channel = what == "granted" and lease.channel or nil,
    reason = what == "ended" and (lease.reason or "?") or nil,
    request = what ~= "ended" and requestOf(lease.request) or nil })
end

local function stateOf(key, id)
  local text = plain.call("HGET", key, id)
  return text and cjson.decode(text) or { state = "none", seq = 0 }
end

local function leaves(session)
  left[session] = true
  note({ what = "left", session = session })
end

-- A grant follows the departure from the queue, which then was none.
local function grants(lease)
  leaseNote(left[lease.session] and "granted" or "restored", lease)
  for i = #changes, 1, -1 do
    local change = changes[i]
    if change.session == lease.session then
      if change.what == "queued" then change.request = requestOf(lease.request) end
      if change.what == "left" then table.remove(changes, i) end
    end
  end
end

local before = {
  browsers = {
    HSET = function(key, id, text)
      local was, is = stateOf(key, id), cjson.decode(text)
      note({ what = "state", browser = id, from = was.state, to = is.state, seq = is.seq, session = is.session, reason = is.reason })
    end,
    HDEL = function(key, id)
      local was = stateOf(key, id)
      if was.state ~= "none" then note({ what = "state", browser = id, from = was.state, to = "none", seq = was.seq }) end
    end,
  },
  waiters = {
    ZADD = function(_, ticket, session) note({ what = "queued", session = session, ticket = ticketText(tonumber(ticket)) }) end,
    ZREM = function(key, session)
      if plain.call("ZSCORE", key, session) then leaves(session) end
    end,
    DEL = function(key)
      for _, session in ipairs(plain.call("ZRANGE", key, 0, -1)) do leaves(session) end
    end,
  },
  requests = {
    HSET = function(_, session, text)
      for _, change in ipairs(changes) do
        if change.what == "queued" and change.session == session then change.request = requestOf(cjson.decode(text).request) end
      end
    end,
  },
  leases = {
    HSET = function(_, _, text) grants(cjson.decode(text)) end,
    HDEL = function(key, session)
      if plain.call("HEXISTS", key, session) == 1 then note({ what = "undone", session = session }) end
    end,
  },
  ended = {
    -- The lease was taken out just before, or was not there at all.
    HSET = function(_, session, text)
      for i = #changes, 1, -1 do
        if changes[i].what == "undone" and changes[i].session == session then table.remove(changes, i) end
      end
      local lease = cjson.decode(text)
      lease.session = session
      leaseNote("ended", lease)
    end,
  },
  pool = {
    HSET = function(_, field, value)
      if field == "epoch" then note({ what = "epoch", epoch = tonumber(value) }) end
    end,
  },
}

-- Every key of a DEL counts; of the other commands of interest only the first argument is a key, and they are used with
-- one field or member at a time (what comes after is passed over, as with the clean-up of old ended leases).
local function look(command, ...)
  local name = string.upper(command)
  local keys = (name == "DEL" or name == "UNLINK") and { ... } or { (...) }
  for _, key in ipairs(keys) do
    local part = string.match(key, "^bp:{.-}:(.+)$")
    local handler = part and before[part] and before[part][name == "UNLINK" and "DEL" or name]
    if handler then handler(key, select(2, ...)) end
  end
end

local function call(...)
  if uid then look(...) end
  return plain.call(...)
end

local redis = setmetatable({ call = call }, { __index = plain })

local function finish(...)
  if #changes > 0 then
    local time = plain.call("TIME")
    local stream = "bp:{" .. uid .. "}:history"
    local last = plain.call("XREVRANGE", stream, "+", "-", "COUNT", 1)[1]
    local entry = cjson.encode({
      script = recording, after = last and last[2][4] or "", timeUs = time[1] * 1000000 + time[2], changes = changes,
    })
    -- Two masters can give the same id in the same millisecond.
    plain.call("XADD", stream, "*", "script", entry, "digest", plain.sha1hex(entry))
  end
  return ...
end
