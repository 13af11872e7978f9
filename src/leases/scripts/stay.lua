-- Takes back that browsers are to leave (leave.lua), as long as they have not.
-- @include keys browsers
-- ARGV[1] the reason for which they were to leave
-- ARGV[2…] browser ids
-- Returns how many stay.  O(n)
local staying = 0
for i = 2, #ARGV do
  local browser = getBrowser(ARGV[i])
  if browser and browser.leaving == ARGV[1] then
    browser.leaving = nil
    redis.call("HSET", BROWSERS, browser.id, cjson.encode(browser))
    staying = staying + 1
  end
end
return staying
