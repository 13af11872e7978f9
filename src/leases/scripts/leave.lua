-- Has browsers leave their pool: idle ones are retired, and so is every other one instead of becoming idle again. The newest
-- reason counts.
-- @include keys now notify browsers
-- ARGV[1] reason
-- ARGV[2…] browser ids
-- Returns how many this was news for.  O(n log n)
local news, retired = 0, 0
for i = 2, #ARGV do
  local browser = getBrowser(ARGV[i])
  if browser and browser.state ~= "retired" and browser.leaving ~= ARGV[1] then
    browser.leaving = ARGV[1]
    news = news + 1
    if browser.state == "idle" then
      setState(browser, "idle")
      retired = retired + 1
    else
      redis.call("HSET", BROWSERS, browser.id, cjson.encode(browser))
    end
  end
end
if retired > 0 then notify(true) end
return news
