-- The agent did not confirm the end of a lease: nobody gets this browser before the operator has looked at it. One that is to
-- leave needs no look: its session is over, and nobody gets it any more.
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
