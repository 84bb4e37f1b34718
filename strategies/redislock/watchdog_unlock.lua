-- Releases a lock if it is still the owner's, and wakes the waiters.
-- KEYS[1]  the lock
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  the owner
-- Answers 1, or 0 if the lock was no longer the owner's. It fails if the key is
-- no hash.
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
	return 0
end
-- Redis deletes a hash together with its last field.
redis.call('PUBLISH', KEYS[2], '0')
return 1
