-- Notes that projects have audit lines of this moment, and forgets those that have had none for long.
-- KEYS[1] sorted set of the projects, by the time of their last lines, ms
-- ARGV[1] seconds after which a project without new lines is forgotten
-- ARGV[2] most projects: those with the latest lines
-- ARGV[3…] the projects
-- Returns how many projects have lines.  O(projects × log(all projects))
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #ARGV do redis.call("ZADD", KEYS[1], string.format("%.0f", now), ARGV[i]) end
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", string.format("%.0f", now - ARGV[1] * 1000))
redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -1 - ARGV[2])
redis.call("EXPIRE", KEYS[1], ARGV[1])
return redis.call("ZCARD", KEYS[1])
