-- The agent has ended the lease and confirmed its browser: it goes to the next caller, or becomes idle; retired, if it is to leave.
-- @include keys now notify browsers match
-- ARGV[1] browser id
-- ARGV[2] session of the ended lease: an offer that comes late finds another one and does nothing
-- Returns 1 when offered, 0 when not.  O(log n)
local browser = getBrowser(ARGV[1])
if not browser or browser.state ~= "releasing" or browser.session ~= ARGV[2] then return 0 end
setState(browser, "idle")
match()
notify(browser.state == "retired")
return 1
