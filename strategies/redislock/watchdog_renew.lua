-- Extends a lock if it is still the owner's.
-- KEYS[1]  the lock
-- ARGV[1]  the owner
-- ARGV[2]  the lease in milliseconds
-- Answers 1, or 0 if the lock is no longer the owner's.
if redis.call('TYPE', KEYS[1]).ok == 'hash'
	and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
