-- Gives a lock back once, and tells a waiter when that was the last time.
-- KEYS[1]  the lock
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  the owner
-- ARGV[2]  how many times they still hold it
-- Answers 1, or 0 if it was no longer theirs; an error if the key is no hash.
if tonumber(ARGV[2]) > 0 then
	if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
		return 0
	end
	redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
	return 1
end
-- The hash has no other field: with its last one the key goes.
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
	return 0
end
redis.call('PUBLISH', KEYS[2], '0')
return 1
