-- Releases a lock if it is still the caller's.
-- KEYS[1]  the lock
-- ARGV[1]  the caller's token
-- Answers how many keys it deleted: 1, or 0 if the lock was not the caller's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0
