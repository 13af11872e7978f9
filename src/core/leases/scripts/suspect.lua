#!lua flags=allow-oom
-- Marks a browser whose agent did not confirm the end of a lease: no caller gets it before the operator has inspected it. A
-- browser with a leaving mark is retired without an inspection, because no caller gets it any more.
-- @include keys now notify browsers
-- ARGV[1] browser id
-- ARGV[2] session of the ended lease
-- ARGV[3] reason, for the operator
-- Returns 1 when marked, 0 when not.  O(1)
local browser = getBrowser(ARGV[1])
if not browser or browser.state ~= "releasing" or browser.session ~= ARGV[2] then return 0 end
if browser.leaving then
  setState(browser, "idle")
else
  setState(browser, "suspect", browser.session, ARGV[3])
end
notify(true)
return 1
