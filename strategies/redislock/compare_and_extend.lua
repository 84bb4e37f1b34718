-- Extends a lock if it is still the caller's.
-- KEYS[1]  the lock
-- ARGV[1]  the caller's token
-- ARGV[2]  the lease in milliseconds
-- Answers 1, or 0 if the lock is no longer the caller's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
