-- Whether a session that is not found may live (includes/recovering.lua).
-- @include keys server recovering
-- Returns 1 while the session may live, 0 when it is over.  O(1)
return isRecovering() and 1 or 0
