-- Takes a free lock, and counts the grant.
-- KEYS[1]  the lock
-- KEYS[2]  the number of the last grant; this key never expires
-- ARGV[1]  the caller's token
-- ARGV[2]  the lease in milliseconds
-- ARGV[3]  a number; the grant's number must be greater
-- Answers the grant's number, or 0 if the lock is taken.
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
-- Count on from ARGV[3] if Redis knows only a lower number, or none.
local last = tonumber(redis.call('GET', KEYS[2]) or 0)
if last < tonumber(ARGV[3]) then
	redis.call('SET', KEYS[2], ARGV[3])
end
local number = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return number
