#!lua flags=allow-oom
-- Offers a browser whose agent has ended the lease and confirmed Chromium: the first waiter gets it, or it becomes idle. A
-- browser with a leaving mark is retired.
-- @include keys now notify tell-session browsers beats server match
-- ARGV[1] browser id
-- ARGV[2] session of the ended lease; a late offer finds another session in the record and does nothing
-- ARGV[3] "1" when it was kept as its former holders left it, "0" when it is as it was made, "" when the agent was not asked
-- Returns 1 when offered, 0 when not.  O(log n)
local browser = getBrowser(ARGV[1])
if not browser or browser.state ~= "releasing" or browser.session ~= ARGV[2] then return 0 end
if ARGV[3] ~= "" then browser.kept = ARGV[3] == "1" or nil end
setState(browser, "idle")
match()
notify(browser.state == "retired")
return 1
