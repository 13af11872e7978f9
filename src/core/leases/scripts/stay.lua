#!lua flags=allow-oom
-- Removes the leaving mark (leave.lua) of browsers that are not retired yet.
-- @include keys browsers
-- ARGV[1] reason; marks of other reasons stay
-- ARGV[2…] browser ids
-- Returns how many browsers stay.  O(n)
local staying = 0
for i = 2, #ARGV do
  local browser = getBrowser(ARGV[i])
  if browser and browser.state ~= "retired" and browser.leaving == ARGV[1] then
    browser.leaving, browser.leaving_since = nil, nil
    redis.call("HSET", BROWSERS, browser.id, cjson.encode(browser))
    staying = staying + 1
  end
end
return staying
