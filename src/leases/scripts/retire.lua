-- Retires idle browsers: no caller gets them any more, and the operator destroys them.
-- @include keys now notify browsers
-- ARGV[1] reason
-- ARGV[2] "1": the operator may rebuild these browsers at once, not paced by the fill rate
-- ARGV[3] how many at most
-- ARGV[4] token of a request that may come twice: the script does nothing when the last request had it too; "" for none
-- ARGV[5…] browser ids in the order in which to retire them; none: all idle ones, the longest idle first
-- Returns the ids that were retired.  O(n log n)
local token = ARGV[4]
if token ~= "" then
  if redis.call("HGET", POOL, "discarded") == token then return {} end
  redis.call("HSET", POOL, "discarded", token)
end
local ids = {}
for i = 5, #ARGV do ids[#ids + 1] = ARGV[i] end
if #ids == 0 then ids = redis.call("ZRANGE", IDLE, 0, -1) end

local retired = {}
for _, id in ipairs(ids) do
  if #retired >= tonumber(ARGV[3]) then break end
  local browser = getBrowser(id)
  if browser and browser.state == "idle" then
    setState(browser, "retired", nil, ARGV[1])
    retired[#retired + 1] = id
  end
end
if #retired > 0 then
  if ARGV[2] == "1" then redis.call("HINCRBY", POOL, "unpaced", #retired) end
  notify(true)
end
return retired
