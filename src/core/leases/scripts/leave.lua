#!lua flags=allow-oom
-- Sets the leaving mark of browsers: idle ones are retired now, every other one when it would become idle. A new reason
-- replaces the old one.
-- @include keys now notify browsers
-- ARGV[1] reason
-- ARGV[2…] browser ids
-- Returns how many marks are new or changed.  O(n log n)
local marked, retired = 0, 0
for i = 2, #ARGV do
  local browser = getBrowser(ARGV[i])
  if browser and browser.state ~= "retired" and browser.leaving ~= ARGV[1] then
    browser.leaving, browser.leaving_since = ARGV[1], nowMs()
    marked = marked + 1
    if browser.state == "idle" then
      setState(browser, "idle")
      retired = retired + 1
    else
      redis.call("HSET", BROWSERS, browser.id, cjson.encode(browser))
    end
  end
end
if retired > 0 then notify(true) end
return marked
