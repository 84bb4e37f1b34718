-- Releases a lock if it is still the caller's, and leaves a signal for one
-- waiter.
-- KEYS[1]  the lock
-- KEYS[2]  the list on which waiters block
-- ARGV[1]  the caller's token
-- ARGV[2]  how long the signal waits for its reader, in milliseconds
-- Answers 1, or 0 if the lock was no longer the caller's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
redis.call('DEL', KEYS[1], KEYS[2]) -- one signal at most
redis.call('LPUSH', KEYS[2], 1)
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
