#!lua flags=allow-oom
-- Retires idle browsers: no caller gets them any more, and the operator destroys them. Those that come back from a lease and are not
-- offered yet count as idle when all are meant: to their callers they are released.
-- @include keys now notify browsers
-- ARGV[1] reason
-- ARGV[2] "1": the operator may rebuild these browsers at once, not paced by the fill rate
-- ARGV[3] how many at most
-- ARGV[4] token of a request that may come twice: the script does nothing when the last request had it too; "" for none
-- ARGV[5] "1": only browsers that were kept as their former holders left them
-- ARGV[6…] browser ids in the order in which to retire them; none: all idle ones, the longest idle first, then those that come back
-- Returns the ids that were retired.  O(n log n)
local token = ARGV[4]
if token ~= "" then
  if redis.call("HGET", POOL, "discarded") == token then return {} end
  redis.call("HSET", POOL, "discarded", token)
end
local ids = {}
for i = 6, #ARGV do ids[#ids + 1] = ARGV[i] end
local meansAll = #ids == 0
if meansAll then
  ids = redis.call("ZRANGE", IDLE, 0, -1)
  for _, text in ipairs(redis.call("HVALS", BROWSERS)) do
    local browser = cjson.decode(text)
    if browser.state == "releasing" then ids[#ids + 1] = browser.id end
  end
end

local retired = {}
for _, id in ipairs(ids) do
  if #retired >= tonumber(ARGV[3]) then break end
  local browser = getBrowser(id)
  local isMeant = browser and (ARGV[5] ~= "1" or browser.kept)
  if isMeant and (browser.state == "idle" or meansAll and browser.state == "releasing") then
    setState(browser, "retired", nil, ARGV[1])
    retired[#retired + 1] = id
  end
end
if #retired > 0 then
  if ARGV[2] == "1" then redis.call("HINCRBY", POOL, "unpaced", #retired) end
  notify(true)
end
return retired
